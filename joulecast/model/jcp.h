#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "joulecast/model/predictor.h"

namespace joulecast {

class FileCalls;

/// The version that write_jcp writes; read_jcp reads this and all older ones. docs/predictor-format.md.
inline constexpr std::uint32_t jcp_version = 5;

std::vector<std::byte> to_jcp(const Predictor& predictor);
/// Throws FormatError for anything but a sound .jcp file: damaged, cut short, of a newer version. `name` is for the
/// message.
Predictor from_jcp(std::span<const std::byte> bytes, const std::string& name);

/// Writes beside the target and renames, so that no half-written file is ever found there. Throws Error.
void write_jcp(const Predictor& predictor, const std::filesystem::path& path);
void write_jcp(const Predictor& predictor, const std::filesystem::path& path, FileCalls& calls);
Predictor read_jcp(const std::filesystem::path& path);

/// What a file covers, in its order.
struct JcpCover {
    std::vector<Device> devices;  ///< one for each model, with the figures of version 1 alone
    std::vector<Device::Kind> pooled;
    std::vector<Device> kept = {};          ///< that start from these, whole
    std::vector<std::string> engines = {};  ///< that each of `devices` was measured with
};
/// Without reading its models, which are most of it. Throws as read_jcp() does, but of what it reads only.
JcpCover jcp_cover(const std::filesystem::path& path);

}  // namespace joulecast
