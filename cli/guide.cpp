#include "cli/guide.h"

#include <algorithm>
#include <sstream>

#include "cli/prose.h"
#include "cli/terminal.h"

namespace joulecast::cli {
namespace {

constexpr std::size_t text_column = 32;
constexpr std::size_t narrowest_page = 60;
constexpr std::size_t widest_page = 100;
constexpr std::size_t examples_shown = 3;
/// More choices than fit here stand behind the description.
constexpr std::size_t longest_choice = 30;

std::string_view without_blank_edges(std::string_view text) {
    while (!text.empty() && (text.front() == '\n' || text.front() == '\r')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    return text;
}

/// The indented lines below "Examples:" or "Example:".
std::vector<std::string> examples_of(std::string_view markdown) {
    std::vector<std::string> examples;
    std::istringstream lines{std::string(markdown)};
    bool below_heading = false;
    for (std::string line; std::getline(lines, line);) {
        if (line == "Examples:" || line == "Example:") {
            below_heading = true;
        } else if (below_heading && line.starts_with("    ")) {
            examples.push_back(line.substr(4));
        } else if (!line.empty()) {
            below_heading = false;
        }
    }
    return examples;
}

std::string choices_of(const std::string& type) {
    const std::size_t open = type.find('{');
    const std::size_t close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return "";
    std::string choices = type.substr(open + 1, close - open - 1);
    std::ranges::replace(choices, ',', '|');
    return choices;
}

/// What stands behind an option's name: FILE, 'inference|training', N.
std::string value_of(const CLI::Option& option) {
    if (option.get_type_size() == 0) return "";
    const std::string type = option.get_type_name();
    const std::string choices = choices_of(type);
    if (!choices.empty()) return choices.size() <= longest_choice ? choices : "NAME";
    const std::string word = type.substr(0, type.find_first_of(": "));
    return word == "INT" || word == "UINT" || word == "FLOAT" ? "N" : word;
}

/// A list of one value is printed as "[value]" by CLI11.
std::string default_of(const CLI::Option& option) {
    std::string text = option.get_default_str();
    if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
    return text == "\"\"" ? "" : text;
}

std::string described(const CLI::Option& option) {
    std::string text = option.get_description();
    const std::string choices = choices_of(option.get_type_name());
    if (option.nonpositional() && choices.size() > longest_choice)
        text += ": " + CLI::detail::find_and_replace(choices, "|", ", ");
    if (const std::string value = default_of(option); !value.empty()) text += " [" + value + "]";
    if (option.get_required() && option.nonpositional()) text += " (required)";
    return text;
}

std::string option_line(const CLI::Option& option) {
    if (option.get_positional()) return two_columns(option.get_name(true, false), described(option));
    const std::string value = value_of(option);
    const std::string name = CLI::detail::find_and_replace(option.get_name(false, true), ",", ", ");
    return two_columns(name + (value.empty() ? "" : " " + value), described(option));
}

/// "joulecast predict MODEL... | --stdin" is two lines.
std::string usage(const std::string& title, const std::string& name) {
    std::string page;
    std::size_t start = 0;
    while (start < title.size()) {
        const std::size_t end = std::min(title.find(" | ", start), title.size());
        const std::string form = title.substr(start, end - start);
        page += (page.empty() ? "Usage: " : "       " + name + " ") + form + '\n';
        start = end + 3;
    }
    return page;
}

}  // namespace

std::size_t page_width() {
    return std::clamp(terminal({}).width, narrowest_page, widest_page);
}

std::string two_columns(const std::string& left, const std::string& text) {
    std::string page = "  " + left;
    if (page.size() + 2 > text_column)
        page += '\n' + std::string(text_column, ' ');
    else
        page.append(text_column - page.size(), ' ');
    return page + wrapped(text, page_width(), std::string(text_column, ' '), text_column) + '\n';
}

Guide split_guide(std::string_view markdown) {
    std::string_view text = without_blank_edges(markdown);
    Guide guide;
    if (text.starts_with("# ")) {
        const auto end_of_title = std::min(text.find('\n'), text.size());
        guide.title = text.substr(2, end_of_title - 2);
        text = without_blank_edges(text.substr(end_of_title));
    }
    guide.summary = text.substr(0, std::min(text.find("\n\n"), text.size()));
    // The summary also stands in the list of verbs, where it is one line.
    std::ranges::replace(guide.summary, '\n', ' ');
    guide.examples = examples_of(text);
    return guide;
}

std::string VerbHelp::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
    // A part of a verb has the verb's guide: "joulecast fleet plan".
    const CLI::App* const above = app->get_parent();
    const bool is_part = above != nullptr && above->get_parent() != nullptr;
    const std::string verb = is_part ? above->get_name() : app->get_name();
    const std::string words = is_part ? verb + " " + app->get_name() : verb;
    const std::string program = name.substr(0, name.size() - std::min(name.size(), words.size()));  // "joulecast "
    std::string page = wrapped(guide_.summary, page_width()) + "\n\n" + usage(guide_.title, program + verb);
    if (!guide_.examples.empty()) page += "\nExamples:\n";
    for (std::size_t i = 0; i < std::min(examples_shown, guide_.examples.size()); ++i)
        page += "  " + guide_.examples[i] + '\n';
    const auto positionals = app->get_options([](const CLI::Option* option) { return option->get_positional(); });
    if (!positionals.empty()) page += '\n';
    for (const CLI::Option* option : positionals) page += option_line(*option);
    for (const std::string& group : app->get_groups()) {
        const auto options = app->get_options([&](const CLI::Option* option) {
            return option->get_group() == group && option->nonpositional() && option != app->get_help_ptr();
        });
        if (!options.empty()) page += '\n' + group + ":\n";
        for (const CLI::Option* option : options) page += option_line(*option);
    }
    const auto parts = app->get_subcommands({});
    if (!parts.empty()) page += '\n';
    for (const CLI::App* part : parts) page += two_columns(part->get_name(), part->get_description());
    return page + "\n[value]: the default. More: " + program + "help " + verb + '\n';
}

std::string ProgramHelp::make_help(const CLI::App* app, std::string, CLI::AppFormatMode) const {
    std::string page = app->get_description();
    std::string group;
    for (const CLI::App* verb : app->get_subcommands({})) {
        if (verb->get_group() != group) page += '\n' + verb->get_group() + ":\n";
        group = verb->get_group();
        page += two_columns(verb->get_name(), verb->get_description());
    }
    return page + '\n' + app->get_footer() + '\n';
}

}  // namespace joulecast::cli
