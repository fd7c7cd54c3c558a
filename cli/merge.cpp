#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/json_tree.h"
#include "cli/verb.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct Merged {
    std::string file;
    std::int64_t added = 0;
};

const std::vector<Column<Merged>>& merged_columns() {
    static const std::vector<Column<Merged>> list = {
        {"file", "file", Show::text, [](const Merged& m) { return m.file; }},
        {"added", "rows added", Show::count, [](const Merged& m) { return m.added; }},
    };
    return list;
}

}  // namespace

Run declare_merge(CLI::App& command) {
    struct Options {
        std::vector<std::string> databases;
        std::string into;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("DB", options->databases, "databases to read")->required();
    command.add_option("--into", options->into, "database to add to; made if missing")
        ->type_name("FILE.db")
        ->required();
    options->output.declare(command);
    return [options] {
        // Every source is opened before anything is written: a wrong name leaves no half-done merge.
        std::vector<Dataset> sources;
        for (const std::string& file : options->databases) {
            std::error_code ignored;
            if (std::filesystem::equivalent(file, options->into, ignored))
                throw UsageError("'" + file + "' cannot be merged into itself");
            sources.emplace_back(file, Dataset::Access::read_only);
        }
        Dataset into(options->into);
        std::vector<Merged> merged;
        for (std::size_t i = 0; i < sources.size(); ++i)
            merged.push_back({options->databases[i], into.merge(sources[i])});
        const Table table = fill(merged_columns(), merged);
        const std::string& format = options->output.format;
        options->output.write(format == "csv"    ? to_csv(table)
                              : format == "json" ? printed(rows_json(table))
                                                 : to_text(table));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
