#include "joulecast/measure/measure.h"

#include "joulecast/measure/conditions.h"
#include "joulecast/measure/readings.h"
#include "joulecast/measure/recipe.h"
#include "joulecast/measure/sponner_method.h"
#include "joulecast/measure/thesis_method.h"

namespace joulecast {

namespace {

constexpr double network_budget_factor = 10.0;

Readings readings_by(Method method, const Calls& calls, const Instruments& instruments,
                     const MeasureSettings& settings) {
    switch (method) {
        case Method::thesis:
            return thesis_readings(calls, instruments, settings);
        case Method::sponner:
            return sponner_readings(calls, instruments, settings);
        case Method::joulecast:
            break;
    }
    return joulecast_readings(calls, instruments, settings);
}

template <class AnyMeasurement>
void measure(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings,
             AnyMeasurement& measurement) {
    Readings readings = readings_by(settings.method, calls, instruments, settings);
    measurement.time = readings.time;
    measurement.forward = readings.forward;
    measurement.issue = readings.issue;
    measurement.energy = std::move(readings.energy);
    measurement.energy_missing_reason = std::move(readings.energy_missing_reason);
    measurement.conditions = conditions_around(readings.before, readings.after, readings.between_states_s);
    set_real_point(readings.before, readings.after, measurement.real);
    if constexpr (requires { measurement.hot; }) measurement.hot = readings.hot;
    if (settings.keep_blocks) measurement.block_s = std::move(readings.block_s);
    if (settings.measure_memory && calls.peak_memory_bytes) measurement.peak_memory_bytes = calls.peak_memory_bytes();
    if (measurement.time.half_width_s > unstable_half_width * measurement.time.mean_s) {
        measurement.outcome = Outcome::unstable;
        measurement.message = "the 95 % half width is beyond 10 % of the mean: something else uses this machine";
    }
}

}  // namespace

DeviceState state_now(const Instruments& instruments) {
    return instruments.state != nullptr ? instruments.state->read() : DeviceState{};
}

std::string why_no_energy(const Instruments& instruments, const MeasureSettings& settings) {
    if (!settings.measure_energy) return "not asked for";
    if (instruments.meter != nullptr) return "";
    return instruments.energy_missing_reason.empty() ? "there is no meter" : instruments.energy_missing_reason;
}

void measure_calls(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings,
                   Measurement& measurement) {
    measure(calls, instruments, settings, measurement);
}

void measure_calls(const Calls& calls, const Instruments& instruments, const MeasureSettings& settings,
                   NetworkMeasurement& measurement) {
    MeasureSettings longer = settings;
    longer.time_budget_s *= network_budget_factor;
    measure(calls, instruments, longer, measurement);
}

}  // namespace joulecast
