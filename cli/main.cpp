#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/guide.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct VerbInGroup {
    const char* group;  ///< its heading in --help
    Verb verb;
};

/// Every subcommand, in the order of --help.
const std::vector<VerbInGroup>& verbs() {
    static const std::vector<VerbInGroup> table = {
        {"Forecast", {"predict", declare_predict}},
        {"Forecast", {"recommend", declare_recommend}},
        {"Forecast", {"report", declare_report}},
        {"Forecast", {"trace", declare_trace}},
        {"Read networks", {"extract", declare_extract}},
        {"Read networks", {"diff", declare_diff}},
        {"Measure", {"profile", declare_profile}},
        {"Measure", {"measure", declare_measure, true}},
        {"Measure", {"study", declare_study}},
        {"Learn", {"train", declare_train}},
        {"Learn", {"validate", declare_validate}},
        {"Databases and files", {"import", declare_import}},
        {"Databases and files", {"export", declare_export}},
        {"Databases and files", {"merge", declare_merge}},
        {"Databases and files", {"info", declare_info}},
        {"This machine", {"devices", declare_devices}},
        {"This machine", {"doctor", declare_doctor}},
        {"This machine", {"clocks", declare_clocks}},
        {"This machine", {"worker-check", declare_worker_check}},
        {"Help", {"help", declare_help}},
    };
    return table;
}

constexpr const char* overview =
    "Forecasts what a neural network costs (seconds, watts, joules, bytes) on a GPU or CPU before anyone runs it.\n"
    "\n"
    "Usage: joulecast VERB ...\n"
    "\n"
    "Examples:\n"
    "  joulecast predict resnet50 --device cpu --set batch=8\n"
    "  joulecast predict gpt2 --device h100 --mode training\n"
    "  joulecast recommend resnet50 --device a100 h100 --minimise energy\n"
    "\n"
    "From a model file to a forecast:\n"
    "  model file --> graph --> profile --> dataset --> train --> predictor --> predict\n"
    "  .pt2 .onnx     extract   measure      .db                  .jcp          network forecast\n"
    "  .graph.json    diff      each operation once\n";

int report(const std::string& message, int status) {
    std::cerr << "joulecast: " << message << '\n';
    return status;
}

std::vector<std::string>& words_behind_dashes() {
    static std::vector<std::string> words;
    return words;
}

/// Keeps the other program's words for other_command(); how many are left for us.
int set_other_command_aside(int argc, char** argv) {
    const bool takes_command = argc > 1 && std::ranges::any_of(verbs(), [&](const VerbInGroup& listed) {
                                   return listed.verb.takes_command && std::string_view(argv[1]) == listed.verb.name;
                               });
    if (!takes_command) return argc;
    char** const end = argv + argc;
    char** const dashes = std::find(argv, end, std::string_view("--"));
    if (dashes != end) words_behind_dashes().assign(dashes + 1, end);
    return static_cast<int>(dashes - argv);
}

/// The verb that the command line begins with, or all where it begins with none. Declaring them is most of what a small
/// command does.
std::span<const VerbInGroup> verbs_to_declare(int argc, char** argv) {
    const auto named = std::ranges::find_if(
        verbs(), [&](const VerbInGroup& listed) { return argc > 1 && std::string_view(argv[1]) == listed.verb.name; });
    if (named == verbs().end()) return verbs();
    return std::span(&*named, 1);
}

int parse_and_run(int argc, char** argv) {
    argc = set_other_command_aside(argc, argv);
    CLI::App app(overview, "joulecast");
    app.formatter(std::make_shared<ProgramHelp>());
    app.footer(
        "joulecast VERB --help lists the options of a verb; joulecast help VERB prints its guide.\n"
        "joulecast help exporting: how to get a model file. joulecast --version: the version.");
    app.set_version_flag("--version", "joulecast " JOULECAST_VERSION);
    app.require_subcommand(0, 1);
    std::vector<std::pair<CLI::App*, Run>> commands;
    for (const auto& [group, verb] : verbs_to_declare(argc, argv)) {
        Guide guide = split_guide(guide_text(verb.name));
        CLI::App* command = app.add_subcommand(verb.name, guide.summary);
        command->group(group)->formatter(std::make_shared<VerbHelp>(std::move(guide)));
        commands.emplace_back(command, verb.declare(*command));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
        std::string hint = "joulecast --help";
        for (const auto& [command, run] : commands) {
            if (command->parsed()) hint = "joulecast " + command->get_name() + " --help";
        }
        return report(std::string(error.what()) + "\nSee: " + hint, wrong_usage);
    }
    for (const auto& [command, run] : commands) {
        if (command->parsed()) return run();
    }
    Output().write(app.help());
    return done;
}

}  // namespace

const std::vector<std::string>& other_command() {
    return words_behind_dashes();
}

}  // namespace joulecast::cli

int main(int argc, char** argv) {
    namespace cli = joulecast::cli;
    // A worker that dies while we write to it is a result, not the end of the sweep.
    std::signal(SIGPIPE, SIG_IGN);
    try {
        return cli::parse_and_run(argc, argv);
    } catch (const joulecast::UsageError& error) {
        return cli::report(error.what(), cli::wrong_usage);
    } catch (const std::bad_alloc&) {
        return cli::report("out of memory. Ask for less at once: fewer models or a smaller batch", cli::failed);
    } catch (const std::exception& error) {
        return cli::report(error.what(), cli::failed);
    }
}
