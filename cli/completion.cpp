#include "cli/completion.h"

#include <algorithm>

#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

std::vector<std::string> names_of(const CLI::Option& option) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option.get_snames()) names.push_back("-" + name);
    return names;
}

/// Options of a verb and of its parts ("fleet plan"), each name once.
std::vector<const CLI::Option*> options_in(const CLI::App& verb) {
    std::vector<const CLI::Option*> options = verb.get_options([](const CLI::Option* o) { return o->nonpositional(); });
    for (const CLI::App* part : verb.get_subcommands({})) {
        for (const CLI::Option* option : options_in(*part)) {
            const auto has_its_names = [&](const CLI::Option* o) { return names_of(*o) == names_of(*option); };
            if (std::ranges::none_of(options, has_its_names)) options.push_back(option);
        }
    }
    return options;
}

std::vector<std::string> options_of(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const CLI::Option* option : options_in(verb)) {
        for (std::string& name : names_of(*option)) names.push_back(std::move(name));
    }
    return names;
}

std::vector<std::string> parts_of(const CLI::App& verb) {
    std::vector<std::string> names;
    for (const CLI::App* part : verb.get_subcommands({})) names.push_back(part->get_name());
    return names;
}

/// {a,b,c} of CLI::IsMember.
std::vector<std::string> choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{'), close = type.find('}');
    std::vector<std::string> choices;
    if (open == std::string::npos || close == std::string::npos) return choices;
    for (std::size_t start = open + 1; start < close;) {
        const std::size_t comma = std::min(type.find(',', start), close);
        choices.push_back(type.substr(start, comma - start));
        start = comma + 1;
    }
    return choices;
}

/// Every "--option=word word" of all verbs, once.
std::vector<std::pair<std::string, std::string>> words_of_options(const CLI::App& app) {
    std::vector<std::pair<std::string, std::string>> words;
    for (const CLI::App* verb : app.get_subcommands({})) {
        for (const CLI::Option* option : options_in(*verb)) {
            const std::string choices = joined(choices_of(*option), " ");
            if (choices.empty()) continue;
            for (const std::string& name : names_of(*option)) {
                if (std::ranges::find(words, std::pair(name, choices)) == words.end())
                    words.emplace_back(name, choices);
            }
        }
    }
    return words;
}

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) result += c == '\'' ? "'\\''" : std::string(1, c);
    return result + "'";
}

/// Of bash; zsh runs the same through bashcompinit.
std::string bash_script(const CLI::App& app, const std::string& devices, const std::string& networks) {
    const std::string& program = app.get_name();
    std::string function = "_" + program;
    std::ranges::replace(function, '-', '_');
    std::string verbs, cases;
    for (const CLI::App* verb : app.get_subcommands({})) {
        verbs += (verbs.empty() ? "" : " ") + verb->get_name();
        cases += "        " + verb->get_name() + ") options=\"" + joined(options_of(*verb), " ") + "\"";
        if (const std::string parts = joined(parts_of(*verb), " "); !parts.empty())
            cases += "; [ \"$COMP_CWORD\" -eq 2 ] && words=\"" + parts + "\"";
        cases += " ;;\n";
    }
    std::string words;
    for (const auto& [option, choices] : words_of_options(app))
        words += "        " + option + ") words=\"" + choices + "\" ;;\n";
    return function + "() {\n    local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\"\n" +
           "    local options=\"\" words=\"\"\n    if [ \"$COMP_CWORD\" -eq 1 ]; then\n" +
           "        COMPREPLY=($(compgen -W \"" + verbs +
           " --help --version\" -- \"$word\"))\n        return\n    fi\n" + "    case \"${COMP_WORDS[1]}\" in\n" +
           cases + "        help) options=\"" + verbs +
           " --man\" ;;\n    esac\n    case \"$before\" in\n        --device) words=\"" + devices + "\" ;;\n" + words +
           "    esac\n    if [ -n \"$words\" ]; then\n        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n" +
           "    elif [[ \"$word\" == -* || \"${COMP_WORDS[1]}\" == help ]]; then\n" +
           "        COMPREPLY=($(compgen -W \"$options\" -- \"$word\"))\n    else\n" +
           "        COMPREPLY=($(compgen -f -W \"" + networks +
           "\" -- \"$word\"))\n    fi\n}\ncomplete -o filenames -F " + function + " " + program + "\n";
}

std::string fish_script(const CLI::App& app, const std::string& devices, const std::string& networks) {
    const std::string& program = app.get_name();
    std::string script = "complete -c " + program + " -n __fish_use_subcommand -f\n";
    for (const CLI::App* verb : app.get_subcommands({})) {
        const std::string summary = verb->get_description();
        script += "complete -c " + program + " -n __fish_use_subcommand -f -a " + verb->get_name() + " -d " +
                  quoted(summary.substr(0, summary.find('.'))) + "\n";
        const std::string under =
            "complete -c " + program + " -n '__fish_seen_subcommand_from " + verb->get_name() + "'";
        if (const std::string parts = joined(parts_of(*verb), " "); !parts.empty())
            script += under + " -f -a " + quoted(parts) + "\n";
        for (const CLI::Option* option : options_in(*verb)) {
            std::string line = under;
            for (const std::string& name : option->get_lnames()) line += " -l " + name;
            for (const std::string& name : option->get_snames()) line += " -s " + name;
            const std::vector<std::string> choices = choices_of(*option);
            const bool is_device = std::ranges::find(option->get_lnames(), "device") != option->get_lnames().end();
            if (is_device)
                line += " -x -a " + quoted(devices);
            else if (!choices.empty())
                line += " -x -a " + quoted(joined(choices, " "));
            else if (option->get_type_size() != 0)
                line += " -r";
            script += line + "\n";
        }
        if (!verb->get_options([](const CLI::Option* o) { return o->get_positional() && o->get_name() == "MODEL"; })
                 .empty())
            script += under + " -a " + quoted(networks) + "\n";
    }
    return script;
}

}  // namespace

const std::vector<std::string>& completed_shells() {
    static const std::vector<std::string> shells{"bash", "zsh", "fish"};
    return shells;
}

std::string completion_script(std::string_view shell, const CLI::App& app, const std::vector<std::string>& devices,
                              const std::vector<std::string>& networks) {
    const std::string named = joined(devices, " "), known = joined(networks, " ");
    if (shell == "fish") return fish_script(app, named, known);
    const std::string script = bash_script(app, named, known);
    return shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" + script : script;
}

}  // namespace joulecast::cli
