#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "joulecast/model/bytes.h"
#include "joulecast/model/predictor.h"

namespace joulecast {

/// What several sections of .jcp files have; a read throws FormatError for what cannot be.

inline void put(ByteWriter& out, const std::vector<std::string>& texts) {
    out.number(static_cast<std::uint32_t>(texts.size()));
    for (const std::string& text : texts) out.text(text);
}

inline std::vector<std::string> take_texts(ByteReader& in) {
    std::vector<std::string> texts(in.count(4));
    for (std::string& text : texts) text = in.text();
    return texts;
}

/// What a name stands for; `parse` gives an optional, absent for a name that there is not.
template <class Parse>
auto take_name(ByteReader& in, Parse parse, const char* what) {
    const std::string text = in.text();
    const auto value = parse(text);
    if (!value) in.fail(std::string("unknown ") + what + " \"" + text.substr(0, 40) + "\"");
    return *value;
}

inline void put(ByteWriter& out, const std::vector<TrainedRange>& ranges) {
    out.number(static_cast<std::uint32_t>(ranges.size()));
    for (const TrainedRange& range : ranges) {
        out.real(range.low);
        out.real(range.high);
    }
}

/// As many as there are columns; `wrong` says what other columns mean.
inline std::vector<TrainedRange> take_ranges(ByteReader& in, std::size_t columns, const char* wrong) {
    std::vector<TrainedRange> ranges(in.count(8));
    if (ranges.size() != columns) in.fail(wrong);
    for (TrainedRange& range : ranges) {
        range.low = in.short_real();
        range.high = in.short_real();
    }
    return ranges;
}

inline double take_finite(ByteReader& in) {
    const double value = in.real();
    if (!std::isfinite(value)) in.fail("a number is not finite");
    return value;
}

}  // namespace joulecast
