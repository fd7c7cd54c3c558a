#pragma once

#include <cstdint>
#include <string>

namespace joulecast {

/// Appends the fewest digits that read back as the same number; a real number shows that it is one: "3.0", "1e-05".
/// It is finite: how a text says NaN and infinity is its format's affair.
void append_digits(std::string& text, double value);
void append_digits(std::string& text, std::int64_t value);

/// The fewest digits that read back as the same number, a whole one as it is counted: "3", "0.5", "1e-05".
std::string digits(double value);

}  // namespace joulecast
