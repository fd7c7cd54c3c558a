#pragma once

#include <string>
#include <vector>

#include "joulecast/report/plot.h"

namespace joulecast::cli {

/// Why no picture can be written, with what to do; empty: it can. For saying so before hours of measuring.
std::string picture_missing_reason();

/// The text of plotly.min.js. Throws Error with that reason.
std::string plotly_library();

/// The same as gzip packs it, for pages that a browser unpacks; plain where the build packed none.
std::string packed_plotly_library();

/// Writes the plots as one page that opens without a network. Throws Error with that reason.
void write_picture(const std::string& file, const std::vector<Plot>& plots);

}  // namespace joulecast::cli
