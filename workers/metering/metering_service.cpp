#include "workers/metering/metering_service.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>

#include <sys/utsname.h>

#include "joulecast/error.h"
#include "joulecast/measure/calibration.h"
#include "joulecast/measure/calibration_file.h"
#include "joulecast/measure/conditions.h"
#include "joulecast/measure/energy_window.h"
#include "joulecast/measure/recipe.h"
#include "joulecast/measure/soak.h"
#include "joulecast/meter/cpu_state.h"
#include "joulecast/meter/open_meter.h"
#include "joulecast/units/bounded_json.h"
#include "joulecast/units/printable.h"
#include "joulecast/worker/measurement_json.h"
#include "workers/metering/told_workload.h"

namespace joulecast::metering {

namespace {

using Json = nlohmann::json;

/// A chunk of calls lasts four times what a read costs (energy_window.h): so the way there and back is 2 % of it.
constexpr double way_as_reads = 12.0;
constexpr double day_s = 86400.0;

/// A number of the request; `otherwise` where it is left out or null.
double number(const Json& request, const char* name, double otherwise) {
    if (!request.contains(name) || request[name].is_null()) return otherwise;
    if (!request[name].is_number()) throw FormatError(std::string("field ") + name + " is no number");
    const double value = request[name].get<double>();
    if (!(value >= 0.0 && value <= 1e18)) throw FormatError(std::string("field ") + name + " is out of bounds");
    return value;
}

std::string text(const Json& request, const char* name) {
    if (!request.contains(name) || !request[name].is_string())
        throw FormatError(std::string("field ") + name + " is no text");
    return request[name].get<std::string>();
}

class Service {
  public:
    Service(std::istream& in, std::ostream& out, const Places& places)
        : in_(in), out_(out), places_(places), probe_(places.root) {}

    Json answer(const std::string& line) {
        try {
            const Json request = parse_bounded(line, limits_of_settings);
            if (!request.is_object()) throw FormatError("the line is no JSON object");
            const std::string asked = text(request, "ask");
            if (asked == "open") return open(request);
            if (asked == "prepare") return prepare(request);
            if (asked == "begin") return begin();
            if (asked == "energy") return energy(request);
            if (asked == "end") return end();
            throw FormatError("field ask is none of open, prepare, begin, energy, end");
        } catch (const Error& error) {
            return {{"error", error.what()}};
        }
    }

  private:
    Json open(const Json& request);
    Json prepare(const Json& request);
    Json begin();
    Json energy(const Json& request);
    Json end();
    void calibrate_by(ToldWorkload& load, double call_s, const std::string& device, Json& prepared);

    std::istream& in_;
    std::ostream& out_;
    const Places& places_;
    CpuStateProbe probe_;
    SteadyClock clock_;
    MeterRequest asked_;
    FoundMeter found_;
    MeterTraits traits_;
    DeviceState before_;
    double began_s_ = 0.0;
};

/// The meter stays open until another is asked for.
Json Service::open(const Json& request) {
    const std::string name = text(request, "meter");
    if (found_.meter == nullptr || name != asked_.name) {
        asked_.name = name;
        asked_.root = places_.root;
        found_ = open_meter(asked_);
        if (found_.meter) traits_ = traits_from(found_.meter->facts());
    }
    if (found_.meter == nullptr) return {{"missing_reason", found_.missing_reason}};
    return {{"meter", found_.meter->facts().name}, {"covers", found_.meter->facts().covers}};
}

void Service::calibrate_by(ToldWorkload& load, double call_s, const std::string& device, Json& prepared) {
    utsname system{};
    ::uname(&system);
    const CalibrationKey key{device, static_cast<const char*>(system.release), "current", found_.meter->facts().name};
    const std::string& folder = places_.calibration_folder;
    const std::string path = folder.empty() ? "" : calibration_path(folder, key);
    std::optional<Calibration> calibration;
    if (!path.empty()) calibration = cached_calibration(path, key).calibration;
    if (!calibration) {
        calibration = calibrate({load, call_s, *found_.meter, nullptr, clock_}, {});
        const std::string problem = path.empty() ? "" : store_calibration(path, key, *calibration);
        if (!problem.empty()) write_error_line("joulecast-meter", problem);
    }
    traits_ = traits_from(*calibration, found_.meter->facts());
    prepared["meter"] = calibration->meter;
    prepared["meter_period_s"] = number_or_null(calibration->period_s);
    prepared["idle_power_w"] = number_or_null(calibration->idle_power_w);
    prepared["suspect"] = is_suspect(*calibration);
}

/// Warms up and calibrates the open meter with the calls of the process that asks.
Json Service::prepare(const Json& request) {
    ToldWorkload load(in_, out_, static_cast<std::int64_t>(number(request, "multiple", 1)));
    const double call_s = number(request, "call_s", 0.0);
    SoakRule rule;
    rule.longest_s = std::min(number(request, "longest_soak_s", rule.longest_s), day_s);
    rule.call_s = call_s;
    const Soak soaked = soak(load, probe_, clock_, rule);
    Json prepared{{"soak_s", soaked.soak_s},
                  {"temperature_c", number_or_null(soaked.temperature_c)},
                  {"settled", soaked.settled},
                  {"message", found_.meter ? "" : found_.missing_reason}};
    if (!found_.meter) return prepared;
    try {
        calibrate_by(load, call_s, text(request, "device"), prepared);
    } catch (const MeterLost& lost) {
        found_ = {};
        prepared["message"] = lost.what();
    }
    return prepared;
}

Json Service::begin() {
    before_ = probe_.read();
    began_s_ = clock_.now_s();
    return Json::object();
}

Json Service::energy(const Json& request) {
    if (!found_.meter) throw Error("no meter is open");
    ToldWorkload workload(in_, out_, static_cast<std::int64_t>(number(request, "multiple", 1)));
    EnergyRule rule;
    rule.window_s = std::min(number(request, "window_s", rule.window_s), day_s);
    rule.load_on_s = number(request, "load_on_s", 0.0);
    rule.call_s = number(request, "call_s", 0.0);
    rule.time_half_width_s = number(request, "time_half_width_s", 0.0);
    rule.seed = static_cast<std::uint64_t>(number(request, "seed", 1.0));
    MeterTraits traits = traits_;
    traits.read_cost_s = std::max(traits.read_cost_s, way_as_reads * workload.round_trip_s());
    EnergyResult result = measure_energy(workload, *found_.meter, clock_, rule, traits);
    if (!result.summary) {
        found_ = {};  // the next open() tries again
        return {{"missing_reason", result.missing_reason}};
    }
    const double share = workload.share_of_calls();
    for (double* joules : {&result.summary->energy_j, &result.summary->dynamic_energy_j, &result.summary->half_width_j})
        *joules *= share;
    return protocol::to_json(*result.summary);
}

Json Service::end() {
    const DeviceState after = probe_.read();
    const Conditions conditions = conditions_around(before_, after, clock_.now_s() - began_s_);
    OperatingPoint real;
    set_real_point(before_, after, real);
    Json ended = protocol::to_json(conditions);
    ended["clock_mhz"] = number_or_null(real.sm_clock_mhz);
    return ended;
}

}  // namespace

void serve_meter(std::istream& in, std::ostream& out, const Places& places) {
    Service service(in, out, places);
    for (std::string line; std::getline(in, line);)
        if (!line.empty()) out << service.answer(line).dump() << '\n' << std::flush;
}

}  // namespace joulecast::metering
