#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "cli/logged_run.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"
#include "joulecast/dataset/import_aiconfigurator.h"
#include "joulecast/dataset/import_energaizer.h"
#include "joulecast/dataset/import_neusight.h"
#include "joulecast/dataset/import_nicolai.h"
#include "joulecast/dataset/import_smi_log.h"
#include "joulecast/dataset/import_sweep.h"
#include "joulecast/dataset/import_vidur.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast::cli {
namespace {

/// To add a source: one line here, its section in docs/data.md.
struct Source {
    const char* name;
    const char* what;
    /// nullptr for logs, which take options as well.
    Import (*read)(Dataset& dataset, std::istream& input, const std::string& name);
};

Import import_own(Dataset& dataset, std::istream& input, const std::string& name) {
    const CsvImport counts = import_csv(dataset, input, name);
    Import all;
    all.rows = all.used = counts.rows;
    all.added = counts.added;
    return all;
}

/// The zoo's network for images of that size: its plain name where it takes such images, else with "@size".
std::string zoo_network(const std::string& model, std::int64_t image_size) {
    std::string sized = model + "@" + std::to_string(image_size);
    const std::string zoo = shipped_folder("zoo");
    const auto names = zoo_names(zoo);
    if (std::binary_search(names.begin(), names.end(), sized)) return sized;
    if (!std::binary_search(names.begin(), names.end(), model)) return sized;
    try {
        return open_model(sized, zoo).name;
    } catch (const Error&) {
        return sized;  // the zoo has it at other sizes only; validate says so where it matters
    }
}

Import import_thesis(Dataset& dataset, std::istream& input, const std::string& name) {
    return import_nicolai(dataset, input, name, zoo_network);
}

constexpr Source sources[] = {
    {"csv", "what export writes", &import_own},
    {"nicolai", "layers and networks of C. Nicolai's thesis", &import_thesis},
    {"neusight", "tables of NeuSight", &import_neusight},
    {"vidur", "profiles of Vidur", &import_vidur},
    {"aiconfigurator", "tables of NVIDIA AIConfigurator", &import_aiconfigurator},
    {"energaizer", "tables of EnergAIzer", &import_energaizer},
    {"sweep", "any table of workloads over clocks", &import_sweep},
    {"smi-log", "what nvidia-smi logged beside a run", nullptr},
};

const Source& source_named(const std::string& name) {
    for (const Source& source : sources)
        if (name == source.name) return source;
    throw UsageError("'" + name + "' is not a source");
}

struct Imported {
    std::string file;
    Import counts;
};

std::string text_of(const std::map<std::string, std::int64_t>& reasons) {
    std::string text;
    for (const auto& [why, rows] : reasons) text += (text.empty() ? "" : "; ") + why + ": " + std::to_string(rows);
    return text;
}

std::int64_t total(const std::map<std::string, std::int64_t>& reasons) {
    std::int64_t rows = 0;
    for (const auto& [why, count] : reasons) rows += count;
    return rows;
}

const std::vector<Column<Imported>>& columns() {
    static const std::vector<Column<Imported>> list = {
        {"file", "file", Show::text, [](const Imported& i) { return i.file; }},
        {"rows", "rows", Show::count, [](const Imported& i) { return i.counts.rows; }},
        {"used", "used", Show::count, [](const Imported& i) { return i.counts.used; }},
        {"added", "added", Show::count, [](const Imported& i) { return i.counts.added; }},
        {"dropped", "dropped", Show::count, [](const Imported& i) { return total(i.counts.dropped); }},
        {"dropped_reasons", "", Show::text, [](const Imported& i) { return text_of(i.counts.dropped); }},
        {"dropped_columns", "", Show::text, [](const Imported& i) { return joined(i.counts.dropped_columns); }},
        {"unknown_columns", "", Show::text, [](const Imported& i) { return joined(i.counts.unknown_columns); }},
    };
    return list;
}

/// The table for people: numbers, then a line for each reason.
std::string to_text(const std::vector<Imported>& all) {
    std::vector<Column<Imported>> numbers(columns().begin(), columns().begin() + 5);
    std::string text = joulecast::to_text(fill(numbers, all));
    for (const Imported& one : all) {
        if (one.counts.dropped.empty()) continue;
        text += "\ndropped of " + one.file + ":\n";
        for (const auto& [why, rows] : one.counts.dropped) text += "  " + std::to_string(rows) + "  " + why + "\n";
    }
    return text;
}

void warn(const Imported& one) {
    for (const std::string& note : one.counts.notes) std::cerr << "joulecast: " << one.file << ": " << note << '\n';
    if (one.counts.unknown_columns.empty()) return;
    std::cerr << "joulecast: " << one.file
              << " has columns that are not known and not read: " << joined(one.counts.unknown_columns) << '\n';
}

}  // namespace

Run declare_import(CLI::App& command) {
    struct Options {
        std::string source;
        std::vector<std::string> files;
        std::string database;
        LoggedRunOptions logged;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    std::vector<std::string> names;
    std::string described;
    for (const Source& source : sources) {
        names.emplace_back(source.name);
        described += (described.empty() ? "" : ", ") + std::string(source.name) + " (" + source.what + ")";
    }
    command.add_option("SOURCE", options->source, "form of the files: " + described)
        ->required()
        ->check(CLI::IsMember(names));
    command.add_option("FILE", options->files, "files to read")->required();
    command.add_option("--db", options->database, "database to add to; made if missing")
        ->type_name("FILE.db")
        ->required();
    options->logged.declare(command);
    options->output.declare(command);
    return [options] {
        const Source& source = source_named(options->source);
        const bool is_log = source.read == nullptr;
        if (!is_log) options->logged.refuse_all(source.name);
        const LoggedRun run = is_log ? options->logged.run() : LoggedRun();
        Dataset dataset(options->database);
        std::vector<Imported> all;
        for (const std::string& file : options->files) {
            std::ifstream input(file, std::ios::binary);
            if (!input) throw Error("cannot read '" + file + "'. Check the path and its permissions.");
            all.push_back(
                {file, is_log ? import_smi_log(dataset, input, file, run) : source.read(dataset, input, file)});
            warn(all.back());
        }
        const std::string& format = options->output.format;
        options->output.write(format == "csv"    ? to_csv(fill(columns(), all))
                              : format == "json" ? to_json(fill(columns(), all))
                                                 : to_text(all));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
