#include "cli/import_files.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

#include "cli/json_tree.h"
#include "cli/settings.h"
#include "joulecast/error.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

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

const std::vector<Column<Imported>>& imported_columns() {
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
std::string to_text(const std::vector<Imported>& files) {
    std::vector<Column<Imported>> numbers(imported_columns().begin(), imported_columns().begin() + 5);
    std::string text = joulecast::to_text(fill(numbers, files));
    for (const Imported& file : files) {
        if (file.counts.dropped.empty()) continue;
        text += "\ndropped of " + file.file + ":\n";
        for (const auto& [why, rows] : file.counts.dropped) text += "  " + std::to_string(rows) + "  " + why + "\n";
    }
    return text;
}

std::int64_t suspect_rows(const Dataset& dataset) {
    std::int64_t rows = 0;
    for (const RowGroup& group : dataset.row_groups()) rows += group.outcome == name(Outcome::suspect) ? group.rows : 0;
    return rows;
}

void warn_of_suspect(std::int64_t rows) {
    if (rows == 0) return;
    std::cerr << "joulecast: " << rows
              << " added rows have numbers that cannot be right. They are stored as suspect and nothing learns from "
                 "them; export shows why (column message)\n";
}

void warn(const Imported& file) {
    for (const std::string& note : file.counts.notes) std::cerr << "joulecast: " << file.file << ": " << note << '\n';
    if (file.counts.unknown_columns.empty()) return;
    std::cerr << "joulecast: " << file.file
              << " has columns that are not known and not read: " << joined(file.counts.unknown_columns) << '\n';
}

}  // namespace

void declare(CLI::App& command, ImportOptions& options, std::span<const Source> sources) {
    std::vector<std::string> names;
    std::string described;
    for (const Source& source : sources) {
        names.emplace_back(source.name);
        described += (described.empty() ? "" : ", ") + std::string(source.name) + " (" + source.what + ")";
    }
    command.add_option("SOURCE", options.source, "form of the files: " + described)
        ->required()
        ->check(CLI::IsMember(names));
    command.add_option("FILE", options.files, "files to read")->required();
    command.add_option("--db", options.database, "database to add to; made if missing")
        ->type_name("FILE.db")
        ->required();
}

const Source& source_named(std::span<const Source> sources, const std::string& name) {
    for (const Source& source : sources)
        if (name == source.name) return source;
    throw UsageError("'" + name + "' is not a source");
}

int import_files(const ImportOptions& options, const Reader& read) {
    Dataset dataset(options.database);
    const std::int64_t suspect_before = suspect_rows(dataset);
    std::vector<Imported> imported;
    for (const std::string& file : options.files) {
        if (std::filesystem::is_directory(file)) throw Error("'" + file + "' is a folder; name its files.");
        std::ifstream input(file, std::ios::binary);
        if (!input) throw Error("cannot read '" + file + "'. Check the path and its permissions.");
        imported.push_back({file, read(dataset, input, file)});
        warn(imported.back());
    }
    warn_of_suspect(suspect_rows(dataset) - suspect_before);
    const std::string& format = options.output.format;
    options.output.write(format == "csv"    ? to_csv(fill(imported_columns(), imported))
                         : format == "json" ? printed(rows_json(fill(imported_columns(), imported)))
                                            : to_text(imported));
    return done;
}

}  // namespace joulecast::cli
