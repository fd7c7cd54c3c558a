#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/graph/operation.h"

namespace joulecast {

/// Appends the operation as words that equal operations share and different ones do not: what signature() is for people
/// and files, without the cost of writing numbers as text. Not stable between programs, so never stored. Both zeros are
/// equal, and so are NaNs of the same bits.
void append_key(const Operation& operation, std::vector<std::uint64_t>& words);
/// The same without what requires a gradient: the key of the call in inference.
void append_key_of_inference(const Operation& operation, std::vector<std::uint64_t>& words);

/// Of a key, for tables in memory.
std::uint64_t hash(std::span<const std::uint64_t> words);
/// The same for tables of the standard library.
struct KeyHash {
    std::size_t operator()(const std::vector<std::uint64_t>& key) const { return hash(key); }
};

}  // namespace joulecast
