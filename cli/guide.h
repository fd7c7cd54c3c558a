#pragma once

#include <string>
#include <string_view>

namespace joulecast::cli {

/// docs/guide/<verb>.md, split for the help text: its first paragraph, and what follows.
struct Guide {
    std::string summary;
    std::string body;
};

/// Splits a guide: a title line ("# joulecast extract"), the summary paragraph, the rest.
Guide split_guide(std::string_view markdown);

/// The text of docs/guide/<verb>.md, compiled in by cmake/guides.cmake; a verb without one stops the build.
std::string_view guide_text(std::string_view verb);

}  // namespace joulecast::cli
