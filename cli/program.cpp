#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <utility>

#include "cli/guide.h"
#include "cli/printable_errors.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

int report(const Program& program, const std::string& message, int status) {
    std::cerr << program.name << ": " << message << '\n';
    return status;
}

std::vector<std::string>& words_behind_dashes() {
    static std::vector<std::string> words;
    return words;
}

/// Keeps the other program's words for other_command(); how many are left for us.
int set_other_command_aside(const Program& program, int argc, char** argv) {
    const bool takes_command = argc > 1 && std::ranges::any_of(program.verbs, [&](const VerbInGroup& listed) {
                                   return listed.verb.takes_command && std::string_view(argv[1]) == listed.verb.name;
                               });
    if (!takes_command) return argc;
    char** const end = argv + argc;
    char** const dashes = std::find(argv, end, std::string_view("--"));
    if (dashes != end) words_behind_dashes().assign(dashes + 1, end);
    return static_cast<int>(dashes - argv);
}

Run declare_help(CLI::App& command, const Program& program) {
    const auto topic = std::make_shared<std::string>();
    const std::string others = program.other_topics;
    command.add_option("TOPIC", *topic, "a verb" + (others.empty() ? "" : ", or " + others))->required();
    return [topic, &program, others] {
        const std::string_view guide = program.guide(*topic);
        if (guide.empty())
            throw UsageError("there is no guide on " + *topic + ". See " + program.name + " --help for the verbs" +
                             (others.empty() ? "" : "; other topics: " + others.substr(0, others.find(':'))));
        Output().write(std::string(guide));
        return static_cast<int>(done);
    };
}

/// The verb that the command line begins with, or all where it begins with none. Declaring them is most of what a small
/// command does.
std::vector<std::pair<CLI::App*, Run>> declare_verbs(const Program& program, std::string_view first, CLI::App& app) {
    std::vector<std::pair<CLI::App*, Run>> commands;
    const auto add = [&](const char* group, const char* name) {
        Guide guide = split_guide(program.guide(name));
        CLI::App* command = app.add_subcommand(name, guide.summary);
        command->group(group)->formatter(std::make_shared<VerbHelp>(std::move(guide)));
        return command;
    };
    const bool is_one = first == "help" || std::ranges::any_of(program.verbs, [&](const VerbInGroup& listed) {
                            return first == listed.verb.name;
                        });
    for (const auto& [group, verb] : program.verbs) {
        if (is_one && first != verb.name) continue;
        CLI::App* const command = add(group, verb.name);
        commands.emplace_back(command, verb.declare(*command));
    }
    if (!is_one || first == "help") {
        CLI::App* const command = add("Help", "help");
        commands.emplace_back(command, declare_help(*command, program));
    }
    return commands;
}

int parse_and_run(const Program& program, int argc, char** argv) {
    if (program.divert != nullptr) program.divert(std::span(argv, static_cast<std::size_t>(argc)));
    argc = set_other_command_aside(program, argc, argv);
    CLI::App app(program.overview, program.name);
    app.formatter(std::make_shared<ProgramHelp>());
    app.footer(program.footer);
    app.set_version_flag("--version", std::string(program.name) + " " JOULECAST_VERSION);
    app.require_subcommand(0, 1);
    const auto commands = declare_verbs(program, argc > 1 ? argv[1] : "", app);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app.exit(error);
        std::string hint = program.name;
        for (const auto& [command, run] : commands) {
            if (command->parsed()) hint += " " + command->get_name();
        }
        return report(program, std::string(error.what()) + "\nSee: " + hint + " --help", wrong_usage);
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

int run_program(const Program& program, int argc, char** argv) {
    // A worker that dies while we write to it is a result, not the end of the sweep.
    std::signal(SIGPIPE, SIG_IGN);
    const PrintableErrors printable;
    try {
        return parse_and_run(program, argc, argv);
    } catch (const UsageError& error) {
        return report(program, error.what(), wrong_usage);
    } catch (const std::bad_alloc&) {
        return report(program, "out of memory. Ask for less at once: fewer models or a smaller batch", failed);
    } catch (const std::exception& error) {
        return report(program, error.what(), failed);
    }
}

}  // namespace joulecast::cli
