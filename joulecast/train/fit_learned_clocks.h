#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/physics/fit_clocks.h"
#include "joulecast/physics/learned_clocks.h"

namespace joulecast {

struct LearnedClockSettings {
    std::size_t trees = 100;
    std::size_t folds = 5;  ///< of names; as many as there are names, where they are fewer
    std::uint64_t seed = 1;
    unsigned threads = 0;
};

/// The parameters with all that workloads, whose kernels are known or guessed, did otherwise than the forms tell:
/// residuals by place, extra trees over time, power, activity of the memory and clocks, the same with words of names,
/// and intervals. Workloads of one name are left out together; so left out, residuals and both kinds of trees get the
/// shares, in quarters, that come nearest to the measured times, powers and energies. Trees need three names and 30
/// points beside the reference points, else there are none.
ClockParameters with_learned_sweeps(ClockParameters parameters, std::span<const SweptWorkload> workloads,
                                    const LearnedClockSettings& settings = {});

}  // namespace joulecast
