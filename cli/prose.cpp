#include "cli/prose.h"

#include <sstream>
#include <vector>

#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

enum class Kind { blank, heading, item, table, command, prose };

/// A paragraph in one line, or a line that stays as it is.
struct Part {
    Kind kind = Kind::blank;
    std::string text;
};

Kind kind_of(std::string_view line) {
    if (line.find_first_not_of(' ') == std::string_view::npos) return Kind::blank;
    if (line.starts_with("    ")) return Kind::command;
    if (line.starts_with('#')) return Kind::heading;
    if (line.starts_with('|')) return Kind::table;
    if (line.starts_with("- ")) return Kind::item;
    return Kind::prose;
}

std::vector<Part> parts_of(std::string_view markdown) {
    std::vector<Part> parts;
    std::istringstream lines{std::string(markdown)};
    for (std::string line; std::getline(lines, line);) {
        const Kind kind = kind_of(line);
        // The lines below an item are indented by two: they belong to it, as prose goes on in the next line.
        const Kind before = parts.empty() ? Kind::blank : parts.back().kind;
        const bool goes_on = kind == Kind::prose && (before == Kind::prose || before == Kind::item);
        if (goes_on)
            parts.back().text += ' ' + line.substr(line.find_first_not_of(' '));
        else
            parts.push_back({kind, line});
    }
    return parts;
}

/// What troff reads as a request or an escape, made harmless.
std::string troff(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        if (c == '\\')
            escaped += "\\e";
        else if (c == '-')
            escaped += "\\-";
        else
            escaped += c;
    }
    if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped = "\\&" + escaped;
    return escaped;
}

/// "## Network" -> "Network".
std::string heading_text(std::string_view line) {
    return std::string(line.substr(line.find_first_not_of("# ")));
}

/// Without the marks of code: `--set` is printed bold.
std::string without_marks(std::string_view text) {
    std::string result;
    bool is_code = false;
    for (const char c : troff(text)) {
        if (c != '`') {
            result += c;
            continue;
        }
        is_code = !is_code;
        result += is_code ? "\\fB" : "\\fR";
    }
    return is_code ? result + "\\fR" : result;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::string_view indent, std::size_t start) {
    std::string page;
    std::size_t column = start;
    std::istringstream words{std::string(text)};
    for (std::string word, next; words >> word;) {
        // "90 %" is one word.
        while (words >> std::ws && words.peek() == '%' && words >> next) word += ' ' + next;
        const std::size_t length = display_width(word);
        if (!page.empty() && column + 1 + length > width) {
            page += '\n' + std::string(indent);
            column = indent.size();
        } else if (!page.empty()) {
            page += ' ';
            ++column;
        }
        page += word;
        column += length;
    }
    return page;
}

std::string wrapped_guide(std::string_view markdown, std::size_t width) {
    std::string page;
    for (const Part& part : parts_of(markdown)) {
        if (part.kind == Kind::prose)
            page += wrapped(part.text, width);
        else if (part.kind == Kind::item)
            page += wrapped(part.text, width, "  ");
        else
            page += part.text;
        page += '\n';
    }
    return page;
}

std::string as_man_page(std::string_view markdown) {
    std::string page;
    bool is_literal = false;
    for (const Part& part : parts_of(markdown)) {
        const bool literal = part.kind == Kind::command || part.kind == Kind::table;
        if (literal != is_literal) page += literal ? ".PP\n.nf\n" : ".fi\n";
        is_literal = literal;
        if (part.kind == Kind::heading)
            page += (part.text.starts_with("## ") ? ".SS \"" : ".SH \"") + troff(heading_text(part.text)) + "\"\n";
        else if (part.kind == Kind::item)
            page += ".IP \\(bu 2\n" + without_marks(part.text.substr(2)) + '\n';
        else if (part.kind == Kind::prose)
            page += ".PP\n" + without_marks(part.text) + '\n';
        else if (literal)
            page += troff(part.text) + '\n';
    }
    return page + (is_literal ? ".fi\n" : "");
}

}  // namespace joulecast::cli
