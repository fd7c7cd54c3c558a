#pragma once

#include <cstdint>
#include <span>

namespace joulecast {

/// Of no sample at all, each of these is NaN.
double mean(std::span<const double> samples);
/// With n - 1; NaN below two samples.
double standard_deviation(std::span<const double> samples);
double median(std::span<const double> samples);
/// Between order statistics linearly interpolated (Hyndman and Fan's type 7, as numpy does), share in [0, 1].
double quantile(std::span<const double> samples, double share);
/// What one more sample, drawn as these were, stays below with probability `share`: their quantile() at
/// share (n + 1) / n, the n + 1 of conformal intervals; of few samples the largest.
double next_quantile(std::span<const double> samples, double share);

/// n / (1 + 2 sum of rho_k) over the initial positive autocorrelations, between 1 and n: how many independent samples
/// would know the mean as well as these, taken one after another, do.
double effective_samples(std::span<const double> samples);

/// Quantile of Student's t distribution, degrees > 0 (fractions allowed), share in (0, 1); accurate to 1e-9.
double student_t_quantile(double share, double degrees);

/// Bounds of a probability; both NaN where nothing was tried.
struct ShareBounds {
    double low = 0;
    double high = 0;
};
/// Exact two-sided interval for the probability behind `hits` of `trials` independent ones (Clopper and Pearson 1934):
/// the probabilities under which so few or so many are at least (1 - confidence) / 2 likely. NaN without trials, for
/// more hits than trials, and for a confidence outside (0, 1). Accurate to 1e-9.
ShareBounds binomial_bounds(std::int64_t hits, std::int64_t trials, double confidence);

}  // namespace joulecast
