#pragma once

#include <span>
#include <string_view>

#include "joulecast/device/device.h"

namespace joulecast {

/// A number of a device's data sheet. What stores, reads or prints devices goes through this list, so that a new figure
/// is a member of Device and a line here.
struct Figure {
    enum class Unit { mhz, flop_per_s, bytes_per_s, bytes, watts, count, nanometres, year };

    std::string_view name;  ///< key in files, JSON and databases, with the unit: never renamed
    std::string_view meaning;
    Unit unit;
    double Device::* value;
    double low;  ///< a number outside low ... high is no such figure, whatever file it stands in
    double high;
};

/// The one list, in the order they are shown in.
std::span<const Figure> figures();

/// The figure of that name, or nullptr.
const Figure* find_figure(std::string_view name);

/// "MHz", "FLOP/s"; empty for counts and years.
std::string_view name(Figure::Unit unit);

}  // namespace joulecast
