#include <memory>
#include <sstream>
#include <string>

#include "cli/verb.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/dataset.h"

namespace joulecast::cli {

Run declare_export(CLI::App& command) {
    struct Options {
        std::string database;
        bool blocks = false;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("--db", options->database, "database to read")->required();
    command.add_option("-o,--output", options->output.file, "write to this file instead of standard output");
    command.add_flag("--blocks", options->blocks, "with raw block times (column block_s)");
    return [options] {
        const Dataset dataset(options->database, Dataset::Access::read_only);
        std::ostringstream text;
        export_csv(dataset, text, options->blocks);
        options->output.write(text.str());
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
