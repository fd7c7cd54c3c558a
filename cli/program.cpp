#include "cli/program.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "cli/completion.h"
#include "cli/guide.h"
#include "cli/printable_errors.h"
#include "cli/prose.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/units/joined.h"
#include "joulecast/units/near_words.h"
#include "joulecast/units/termination.h"

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

std::string names_of(const std::vector<Topic>& topics) {
    std::vector<std::string> names;
    for (const Topic& topic : topics) names.emplace_back(topic.name);
    return joined(names);
}

/// All verbs with their options, whatever the command line begins with.
void declare_all(const Program& program, CLI::App& app);

/// Verbs in their groups with what they do, then the other topics.
std::string topics(const Program& program) {
    std::string page = "Guides: " + std::string(program.name) + " help TOPIC\n";
    std::string group;
    for (const VerbInGroup& listed : program.verbs) {
        if (listed.group != group) page += '\n' + std::string(listed.group) + ":\n";
        group = listed.group;
        page += two_columns(listed.verb.name, split_guide(program.guide(listed.verb.name)).summary);
    }
    if (!program.other_topics.empty()) page += "\nOther topics:\n";
    for (const Topic& other : program.other_topics) page += two_columns(other.name, other.what);
    return page;
}

/// Every guide, as a page for man(1).
std::string man_page(const Program& program) {
    std::string page = ".TH " + std::string(program.name) + " 1 \"\" \"" JOULECAST_VERSION "\"\n.SH NAME\n" +
                       program.name + " \\- forecasts what neural networks cost\n";
    const auto add = [&](const std::string& topic) { page += as_man_page(program.guide(topic)); };
    for (const VerbInGroup& listed : program.verbs) add(listed.verb.name);
    for (const Topic& other : program.other_topics) add(other.name);
    return page;
}

/// The options of a verb, then its guide.
std::string page_of(const Program& program, const std::string& topic, std::string_view guide) {
    CLI::App app("", program.name);
    declare_all(program, app);
    const auto verbs = app.get_subcommands([&](const CLI::App* verb) { return verb->get_name() == topic; });
    const std::string options = verbs.empty() ? "" : verbs.front()->help() + '\n';
    return options + wrapped_guide(guide, page_width());
}

Run declare_help(CLI::App& command, const Program& program) {
    const auto topic = std::make_shared<std::string>();
    const auto is_man = std::make_shared<bool>(false);
    const std::string others = names_of(program.other_topics);
    command.add_option("TOPIC", *topic, "a verb" + (others.empty() ? "" : ", or " + others));
    command.add_flag("--man", *is_man, "every guide as one man page: joulecast help --man > joulecast.1");
    return [topic, is_man, &program, others] {
        if (*is_man && !topic->empty()) throw UsageError("help --man is one page of all guides: leave out " + *topic);
        if (*is_man || topic->empty()) {
            Output().write(*is_man ? man_page(program) : topics(program));
            return static_cast<int>(done);
        }
        const std::string_view guide = program.guide(*topic);
        if (guide.empty())
            throw UsageError("there is no guide on " + *topic + ". See " + program.name + " --help for the verbs" +
                             (others.empty() ? "" : "; other topics: " + others));
        Output().write(page_of(program, *topic, guide));
        return static_cast<int>(done);
    };
}

Run declare_completion(CLI::App& command, const Program& program) {
    const auto shell = std::make_shared<std::string>();
    command.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember(completed_shells()));
    return [shell, &program] {
        CLI::App app("", program.name);
        declare_all(program, app);
        std::vector<std::string> devices{"cpu"};
        for (const DataSheet& sheet : known_devices().sheets()) devices.push_back(sheet.device.id);
        Output().write(completion_script(*shell, app, devices, zoo_names(shipped_folder("zoo"))));
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
    const bool is_one =
        first == "help" || first == "completion" ||
        std::ranges::any_of(program.verbs, [&](const VerbInGroup& listed) { return first == listed.verb.name; });
    for (const auto& [group, verb] : program.verbs) {
        if (is_one && first != verb.name) continue;
        CLI::App* const command = add(group, verb.name);
        commands.emplace_back(command, verb.declare(*command));
    }
    const auto add_own = [&](const char* name, Run (*declare)(CLI::App&, const Program&)) {
        if (is_one && first != name) return;
        CLI::App* const command = add("Help", name);
        commands.emplace_back(command, declare(*command, program));
    };
    add_own("help", declare_help);
    add_own("completion", declare_completion);
    return commands;
}

void declare_all(const Program& program, CLI::App& app) {
    declare_verbs(program, "", app);
}

/// Throws UsageError where the command line begins with a word that is no verb.
void check_verb(const Program& program, std::string_view first) {
    if (first.empty() || first.starts_with('-')) return;
    std::vector<std::string> verbs{"help", "completion"};
    for (const VerbInGroup& listed : program.verbs) verbs.emplace_back(listed.verb.name);
    if (std::ranges::find(verbs, first) != verbs.end()) return;
    const std::string word(first.substr(0, 60));
    std::string text = "there is no verb '" + word + "'";
    const std::vector<std::string> near = near_words(word, verbs, 3);
    if (!near.empty())
        text += ". Did you mean " + joined(near, " or ") + "?";
    else if (names_network(word, shipped_folder("zoo")))
        text += "; it is a network: joulecast predict " + word + " --device ID";
    throw UsageError(text + "\nSee: " + program.name + " --help");
}

int parse_and_run(const Program& program, int argc, char** argv) {
    if (program.divert != nullptr) program.divert(std::span(argv, static_cast<std::size_t>(argc)));
    argc = set_other_command_aside(program, argc, argv);
    CLI::App app(program.overview, program.name);
    app.formatter(std::make_shared<ProgramHelp>());
    app.footer(program.footer);
    app.set_version_flag("-V,--version", std::string(program.name) + " " JOULECAST_VERSION);
    app.require_subcommand(0, 1);
    check_verb(program, argc > 1 ? argv[1] : "");
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
    end_in_order_without_memory(program.name);
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
