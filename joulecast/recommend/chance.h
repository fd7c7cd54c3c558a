#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "joulecast/recommend/candidate.h"
#include "joulecast/recommend/objective.h"

namespace joulecast {

/// How the errors of candidates go together. Each has log-normal errors of time and energy, as wide as its 90 %
/// intervals; how much the two agree follows from the interval of power (P = E / T):
///
///     cov(log T, log E) = (var log T + var log E - var log P) / 2.
///
/// Candidates on one device share most of an error, since one model made it: what is forecast too slow at one clock is
/// too slow at all of them. So log error = level + tilt. The tilt is that of the curve over the clock: normal, one for
/// each (device, mode, precision, symbols), times the logarithm of the clock over the reference clock and the spread of
/// the device's curves (Candidate), and never more than the candidate's own deviation. The level has the rest of the
/// variance: a share `device_share` of it is common to the device, the remainder to (device, mode, precision, symbols).
/// Devices err independently, which makes chances cautious where one model forecast several.
struct SharedErrors {
    double device_share = 0.8;
    /// Of candidates that do not tell theirs. Curves from one clock were off by 3.4 % in time and 3.3 % in energy on
    /// average over clocks about half an octave away: 1.25 * 0.034 / (0.5 log 2).
    double time_spread = 0.12;
    double energy_spread = 0.12;
    std::size_t draws = 2000;  ///< fewer for many candidates: 4 million values in all, 200 draws at least
    std::uint64_t seed = 1;
};

/// How sure a choice is.
struct Chances {
    std::vector<double> best;    ///< per candidate of `among`: that none of the others is truly better
    std::vector<double> near;    ///< per candidate: that it is at most 1 % worse than the truly best
    double within = 0;           ///< that the first of `among` is at most 1 % worse than the truly best
    double expected_excess = 0;  ///< mean of its value over the truly best one's, less 1
    std::size_t draws = 0;
};

/// By seeded Monte Carlo over the errors above; `among` (at least one) has the candidate that was chosen first. The
/// same for the same input everywhere.
Chances chances(std::span<const Candidate> candidates, std::span<const std::size_t> among, Objective objective,
                const Prices& prices, const SharedErrors& errors = {});

/// What a choice has less of an objective than another, as a share of the other's, with its 90 % interval.
struct Saving {
    double value = 0;
    double low = 0;
    double high = 0;
};
Saving saving(const Candidate& chosen, const Candidate& other, Objective objective, const Prices& prices,
              const SharedErrors& errors = {});

}  // namespace joulecast
