#pragma once

#include <string>

namespace joulecast::cli {

/// Why no page can be printed into a file here, with what to do; empty: it can.
std::string pdf_missing_reason();

/// Prints the page on A4 with a headless Chromium. `html` draws its figures as it is read: with Plotly as plain text.
/// Throws Error where there is no browser, or it fails.
void print_pdf(const std::string& html, const std::string& file);

}  // namespace joulecast::cli
