#include <iostream>
#include <memory>
#include <sstream>
#include <string>

#include "cli/lookup_table.h"
#include "cli/verb.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct ExportOptions {
    std::string database;
    bool blocks = false;
    bool lookup_table = false;
    LookupTable wanted;
    std::string format = "csv";
    Output output;
};

int write_database(const ExportOptions& options) {
    if (options.database.empty()) throw UsageError("export needs --db, or --lut");
    const Dataset dataset(options.database, Dataset::Access::read_only);
    std::ostringstream text;
    if (const std::string suspect = export_csv(dataset, text, options.blocks); !suspect.empty())
        std::cerr << "joulecast: " << suspect << "\n";
    Output output = options.output;
    output.format = "csv";
    output.write(text.str());
    return done;
}

int write_lookup_table(const ExportOptions& options) {
    if (options.wanted.models.empty()) throw UsageError("export --lut needs a MODEL");
    if (options.wanted.devices.empty()) throw UsageError("export --lut needs --device");
    LookupTable wanted = options.wanted;
    wanted.database = options.database;
    Output output = options.output;
    output.format = options.format;
    output.write(lookup_table_text(wanted, options.format));
    return done;
}

void declare_lookup_table(CLI::App& command, ExportOptions& options) {
    LookupTable& wanted = options.wanted;
    auto* lut = command.add_flag("--lut", options.lookup_table,
                                 "write what every operation of the MODELs costs on the devices");
    command.add_option("MODEL", wanted.models, "with --lut: .pt2, .onnx or .graph.json file, or a zoo name")
        ->needs(lut);
    command.add_option("--device", wanted.devices, "ids of devices; cpu is this machine")
        ->type_name("ID...")
        ->needs(lut);
    command.add_option("--predictor", wanted.predictor, "predictor (default: the shipped one that covers the device)")
        ->type_name("FILE.jcp")
        ->needs(lut);
    wanted.settings.hosts = {"cpp"};
    wanted.settings.declare(command);
    wanted.settings.declare_hosts(command);
    for (const char* of_settings : {"--set", "--mode", "--precision", "--memory-format", "--host"})
        command.get_option(of_settings)->needs(lut)->group("Look-up table");
    command.option_defaults()->group("Look-up table");
    command.add_option("--format", options.format, "form of the table")
        ->check(CLI::IsMember({"csv", "json"}))
        ->needs(lut)
        ->capture_default_str();
}

}  // namespace

Run declare_export(CLI::App& command) {
    const auto options = std::make_shared<ExportOptions>();
    command.option_defaults()->group("Database");
    command.add_option("--db", options->database, "database to write; with --lut: its operations count as measured")
        ->type_name("FILE.db");
    command.add_option("-o,--output", options->output.file, "write to this file (default: standard output)")
        ->type_name("FILE");
    auto* blocks = command.add_flag("--blocks", options->blocks, "add raw block times (column block_s)");
    command.option_defaults()->group("Look-up table");
    declare_lookup_table(command, *options);
    blocks->excludes(command.get_option("--lut"));
    return [options] { return options->lookup_table ? write_lookup_table(*options) : write_database(*options); };
}

}  // namespace joulecast::cli
