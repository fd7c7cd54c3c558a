#include "joulecast/profile/reference_watch.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "joulecast/units/statistics.h"

namespace joulecast {

Operation reference_operation(Device::Kind kind) {
    // 0.27 GFLOP: 2.7 ms at 100 GFLOP/s; 137 GFLOP: 2.3 ms on an H200, 17 ms on a T4.
    const std::int64_t side = kind == Device::Kind::cpu ? 512 : 4096;
    TensorType square;
    square.sizes = {side, side};
    return {"aten::mm", {{"self", square}, {"mat2", square}}};
}

MeasureSettings reference_settings(MeasureSettings of_sweep) {
    of_sweep.method = Method::joulecast;
    of_sweep.measure_hot = of_sweep.measure_memory = of_sweep.measure_energy = of_sweep.keep_blocks = false;
    return of_sweep;
}

MeasureSettings pace_settings(MeasureSettings of_sweep) {
    of_sweep = reference_settings(of_sweep);
    of_sweep.time_budget_s = std::min(of_sweep.time_budget_s, 0.04);
    of_sweep.warm_up_s = std::min(of_sweep.warm_up_s, 0.01);
    return of_sweep;
}

bool ReferenceWatch::due(double now_s) const {
    if (!asked_s_) return true;
    if (std::ssize(first_) < first_repeats && last_s_ == *asked_s_) return true;
    return now_s - *asked_s_ >= reference_interval_s;
}

void ReferenceWatch::skip(double now_s) {
    asked_s_ = now_s;
}

ReferenceWatch::Verdict ReferenceWatch::add(double time_s, double half_width_s, double now_s) {
    asked_s_ = last_s_ = now_s;
    if (std::ssize(first_) < first_repeats) {
        first_.push_back(time_s);
        good_.push_back(time_s);
        excess_ = 0;
        return Verdict::good;
    }
    const double start_s = mean(first_);
    const double own_s = std::isfinite(half_width_s) ? half_width_s : 0;
    excess_ = time_s / start_s - 1;
    if (std::abs(time_s - start_s) <= 3 * own_s + 3 * standard_deviation(good_)) {
        good_.push_back(time_s);
        drifted_.clear();
        return Verdict::good;
    }
    drifted_.push_back(time_s);
    if (std::ssize(drifted_) < first_repeats) return Verdict::drifted;
    first_ = good_ = std::exchange(drifted_, {});
    return Verdict::settled;
}

}  // namespace joulecast
