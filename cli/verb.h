#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "joulecast/device/device.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

/// Exit statuses of the contract.
enum Exit : int { done = 0, failed = 1, wrong_usage = 2, parts_unknown = 3, interrupted = 130 };

/// Runs after the command line was parsed; returns the exit status. Errors are thrown as joulecast::Error.
using Run = std::function<int()>;

/// A subcommand: `declare` adds its options and returns what to run. The table of verbs is in the program's main.cpp;
/// the help text of a verb is its guide in docs/guide, compiled in.
struct Verb {
    const char* name;
    Run (*declare)(CLI::App& command);
    bool takes_command = false;  ///< what stands behind "--" is another program's command line: see other_command()
};

/// The words behind the first "--", untouched: CLI11 would take those that look like lists apart.
const std::vector<std::string>& other_command();

/// `--format table|json|csv` and `-o FILE`, the same for every verb that prints.
struct Output {
    std::string format = "table";
    std::string file;

    bool verbose = false;  ///< -v, of verbs that declare it: all rows and all notes

    /// Adds both options. A file that ends in .json or .csv decides the format; UsageError is thrown during the parse
    /// where --format says another one, and for .html and .pdf. The Output must outlive the parse (keep it in a
    /// shared_ptr captured by the Run).
    void declare(CLI::App& command);
    /// -v, --verbose.
    void declare_verbose(CLI::App& command);
    /// Writes the text to the file or standard output; throws Error when it cannot (disk full included).
    void write(const std::string& text) const;
};

/// A line for the user on standard error; nothing where the note is empty.
void tell(const std::string& note);

Run declare_extract(CLI::App& command);
Run declare_diff(CLI::App& command);
Run declare_profile(CLI::App& command);
Run declare_fleet(CLI::App& command);
Run declare_measure(CLI::App& command);
Run declare_pack_worker(CLI::App& command);
Run declare_import(CLI::App& command);
Run declare_export(CLI::App& command);
Run declare_export_hf(CLI::App& command);
Run declare_merge(CLI::App& command);
Run declare_info(CLI::App& command);
Run declare_train(CLI::App& command);
Run declare_validate(CLI::App& command);
Run declare_predict(CLI::App& command);
Run declare_compare(CLI::App& command);
Run declare_trace(CLI::App& command);
Run declare_recommend(CLI::App& command);
Run declare_report(CLI::App& command);
Run declare_networks(CLI::App& command);
Run declare_devices(CLI::App& command);
Run declare_clocks(CLI::App& command);
Run declare_doctor(CLI::App& command);
Run declare_worker_check(CLI::App& command);

}  // namespace joulecast::cli
