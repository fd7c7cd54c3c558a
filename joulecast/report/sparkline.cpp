#include "joulecast/report/sparkline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace joulecast {
namespace {

std::vector<double> thinned(std::span<const double> values, std::size_t width) {
    if (values.size() <= width) return {values.begin(), values.end()};
    std::vector<double> columns;
    for (std::size_t column = 0; column < width; ++column) {
        const std::size_t begin = column * values.size() / width;
        const std::size_t end = (column + 1) * values.size() / width;
        double sum = 0;
        std::size_t known = 0;
        for (std::size_t i = begin; i < end; ++i) {
            if (std::isnan(values[i])) continue;
            sum += values[i];
            ++known;
        }
        columns.push_back(known > 0 ? sum / static_cast<double>(known) : std::numeric_limits<double>::quiet_NaN());
    }
    return columns;
}

}  // namespace

std::string sparkline(std::span<const double> values, std::size_t width) {
    constexpr std::array blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const std::vector<double> columns = thinned(values, std::max<std::size_t>(width, 1));
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : columns) {
        if (std::isnan(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    std::string text;
    for (const double value : columns) {
        if (std::isnan(value)) {
            text += ' ';
            continue;
        }
        const double share = high > low ? (value - low) / (high - low) : 0;
        text += blocks[std::min(blocks.size() - 1, static_cast<std::size_t>(share * blocks.size()))];
    }
    return text;
}

}  // namespace joulecast
