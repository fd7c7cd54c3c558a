#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace joulecast {

/// The fold (0 .. folds-1) of each row such that equal groups share a fold and folds are of about equal size: the
/// largest group goes to the smallest fold, groups of one size in an order drawn by seed. With fewer groups than folds
/// some folds stay empty. Throws Error for fewer than two folds.
std::vector<std::size_t> group_folds(std::span<const std::string> groups, std::size_t folds, std::uint64_t seed);

/// The same of groups that have numbers for names.
std::vector<std::size_t> group_folds(std::span<const std::size_t> groups, std::size_t folds, std::uint64_t seed);

/// Rows dealt at random without regard to groups: leaks, and exists to compare with papers that did it.
std::vector<std::size_t> random_folds(std::size_t rows, std::size_t folds, std::uint64_t seed);

}  // namespace joulecast
