#include "joulecast/measure/proportionality.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "joulecast/measure/blocks.h"

namespace joulecast {

namespace {

constexpr double fitted_share = 6.0 / 7.0;
constexpr double outlier_sigmas = 5.0;
constexpr double most_calls = 1e9;

struct Line {
    double offset = 0.0;
    double slope = 0.0;
};

/// By least squares, about the mean so that large numbers of calls lose no digits.
Line line_through(const std::vector<Runtime>& runtimes, std::size_t first) {
    const auto count = static_cast<double>(runtimes.size() - first);
    double mean_calls = 0.0;
    double mean_s = 0.0;
    for (std::size_t i = first; i < runtimes.size(); ++i) {
        mean_calls += static_cast<double>(runtimes[i].calls) / count;
        mean_s += runtimes[i].runtime_s / count;
    }
    double covariance = 0.0;
    double variance = 0.0;
    for (std::size_t i = first; i < runtimes.size(); ++i) {
        const double calls = static_cast<double>(runtimes[i].calls) - mean_calls;
        covariance += calls * (runtimes[i].runtime_s - mean_s);
        variance += calls * calls;
    }
    const double slope = covariance / variance;
    return {mean_s - slope * mean_calls, slope};
}

}  // namespace

Proportionality fit_proportionality(std::vector<Runtime>& runtimes) {
    std::sort(runtimes.begin(), runtimes.end(), [](const Runtime& a, const Runtime& b) {
        return std::tie(a.calls, a.runtime_s) < std::tie(b.calls, b.runtime_s);
    });
    Proportionality result;
    result.fitted = static_cast<std::size_t>(std::llround(fitted_share * static_cast<double>(runtimes.size())));
    if (result.fitted < 3) return result;
    const std::size_t first = runtimes.size() - result.fitted;
    const Line line = line_through(runtimes, first);
    result.call_s = line.slope;
    result.offset_s = line.offset;
    double squares = 0.0;
    for (std::size_t i = 0; i < runtimes.size(); ++i) {
        const double expected_s = line.offset + line.slope * static_cast<double>(runtimes[i].calls);
        result.residual_s.push_back(runtimes[i].runtime_s - expected_s);
        if (i >= first) squares += result.residual_s.back() * result.residual_s.back();
    }
    result.sigma_s = std::sqrt(squares / static_cast<double>(result.fitted - 2));
    for (std::size_t i = 0; i < runtimes.size(); ++i) {
        if (!(std::abs(result.residual_s[i]) > outlier_sigmas * result.sigma_s)) continue;
        if (!result.largest_outlier || runtimes[i].runtime_s > result.largest_outlier->runtime_s) {
            result.largest_outlier = runtimes[i];
        }
    }
    return result;
}

std::vector<std::int64_t> numbers_of_calls(double call_s, double longest_s, std::size_t points) {
    const double most = std::clamp(call_s > 0.0 ? longest_s / call_s : most_calls, 1.0, most_calls);
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < points; ++i) {
        const double share = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 1.0;
        const auto number = static_cast<std::int64_t>(std::llround(std::pow(most, share)));
        if (numbers.empty() || number > numbers.back()) numbers.push_back(number);
    }
    return numbers;
}

std::vector<Runtime> time_numbers_of_calls(Workload& workload, BlockTimer& timer,
                                           const std::vector<std::int64_t>& numbers) {
    timed(workload, timer, runnable(workload, 3), false);
    std::vector<Runtime> runtimes;
    for (const std::int64_t number : numbers) {
        const std::int64_t calls = runnable(workload, number);
        runtimes.push_back({calls, timed(workload, timer, calls, false)});
    }
    return runtimes;
}

}  // namespace joulecast
