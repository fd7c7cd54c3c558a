#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "joulecast/measure/measurement.h"

namespace joulecast {

/// Leading blocks that still belong to the warm-up: the prefix before the first block within two median absolute
/// deviations of the median of the last half. At most half of the blocks.
std::size_t leading_transient(std::span<const double> block_s);

/// What is reported of seconds per call in blocks, in order: the leading transient is dropped and counted, nothing
/// else is (no outlier filter). `half_width_s` is t(.975, n_eff - 1) s / sqrt(n_eff), NaN below two effective blocks'
/// worth of data. `calls_per_block` and `converged` are the caller's to fill.
TimeSummary summarise(std::span<const double> block_s);

/// Number of blocks after which the rule is tested first: 50, but 10 if a call takes more than 10 ms, 5 beyond 100 ms.
std::int64_t first_test(double call_s);
/// The next one: half as many again (50, 75, 113, 170, ...).
std::int64_t next_test(std::int64_t blocks);

/// True when the half width is at most that share of the mean.
bool settled(const TimeSummary& summary, double relative_half_width);

}  // namespace joulecast
