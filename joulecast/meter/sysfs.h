#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace joulecast {

/// The start of a small file of the kernel (4 KB at most) without surrounding blanks; nothing if it cannot be read or
/// is empty. Never throws.
std::optional<std::string> sysfs_text(const std::filesystem::path& file);

/// A file that holds one finite number and nothing else.
std::optional<double> sysfs_number(const std::filesystem::path& file);

/// What lies in a folder, in the order of its numbers ("hwmon2" before "hwmon10"); empty if it cannot be read. At most
/// 4096 entries.
std::vector<std::filesystem::path> sysfs_entries(const std::filesystem::path& folder);

/// "0-3,8,10-11" as the kernel lists processors; at most 4096 of them, nothing from what cannot be understood on.
std::vector<int> processor_list(const std::string& text);

}  // namespace joulecast
