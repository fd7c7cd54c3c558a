#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/import.h"

namespace joulecast::cli {

/// Reads one file into the database; the name is for messages.
using Reader = std::function<Import(Dataset& dataset, std::istream& input, const std::string& name)>;

/// A form of files that `import` reads. To add one: a line in the table of the program that has it (cli/import.cpp,
/// lab/verbs/import.cpp), its section in docs/data.md.
struct Source {
    const char* name;
    const char* what;
    Reader read;
};

struct ImportOptions {
    std::string source;
    std::vector<std::string> files;
    std::string database;
    Output output;
};

/// Adds SOURCE, FILE and --db; the options of the output are left to the verb, which has them last.
void declare(CLI::App& command, ImportOptions& options, std::span<const Source> sources);

/// The one of that name. Throws UsageError.
const Source& source_named(std::span<const Source> sources, const std::string& name);

/// Imports every file and prints what became of its rows. Throws Error for a file that cannot be read.
int import_files(const ImportOptions& options, const Reader& read);

}  // namespace joulecast::cli
