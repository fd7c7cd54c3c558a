#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace joulecast::cli {

/// What --help takes from docs/guide/<verb>.md; the whole page is `joulecast help VERB`.
struct Guide {
    std::string title;                  ///< "joulecast diff A B": how the verb is called
    std::string summary;                ///< its first paragraph, in one line
    std::vector<std::string> examples;  ///< the commands below the line "Examples:"
};

/// Splits a guide: a title line ("# joulecast extract"), the summary paragraph, the examples.
Guide split_guide(std::string_view markdown);

/// Columns that help and guides take: those of the terminal, 60 to 100.
std::size_t page_width();
/// "  left      text", the text broken into lines of page_width().
std::string two_columns(const std::string& left, const std::string& text);

/// The text of docs/guide/<verb>.md, compiled in by cmake/guides.cmake; a verb without one stops the build.
std::string_view guide_text(std::string_view verb);

/// `joulecast VERB --help`: summary, usage, the first three examples, options in their groups.
class VerbHelp : public CLI::Formatter {
  public:
    explicit VerbHelp(Guide guide) : guide_(std::move(guide)) {}
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;

  private:
    Guide guide_;
};

/// `joulecast --help`: the description as it is, then the verbs in their groups.
class ProgramHelp : public CLI::Formatter {
  public:
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
};

}  // namespace joulecast::cli
