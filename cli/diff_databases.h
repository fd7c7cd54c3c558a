#pragma once

#include <cstddef>
#include <string>

#include "cli/verb.h"

namespace joulecast::cli {

/// By its first bytes.
bool is_database(const std::string& file);

/// `joulecast diff A.db B.db`: how well two runs agree.
int diff_databases(const std::string& before, const std::string& after, std::size_t top, const Output& output);

}  // namespace joulecast::cli
