#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/device/device.h"

namespace joulecast {

/// What is told of a device, and by whom. Read from a JSON file of the form that docs/devices.md describes.
struct DataSheet {
    Device device;
    /// What else it is called, in published tables and by drivers; found without regard to case, blanks and brand.
    std::vector<std::string> aliases;
    /// Of a GPU in one module with a CPU, the id of that one: it issues the calls. Empty: any CPU may.
    std::string host_cpu;
    /// For "units" and each known figure, the document it was taken from, or how it was computed.
    std::map<std::string, std::string, std::less<>> sources;
    std::string file;  ///< that it was read from; empty: compiled in
};

/// Largest file read as a data sheet; ours have 3 KB.
inline constexpr std::size_t largest_data_sheet_bytes = std::size_t{256} * 1024;

/// `name` is for messages. Throws FormatError, naming the key, for anything but a sound data sheet: unknown keys,
/// figures out of bounds or without a source, ids that are none.
DataSheet parse_data_sheet(std::string_view json, const std::string& name);
/// What the file holds. Throws Error for one that cannot be read or is too large.
std::string data_sheet_text(const std::filesystem::path& path);
/// Throws as these two.
DataSheet read_data_sheet(const std::filesystem::path& path);

}  // namespace joulecast
