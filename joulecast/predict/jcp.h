#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "joulecast/predict/model.h"

namespace joulecast {

/// The version that write_jcp writes; read_jcp reads this and all older ones. docs/predictor-format.md.
inline constexpr std::uint32_t jcp_version = 2;

std::vector<std::byte> to_jcp(const Predictor& predictor);
/// Throws FormatError for anything but a sound .jcp file: damaged, cut short, of a newer version. `name` is for the
/// message.
Predictor from_jcp(std::span<const std::byte> bytes, const std::string& name);

/// Writes beside the target and renames, so that no half-written file is ever found there. Throws Error.
void write_jcp(const Predictor& predictor, const std::filesystem::path& path);
Predictor read_jcp(const std::filesystem::path& path);

}  // namespace joulecast
