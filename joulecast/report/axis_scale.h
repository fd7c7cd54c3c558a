#pragma once

#include <span>
#include <string>
#include <vector>

namespace joulecast {

/// How an axis shows its numbers: as tables do, in ms and mJ.
struct AxisScale {
    double divisor = 1;  ///< numbers are divided by it
    std::string unit;    ///< of the numbers after that: "ms"; empty: none
};

/// For a linear axis: the unit that brings the largest of the numbers between 1 and 1000. Units that take no SI prefix
/// ("%", "MHz", "FLOP/byte") stay.
AxisScale axis_scale(const std::string& unit, std::span<const double> numbers);

struct AxisTicks {
    std::vector<double> at;
    std::vector<std::string> texts;  ///< "10 ms"
    bool have_unit = false;          ///< else the unit takes no prefix, and belongs to the title
};

/// For a logarithmic axis: powers of ten around the positive numbers, with 2 and 5 times these where they are few; at
/// most about ten. Empty without a positive number.
AxisTicks logarithmic_ticks(const std::string& unit, std::span<const double> numbers);

}  // namespace joulecast
