#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct Imported {
    std::string file;
    CsvImport counts;
};

const std::vector<Column<Imported>>& columns() {
    static const std::vector<Column<Imported>> list = {
        {"file", "file", Show::text, [](const Imported& i) { return i.file; }},
        {"rows", "rows", Show::count, [](const Imported& i) { return i.counts.rows; }},
        {"added", "added", Show::count, [](const Imported& i) { return i.counts.added; }},
    };
    return list;
}

}  // namespace

Run declare_import(CLI::App& command) {
    struct Options {
        std::string source;
        std::vector<std::string> files;
        std::string database;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("SOURCE", options->source, "format of the files: csv (what export writes)")
        ->required()
        ->check(CLI::IsMember({"csv"}));
    command.add_option("FILE", options->files, "files to read")->required();
    command.add_option("--db", options->database, "database to add to; made if missing")->required();
    options->output.declare(command);
    return [options] {
        Dataset dataset(options->database);
        std::vector<Imported> all;
        for (const std::string& file : options->files) {
            std::ifstream input(file, std::ios::binary);
            if (!input) throw Error("cannot read '" + file + "'. Check the path and its permissions.");
            all.push_back({file, import_csv(dataset, input, file)});
        }
        const Table table = fill(columns(), all);
        const std::string& format = options->output.format;
        options->output.write(format == "csv" ? to_csv(table) : format == "json" ? to_json(table) : to_text(table));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
