#pragma once

#include <string>
#include <string_view>

namespace joulecast::cli {

/// The whole text as a finite number; else NaN.
double number_or_nan(std::string_view text);

/// Numbers as people write them. All throw UsageError, naming the option, for anything else and for what is not finite.

/// "1281167", "1,281,167" (commas between groups of three digits), "1.28e6": above zero.
double asked_count(const std::string& option, const std::string& text);

/// Bytes: "40GB" and "40 GB" (10^9), "40GiB" (2^30), "40e9"; k, M, G, T: above zero.
double asked_bytes(const std::string& option, const std::string& text);

/// A share of what is more: "5%", "+2 %", "-10%" is -0.1; without the sign of percent "0.05". Above -1.
double asked_share(const std::string& option, const std::string& text);

}  // namespace joulecast::cli
