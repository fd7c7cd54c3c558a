#pragma once

#include <filesystem>
#include <string_view>

namespace joulecast {

/// The file has this content afterwards, or what it had before: also when the machine loses power meanwhile. A link
/// keeps pointing where it does; nobody's planted link or file is written through. Returns 0, or the errno of what went
/// wrong. Permissions are those of a new file.
int replace_file(const std::filesystem::path& path, std::string_view content);

}  // namespace joulecast
