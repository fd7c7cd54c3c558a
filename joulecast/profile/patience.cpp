#include "joulecast/profile/patience.h"

#include <algorithm>
#include <cmath>

namespace joulecast {
namespace {

/// Loading a framework's kernels, autotuning, and filling the tensors of the first set.
constexpr double base_s = 120;
/// The least number of calls: checked run, warm-up, five blocks in each of three phases, memory, energy.
constexpr double least_calls = 40;
constexpr double slower_than_roofline = 20;
/// Timing of all phases, in budgets (joulecast/measure/recipe.h).
constexpr double operation_budgets = 1.8;
constexpr double network_budgets = 18;
/// Windows widen up to this for sensors that see a part of the time only.
constexpr double longest_window_s = 5;
/// The papers' protocols run for a least time per block, many times.
constexpr double paper_s = 600;
/// However long an estimate is.
constexpr double longest_s = 24 * 3600;

std::chrono::milliseconds milliseconds(double seconds) {
    return std::chrono::milliseconds(static_cast<std::int64_t>(std::llround(1000 * seconds)));
}

}  // namespace

std::chrono::milliseconds patience(const MeasureSettings& settings, double call_s, bool network) {
    const double timing_s =
        settings.warm_up_s * 3 + settings.time_budget_s * (network ? network_budgets : operation_budgets);
    const double energy_s = settings.measure_energy ? std::max(settings.energy_window_s, longest_window_s) : 0;
    const double calls_s = least_calls * slower_than_roofline * (std::isfinite(call_s) ? call_s : 0);
    const double method_s = settings.method == Method::joulecast ? 0 : paper_s;
    return milliseconds(std::min(longest_s, base_s + 4 * (timing_s + 2 * energy_s) + calls_s + method_s));
}

std::chrono::milliseconds longer_patience(std::chrono::milliseconds patience, double more_s) {
    return std::min(milliseconds(longest_s), patience + milliseconds(std::min(longest_s, more_s)));
}

std::chrono::milliseconds preparing_patience() {
    constexpr double calibration_s = 10, longest_soak_s = 60;
    return milliseconds(base_s + 2 * (calibration_s + longest_soak_s));
}

}  // namespace joulecast
