#include <array>
#include <memory>
#include <string>

#include "cli/import_files.h"
#include "cli/logged_run.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/import_smi_log.h"
#include "joulecast/dataset/import_sweep.h"

namespace joulecast::cli {
namespace {

Import import_own(Dataset& dataset, std::istream& input, const std::string& name) {
    const CsvImport counts = import_csv(dataset, input, name);
    Import counted;
    counted.rows = counted.used = counts.rows;
    counted.added = counts.added;
    return counted;
}

/// Forms of a user's own files; published tables are joulecast-lab's.
const std::array<Source, 3>& sources() {
    static const std::array<Source, 3> table{{
        {"csv", "what export writes", import_own},
        {"sweep", "any table of workloads over clocks", import_sweep},
        {"smi-log", "what nvidia-smi logged beside a run", nullptr},  // takes options as well
    }};
    return table;
}

}  // namespace

Run declare_import(CLI::App& command) {
    struct Options {
        ImportOptions files;
        LoggedRunOptions logged;
    };
    const auto options = std::make_shared<Options>();
    declare(command, options->files, sources());
    options->logged.declare(command);
    options->files.output.declare(command);
    return [options] {
        const Source& source = source_named(sources(), options->files.source);
        if (source.read) {
            options->logged.refuse_all(source.name);
            return import_files(options->files, source.read);
        }
        return import_files(options->files, [run = options->logged.run()](Dataset& dataset, std::istream& input,
                                                                          const std::string& name) {
            return import_smi_log(dataset, input, name, run);
        });
    };
}

}  // namespace joulecast::cli
