#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

namespace joulecast::cli {

/// Shells that completion_script() knows: "bash", "zsh", "fish".
const std::vector<std::string>& completed_shells();

/// A script for that shell that completes the verbs of `app`, the options of each, words that an option takes one of,
/// and behind --device and as a model the names given; files everywhere else.
std::string completion_script(std::string_view shell, const CLI::App& app, const std::vector<std::string>& devices,
                              const std::vector<std::string>& networks);

}  // namespace joulecast::cli
