#include "joulecast/worker/measurement_json.h"

#include <algorithm>
#include <tuple>

#include "joulecast/device/figures.h"
#include "joulecast/record/measurement.h"
#include "joulecast/worker/described_json.h"

namespace joulecast::record {

template <>
struct Words<Dtype> {
    static constexpr auto parse = parse_dtype;
    static constexpr const char* kind = "dtype";
};

template <>
struct Description<protocol::Prepared> {
    using S = protocol::Prepared;
    static constexpr std::tuple fields{
        Field{"real", &S::real, {.absent = Absent::refuse}},
        Field{"soak_s", &S::soak_s},
        Field{"temperature_c", &S::temperature_c},
        Field{"settled", &S::settled},
        Field{"idle_power_w", &S::idle_power_w},
        Field{"meter", &S::meter},
        Field{"meter_period_s", &S::meter_period_s},
        Field{"suspect", &S::suspect},
        Field{"message", &S::message},
    };
};

template <>
struct Description<protocol::Capabilities> {
    using S = protocol::Capabilities;
    static constexpr std::tuple fields{
        Field{"provenance", &S::provenance, {.absent = Absent::refuse}},
        Field{"engine", &S::engine},
        Field{"device", &S::device},
        Field{"device_names", &S::device_names},
        Field{"dtypes", &S::dtypes},
        Field{"modes", &S::modes},
        Field{"measures_graphs", &S::measures_graphs},
        Field{"measures_energy", &S::measures_energy},
        Field{"energy_missing_reason", &S::energy_missing_reason},
        Field{"hosts", &S::hosts},
        Field{"boot_id", &S::boot_id},
        Field{"locks_clocks", &S::locks_clocks},
        Field{"clocks_missing_reason", &S::clocks_missing_reason},
        Field{"sm_clocks_mhz", &S::sm_clocks_mhz},
        Field{"power_limit_low_w", &S::power_limit_low_w},
        Field{"power_limit_high_w", &S::power_limit_high_w},
    };
};

}  // namespace joulecast::record

namespace joulecast::protocol {
namespace {

void check_engine(const Fields& fields, const std::string& engine) {
    if (!is_engine(engine))
        fields.fault("engine", "is not a name of at most 40 characters of a-z, 0-9, '.', '_' and '-'");
}

template <class AnyMeasurement>
void check_time(const Fields& fields, const AnyMeasurement& measurement) {
    const bool timed = is_timed(measurement.outcome);
    if (timed && !(measurement.time.mean_s > 0.0))
        fields.fault("time.mean_s", "must be above zero when the outcome is " + std::string(name(measurement.outcome)));
}

}  // namespace

Device device_from(const Fields& fields) {
    Device device;
    device.id = fields.text("id");
    if (device.id.empty()) fields.fault("id", "is empty");
    // It becomes part of file names, and stands in messages.
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
               c == '.';
    };
    constexpr std::size_t longest_id = 100;
    if (device.id.size() > longest_id || device.id.front() == '.' || !std::ranges::all_of(device.id, allowed))
        fields.fault("id", "is not a name of at most 100 characters of a-z, A-Z, 0-9, '.', '_' and '-'");
    device.display_name = fields.text_or("display_name", device.id);
    device.kind = fields.word("kind", parse_device_kind, "kind of device (cpu or gpu)");
    device.vendor = fields.text_or("vendor", "");
    device.architecture = fields.text_or("architecture", "");
    device.units = static_cast<int>(fields.integer_or("units", 0, 0, 1'000'000));
    for (const Figure& figure : figures()) device.*figure.value = fields.number(std::string(figure.name).c_str());
    device.source = fields.text_or("source", "");
    return device;
}

Json json_of(const Device& device) {
    Json json = {{"id", device.id},         {"display_name", device.display_name}, {"kind", name(device.kind)},
                 {"vendor", device.vendor}, {"architecture", device.architecture}, {"units", device.units},
                 {"source", device.source}};
    for (const Figure& figure : figures()) json[figure.name] = number_or_null(device.*figure.value);
    return json;
}

// Found by from_json().

static void check(const Fields& fields, const OperatingPoint& point) {
    check_engine(fields, point.engine);
}

static void check(const Fields& fields, const Measurement& measurement) {
    check_time(fields, measurement);
}

static void check(const Fields& fields, const NetworkMeasurement& measurement) {
    check_time(fields, measurement);
}

Json to_json(const MeasureSettings& settings) {
    return object_of(settings);
}

Json to_json(const OperatingPoint& point) {
    return object_of(point);
}

Json to_json(const Measurement& measurement) {
    return object_of(measurement);
}

Json to_json(const NetworkMeasurement& measurement) {
    return object_of(measurement);
}

Json to_json(const Capabilities& capabilities) {
    Json json = object_of(capabilities);
    if (capabilities.engine.empty()) json["engine"] = engine_of(capabilities.provenance.framework);
    return json;
}

Json to_json(const Prepared& prepared) {
    return object_of(prepared);
}

Json to_json(const EnergySummary& energy) {
    return object_of(energy);
}

Json to_json(const Conditions& conditions) {
    return object_of(conditions);
}

MeasureSettings settings_from(const Fields& fields) {
    return from_json<MeasureSettings>(fields);
}

OperatingPoint point_from(const Fields& fields) {
    return from_json<OperatingPoint>(fields);
}

Optimizer optimizer_from(const Fields& fields) {
    return fields.word("optimizer", parse_optimizer, record::Words<Optimizer>::kind);
}

Measurement measurement_from(const Fields& fields) {
    return from_json<Measurement>(fields);
}

NetworkMeasurement network_measurement_from(const Fields& fields) {
    return from_json<NetworkMeasurement>(fields);
}

Capabilities capabilities_from(const Fields& fields) {
    auto capabilities = from_json<Capabilities>(fields);
    if (fields.find("engine") == nullptr) capabilities.engine = engine_of(capabilities.provenance.framework);
    check_engine(fields, capabilities.engine);
    // What a worker measures is nobody else's table.
    if (capabilities.provenance.source.empty()) capabilities.provenance.source = Provenance().source;
    return capabilities;
}

Prepared prepared_from(const Fields& fields) {
    return from_json<Prepared>(fields);
}

}  // namespace joulecast::protocol
