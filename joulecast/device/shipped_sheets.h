#pragma once

#include <span>
#include <string_view>

namespace joulecast {

/// A file of devices/, compiled in by cmake/data_sheets.cmake.
struct ShippedSheet {
    std::string_view id;
    std::span<const std::string_view> names;  ///< "name" and "aliases", to find it by without reading it
    std::string_view json;
};

std::span<const ShippedSheet> shipped_sheets();

}  // namespace joulecast
