#pragma once

#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace joulecast::cli {

/// Options of a verb that only some of its ways to run have, so that none is taken and then passed over.
class OwnOptions {
  public:
    void add(const CLI::Option* option, std::vector<std::string> of) { options_.emplace_back(option, std::move(of)); }

    /// Throws UsageError for one that was given and is not of this way; `asked` is how it was asked for: "study
    /// latency".
    void check(const std::string& asked, const std::string& way) const;

  private:
    std::vector<std::pair<const CLI::Option*, std::vector<std::string>>> options_;
};

}  // namespace joulecast::cli
