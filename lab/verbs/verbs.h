#pragma once

#include <string_view>

#include "cli/verb.h"

namespace joulecast::cli {

/// The text of docs/guide/lab/<verb>.md, compiled in; of "seeds" that of docs/seeds.md. Empty for others.
std::string_view laboratory_guide(std::string_view verb);

// The verbs of joulecast-lab: its table is in lab/main.cpp.
Run declare_published_import(CLI::App& command);
Run declare_comparison(CLI::App& command);
Run declare_baselines(CLI::App& command);
Run declare_study(CLI::App& command);
Run declare_figures(CLI::App& command);

}  // namespace joulecast::cli
