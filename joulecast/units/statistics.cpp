#include "joulecast/units/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace joulecast {

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

/// Continued fraction of the incomplete beta function, by Lentz's method (Numerical Recipes 6.4).
double beta_fraction(double a, double b, double x) {
    constexpr double tiny = 1e-300;
    double c = 1.0;
    double d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (std::abs(d) < tiny ? tiny : d);
    double result = d;
    for (int m = 1; m < 500; ++m) {
        const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        double change = 1.0;
        for (const double term : {even, odd}) {
            d = 1.0 + term * d;
            d = 1.0 / (std::abs(d) < tiny ? tiny : d);
            c = 1.0 + term / c;
            if (std::abs(c) < tiny) c = tiny;
            change = c * d;
            result *= change;
        }
        if (std::abs(change - 1.0) < 1e-15) break;
    }
    return result;
}

/// Regularised incomplete beta function I_x(a, b).
double incomplete_beta(double a, double b, double x) {
    if (x <= 0.0) return 0.0;
    if (x >= 1.0) return 1.0;
    const double front =
        std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0)) return front * beta_fraction(a, b, x) / a;
    return 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

/// Probability that |T| exceeds t.
double two_sided_tail(double t, double degrees) {
    return incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t));
}

/// The x with I_x(a, b) = share.
double beta_quantile(double share, double a, double b) {
    double low = 0.0;
    double high = 1.0;
    for (int step = 0; step < 60; ++step) {
        const double middle = (low + high) / 2.0;
        (incomplete_beta(a, b, middle) < share ? low : high) = middle;
    }
    return (low + high) / 2.0;
}

}  // namespace

double mean(std::span<const double> samples) {
    if (samples.empty()) return not_known;
    return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double standard_deviation(std::span<const double> samples) {
    if (samples.size() < 2) return not_known;
    const double centre = mean(samples);
    double squares = 0.0;
    for (const double sample : samples) squares += (sample - centre) * (sample - centre);
    return std::sqrt(squares / static_cast<double>(samples.size() - 1));
}

double median(std::span<const double> samples) {
    return quantile(samples, 0.5);
}

double quantile(std::span<const double> samples, double share) {
    if (samples.empty()) return not_known;
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    const double position = std::clamp(share, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (position - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double next_quantile(std::span<const double> samples, double share) {
    if (samples.empty()) return not_known;
    return quantile(samples, std::min(1.0, share * (1 + 1 / static_cast<double>(samples.size()))));
}

double effective_samples(std::span<const double> samples) {
    const auto count = static_cast<double>(samples.size());
    if (samples.size() < 3) return count;
    const double centre = mean(samples);
    double variance = 0.0;
    for (const double sample : samples) variance += (sample - centre) * (sample - centre);
    if (!(variance > 0.0)) return count;
    double correlations = 0.0;
    for (std::size_t lag = 1; lag < samples.size() / 2 + 1; ++lag) {
        double product = 0.0;
        for (std::size_t i = lag; i < samples.size(); ++i) {
            product += (samples[i] - centre) * (samples[i - lag] - centre);
        }
        if (!(product > 0.0)) break;
        correlations += product / variance;
    }
    return std::clamp(count / (1.0 + 2.0 * correlations), 1.0, count);
}

double student_t_quantile(double share, double degrees) {
    if (!(share > 0.0) || !(share < 1.0) || !(degrees > 0.0)) return not_known;
    if (share < 0.5) return -student_t_quantile(1.0 - share, degrees);
    const double tail = 2.0 * (1.0 - share);
    double high = 1.0;
    while (two_sided_tail(high, degrees) > tail && high < 1e300) high *= 2.0;
    double low = 0.0;
    for (int step = 0; step < 200 && high - low > 1e-12 * high; ++step) {
        const double middle = low + (high - low) / 2.0;
        (two_sided_tail(middle, degrees) > tail ? low : high) = middle;
    }
    return low + (high - low) / 2.0;
}

ShareBounds binomial_bounds(std::int64_t hits, std::int64_t trials, double confidence) {
    if (trials < 1 || hits < 0 || hits > trials || !(confidence > 0.0) || !(confidence < 1.0))
        return {not_known, not_known};
    const double tail = (1.0 - confidence) / 2.0;
    const auto k = static_cast<double>(hits);
    const auto n = static_cast<double>(trials);
    // P(X >= k | p) = I_p(k, n - k + 1): the tails of the binomial are incomplete beta functions.
    return {hits == 0 ? 0.0 : beta_quantile(tail, k, n - k + 1.0),
            hits == trials ? 1.0 : beta_quantile(1.0 - tail, k + 1.0, n - k)};
}

}  // namespace joulecast
