#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "joulecast/dataset/import_smi_log.h"

namespace joulecast::cli {

/// The options that tell what ran while a log of power was written; `import
/// smi-log` alone takes them.
class LoggedRunOptions {
  public:
    /// Must outlive the parse.
    void declare(CLI::App& command);
    /// Throws UsageError for words that are not known, and where device, model or
    /// calls were not given.
    LoggedRun run() const;
    /// Throws UsageError for the first of these options that was given.
    void refuse_all(const std::string& source) const;

  private:
    std::vector<const CLI::Option*> options_;
    LoggedRun run_;
    std::vector<std::string> set_;
    std::string mode_ = "inference";
    std::string host_ = "python";
    int gpu_ = -1;  ///< CLI11's, negative while not given
};

}  // namespace joulecast::cli
