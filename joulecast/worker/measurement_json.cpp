#include "joulecast/worker/measurement_json.h"

#include "joulecast/device/figures.h"

namespace joulecast::protocol {

namespace {

constexpr double any = std::numeric_limits<double>::max();

Json to_json(const TimeSummary& time) {
    return {{"mean_s", number_or_null(time.mean_s)},
            {"median_s", number_or_null(time.median_s)},
            {"half_width_s", number_or_null(time.half_width_s)},
            {"p05_s", number_or_null(time.p05_s)},
            {"p95_s", number_or_null(time.p95_s)},
            {"blocks", time.blocks},
            {"effective_blocks", number_or_null(time.effective_blocks)},
            {"dropped_blocks", time.dropped_blocks},
            {"calls_per_block", time.calls_per_block},
            {"converged", time.converged}};
}

TimeSummary time_from(const Fields& fields) {
    TimeSummary time;
    time.mean_s = fields.number("mean_s");
    time.median_s = fields.number("median_s");
    time.half_width_s = fields.number("half_width_s");
    time.p05_s = fields.number("p05_s");
    time.p95_s = fields.number("p95_s");
    time.blocks = fields.integer_or("blocks", 0, 0, INT64_MAX);
    time.effective_blocks = fields.number_or("effective_blocks", 0.0, 0.0, any);
    time.dropped_blocks = fields.integer_or("dropped_blocks", 0, 0, INT64_MAX);
    time.calls_per_block = fields.integer_or("calls_per_block", 0, 0, INT64_MAX);
    time.converged = fields.flag_or("converged", false);
    return time;
}

Json to_json(const std::optional<TimeSummary>& time) {
    if (!time) return nullptr;
    return to_json(*time);
}

std::optional<TimeSummary> optional_time_from(const Fields& fields, const char* key) {
    const auto object = fields.optional_object(key);
    if (!object) return std::nullopt;
    return time_from(*object);
}

Json to_json(const std::optional<EnergySummary>& energy) {
    if (!energy) return nullptr;
    return {{"energy_j", number_or_null(energy->energy_j)},
            {"dynamic_energy_j", number_or_null(energy->dynamic_energy_j)},
            {"power_w", number_or_null(energy->power_w)},
            {"idle_power_w", number_or_null(energy->idle_power_w)},
            {"half_width_j", number_or_null(energy->half_width_j)},
            {"gain_error", number_or_null(energy->gain_error)},
            {"window_s", number_or_null(energy->window_s)},
            {"ticks", energy->ticks},
            {"calls", energy->calls},
            {"drift_per_s", number_or_null(energy->drift_per_s)},
            {"meter", energy->meter},
            {"suspect", energy->suspect}};
}

std::optional<EnergySummary> energy_from(const Fields& measurement) {
    const auto fields = measurement.optional_object("energy");
    if (!fields) return std::nullopt;
    EnergySummary energy;
    energy.energy_j = fields->number("energy_j");
    energy.dynamic_energy_j = fields->number("dynamic_energy_j");
    energy.power_w = fields->number("power_w");
    energy.idle_power_w = fields->number("idle_power_w");
    energy.half_width_j = fields->number("half_width_j");
    energy.gain_error = fields->number("gain_error");
    energy.window_s = fields->number("window_s");
    energy.ticks = fields->integer_or("ticks", 0, 0, INT64_MAX);
    energy.calls = fields->integer_or("calls", 0, 0, INT64_MAX);
    energy.drift_per_s = fields->number("drift_per_s");
    energy.meter = fields->text("meter");
    energy.suspect = fields->flag_or("suspect", false);
    return energy;
}

Json to_json(const std::optional<IssueSummary>& issue) {
    if (!issue) return nullptr;
    return {{"issue_s", number_or_null(issue->issue_s)},
            {"eager_s", number_or_null(issue->eager_s)},
            {"launch_bound", issue->launch_bound},
            {"device_time_by", issue->device_time_by}};
}

std::optional<IssueSummary> issue_from(const Fields& measurement) {
    const auto fields = measurement.optional_object("issue");
    if (!fields) return std::nullopt;
    IssueSummary issue;
    issue.issue_s = fields->number("issue_s");
    issue.eager_s = fields->number("eager_s");
    issue.launch_bound = fields->flag_or("launch_bound", false);
    issue.device_time_by = fields->text("device_time_by");
    return issue;
}

Json to_json(const Conditions& conditions) {
    return {{"temperature_c", number_or_null(conditions.temperature_c)},
            {"performance_state", conditions.performance_state},
            {"throttle_reasons", conditions.throttle_reasons},
            {"limited_by", name(conditions.limited_by)}};
}

Conditions conditions_from(const Fields& measurement) {
    Conditions conditions;
    const auto fields = measurement.optional_object("conditions");
    if (!fields) return conditions;
    conditions.temperature_c = fields->number("temperature_c");
    conditions.performance_state = fields->text_or("performance_state", "");
    conditions.throttle_reasons = static_cast<std::uint64_t>(fields->integer_or("throttle_reasons", 0, 0, INT64_MAX));
    if (fields->find("limited_by") != nullptr) {
        conditions.limited_by =
            fields->word("limited_by", parse_limited_by, "limit (unknown, none, power_cap, thermal)");
    }
    return conditions;
}

std::vector<double> numbers_from(const Fields& fields, const char* key) {
    std::vector<double> numbers;
    for (const Json& item : fields.list(key)) {
        if (!item.is_number()) fields.fault(key, "has an item that is not a number");
        numbers.push_back(item.get<double>());
    }
    return numbers;
}

std::vector<std::string> words_from(const Fields& fields, const char* key) {
    std::vector<std::string> words;
    for (const Json& item : fields.list(key)) {
        if (!item.is_string()) fields.fault(key, "has an item that is not a string");
        words.push_back(item.get<std::string>());
    }
    return words;
}

Json to_json(const Provenance& provenance) {
    return {{"session", provenance.session},     {"started", provenance.started},   {"worker", provenance.worker},
            {"framework", provenance.framework}, {"machine", provenance.machine},   {"governor", provenance.governor},
            {"method", provenance.method},       {"settings", provenance.settings}, {"source", provenance.source}};
}

Provenance provenance_from(const Fields& fields) {
    Provenance provenance;
    provenance.session = fields.text("session");
    provenance.started = fields.text("started");
    provenance.worker = fields.text("worker");
    provenance.framework = fields.text("framework");
    provenance.machine = fields.text_or("machine", "");
    provenance.governor = fields.text_or("governor", "unknown");
    provenance.method = fields.text_or("method", provenance.method);
    provenance.settings = fields.text_or("settings", "");
    provenance.source = fields.text_or("source", provenance.source);
    return provenance;
}

Json to_json(const Device& device) {
    Json json = {{"id", device.id},
                 {"display_name", device.display_name},
                 {"kind", device.kind == Device::Kind::cpu ? "cpu" : "gpu"},
                 {"vendor", device.vendor},
                 {"architecture", device.architecture},
                 {"units", device.units},
                 {"source", device.source}};
    for (const Figure& figure : figures()) json[figure.name] = number_or_null(device.*figure.value);
    return json;
}

std::optional<Device::Kind> parse_kind(std::string_view text) {
    if (text == "cpu") return Device::Kind::cpu;
    if (text == "gpu") return Device::Kind::gpu;
    return std::nullopt;
}

Device device_from(const Fields& fields) {
    Device device;
    device.id = fields.text("id");
    if (device.id.empty()) fields.fault("id", "is empty");
    device.display_name = fields.text_or("display_name", device.id);
    device.kind = fields.word("kind", parse_kind, "kind of device (cpu or gpu)");
    device.vendor = fields.text_or("vendor", "");
    device.architecture = fields.text_or("architecture", "");
    device.units = static_cast<int>(fields.integer_or("units", 0, 0, 1'000'000));
    for (const Figure& figure : figures()) device.*figure.value = fields.number(std::string(figure.name).c_str());
    device.source = fields.text_or("source", "");
    return device;
}

std::string engine_from(const Fields& fields, const std::string& otherwise) {
    const std::string engine = fields.text_or("engine", otherwise);
    if (!is_engine(engine))
        fields.fault("engine", "is not a name of at most 40 characters of a-z, 0-9, '.', '_' and '-'");
    return engine;
}

Operation operation_from(const Fields& fields) {
    const std::string text = fields.text("operation");
    try {
        return parse_operation(text);
    } catch (const FormatError& error) {
        fields.fault("operation", std::string("cannot be read: ") + error.what());
    }
}

template <class AnyMeasurement>
void read_outcome(const Fields& fields, AnyMeasurement& measurement) {
    measurement.asked = point_from(fields.object("asked"));
    measurement.real = point_from(fields.object("real"));
    measurement.outcome = fields.word("outcome", parse_outcome, "outcome");
    measurement.message = fields.text_or("message", "");
    measurement.time = time_from(fields.object("time"));
    measurement.forward = optional_time_from(fields, "forward");
    measurement.issue = issue_from(fields);
    measurement.energy = energy_from(fields);
    measurement.energy_missing_reason = fields.text_or("energy_missing_reason", "");
    measurement.conditions = conditions_from(fields);
    measurement.peak_memory_bytes = fields.number("peak_memory_bytes");
    measurement.workspace_bytes = fields.number("workspace_bytes");
    measurement.block_s = numbers_from(fields, "block_s");
    measurement.wall_s = fields.number_or("wall_s", 0.0, 0.0, any);
    const bool timed = measurement.outcome == Outcome::ok || measurement.outcome == Outcome::unstable;
    if (timed && !(measurement.time.mean_s > 0.0)) {
        fields.fault("time.mean_s", "must be above zero when the outcome is " + std::string(name(measurement.outcome)));
    }
}

}  // namespace

Optimizer optimizer_from(const Fields& fields) {
    return fields.word("optimizer", parse_optimizer, "optimizer (none, sgd, momentum, adam or adamw)");
}

Json to_json(const MeasureSettings& settings) {
    return {{"method", name(settings.method)},
            {"warm_up_s", settings.warm_up_s},
            {"time_budget_s", settings.time_budget_s},
            {"min_block_s", settings.min_block_s},
            {"relative_half_width", settings.relative_half_width},
            {"working_set_bytes", settings.working_set_bytes},
            {"measure_hot", settings.measure_hot},
            {"measure_memory", settings.measure_memory},
            {"measure_energy", settings.measure_energy},
            {"energy_window_s", settings.energy_window_s},
            {"meter", settings.meter},
            {"keep_blocks", settings.keep_blocks},
            {"threads", settings.threads},
            {"seed", settings.seed}};
}

MeasureSettings settings_from(const Fields& fields) {
    MeasureSettings settings;
    if (fields.find("method") != nullptr) {
        settings.method = fields.word("method", parse_method, "method (joulecast, thesis or sponner)");
    }
    settings.warm_up_s = fields.number_or("warm_up_s", settings.warm_up_s, 0.0, 3600.0);
    settings.time_budget_s = fields.number_or("time_budget_s", settings.time_budget_s, 0.0, 3600.0);
    settings.min_block_s = fields.number_or("min_block_s", settings.min_block_s, 0.0, 60.0);
    settings.relative_half_width = fields.number_or("relative_half_width", settings.relative_half_width, 0.0, 1.0);
    settings.working_set_bytes = fields.number_or("working_set_bytes", 0.0, 0.0, 1e15);
    settings.measure_hot = fields.flag_or("measure_hot", settings.measure_hot);
    settings.measure_memory = fields.flag_or("measure_memory", settings.measure_memory);
    settings.measure_energy = fields.flag_or("measure_energy", settings.measure_energy);
    settings.energy_window_s = fields.number_or("energy_window_s", settings.energy_window_s, 0.0, 3600.0);
    settings.meter = fields.text_or("meter", settings.meter);
    settings.keep_blocks = fields.flag_or("keep_blocks", settings.keep_blocks);
    settings.threads = static_cast<int>(fields.integer_or("threads", 0, 0, 65536));
    settings.seed = static_cast<std::uint64_t>(fields.integer_or("seed", 1, 0, INT64_MAX));
    return settings;
}

Json to_json(const OperatingPoint& point) {
    return {{"device", point.device},
            {"sm_clock_mhz", number_or_null(point.sm_clock_mhz)},
            {"memory_clock_mhz", number_or_null(point.memory_clock_mhz)},
            {"power_limit_w", number_or_null(point.power_limit_w)},
            {"math", name(point.math)},
            {"engine", point.engine},
            {"host", name(point.host)},
            {"host_cpu", point.host_cpu},
            {"threads", point.threads}};
}

OperatingPoint point_from(const Fields& fields) {
    OperatingPoint point;
    point.device = fields.text("device");
    point.sm_clock_mhz = fields.number("sm_clock_mhz");
    point.memory_clock_mhz = fields.number("memory_clock_mhz");
    point.power_limit_w = fields.number("power_limit_w");
    if (fields.find("math") != nullptr) point.math = fields.word("math", parse_math, "math (ieee or tf32)");
    point.engine = engine_from(fields, point.engine);
    if (fields.find("host") != nullptr) {
        point.host = fields.word("host", parse_host, "host (python, cpp or graph)");
    }
    point.host_cpu = fields.text_or("host_cpu", "");
    point.threads = static_cast<int>(fields.integer_or("threads", 0, 0, 65536));
    return point;
}

Json to_json(const Measurement& measurement) {
    return {{"operation", signature(measurement.operation)},
            {"asked", to_json(measurement.asked)},
            {"real", to_json(measurement.real)},
            {"outcome", name(measurement.outcome)},
            {"message", measurement.message},
            {"time", to_json(measurement.time)},
            {"hot", to_json(measurement.hot)},
            {"forward", to_json(measurement.forward)},
            {"issue", to_json(measurement.issue)},
            {"energy", to_json(measurement.energy)},
            {"energy_missing_reason", measurement.energy_missing_reason},
            {"conditions", to_json(measurement.conditions)},
            {"peak_memory_bytes", number_or_null(measurement.peak_memory_bytes)},
            {"workspace_bytes", number_or_null(measurement.workspace_bytes)},
            {"working_set_bytes", measurement.working_set_bytes},
            {"rotation", measurement.rotation},
            {"block_s", measurement.block_s},
            {"wall_s", measurement.wall_s}};
}

Measurement measurement_from(const Fields& fields) {
    Measurement measurement;
    measurement.operation = operation_from(fields);
    read_outcome(fields, measurement);
    measurement.hot = optional_time_from(fields, "hot");
    measurement.working_set_bytes = fields.number_or("working_set_bytes", 0.0, 0.0, any);
    measurement.rotation = fields.integer_or("rotation", 1, 1, INT64_MAX);
    return measurement;
}

Json to_json(const NetworkMeasurement& measurement) {
    return {{"model", measurement.model},
            {"symbols", measurement.symbols},
            {"mode", name(measurement.mode)},
            {"precision", measurement.precision},
            {"optimizer", name(measurement.optimizer)},
            {"asked", to_json(measurement.asked)},
            {"real", to_json(measurement.real)},
            {"outcome", name(measurement.outcome)},
            {"message", measurement.message},
            {"time", to_json(measurement.time)},
            {"forward", to_json(measurement.forward)},
            {"issue", to_json(measurement.issue)},
            {"energy", to_json(measurement.energy)},
            {"energy_missing_reason", measurement.energy_missing_reason},
            {"conditions", to_json(measurement.conditions)},
            {"peak_memory_bytes", number_or_null(measurement.peak_memory_bytes)},
            {"workspace_bytes", number_or_null(measurement.workspace_bytes)},
            {"resident_bytes", number_or_null(measurement.resident_bytes)},
            {"block_s", measurement.block_s},
            {"wall_s", measurement.wall_s}};
}

NetworkMeasurement network_measurement_from(const Fields& fields) {
    NetworkMeasurement measurement;
    measurement.model = fields.text("model");
    const Fields symbols(fields.require("symbols"), "network.symbols");
    for (const auto& [symbol, value] : fields.require("symbols").items()) {
        if (measurement.symbols.size() == 4096) fields.fault("symbols", "has more than 4096 entries");
        measurement.symbols[symbol] = symbols.integer_or(symbol.c_str(), 0, INT64_MIN, INT64_MAX);
    }
    measurement.mode = fields.word("mode", parse_mode, "mode (inference or training)");
    measurement.precision = fields.text_or("precision", measurement.precision);
    if (fields.find("optimizer") != nullptr) measurement.optimizer = optimizer_from(fields);
    read_outcome(fields, measurement);
    measurement.resident_bytes = fields.number("resident_bytes");
    return measurement;
}

Json to_json(const Capabilities& capabilities) {
    Json dtypes = Json::array();
    for (const Dtype dtype : capabilities.dtypes) dtypes.push_back(name(dtype));
    Json modes = Json::array();
    for (const Mode mode : capabilities.modes) modes.push_back(name(mode));
    Json hosts = Json::array();
    for (const Host host : capabilities.hosts) hosts.push_back(name(host));
    return {
        {"provenance", to_json(capabilities.provenance)},
        {"engine", capabilities.engine.empty() ? engine_of(capabilities.provenance.framework) : capabilities.engine},
        {"device", to_json(capabilities.device)},
        {"device_names", capabilities.device_names},
        {"dtypes", dtypes},
        {"modes", modes},
        {"measures_graphs", capabilities.measures_graphs},
        {"measures_energy", capabilities.measures_energy},
        {"energy_missing_reason", capabilities.energy_missing_reason},
        {"hosts", hosts},
        {"boot_id", capabilities.boot_id},
        {"locks_clocks", capabilities.locks_clocks},
        {"clocks_missing_reason", capabilities.clocks_missing_reason},
        {"sm_clocks_mhz", capabilities.sm_clocks_mhz},
        {"power_limit_low_w", number_or_null(capabilities.power_limit_low_w)},
        {"power_limit_high_w", number_or_null(capabilities.power_limit_high_w)}};
}

Capabilities capabilities_from(const Fields& fields) {
    Capabilities capabilities;
    capabilities.provenance = provenance_from(fields.object("provenance"));
    capabilities.engine = engine_from(fields, engine_of(capabilities.provenance.framework));
    capabilities.device = device_from(fields.object("device"));
    capabilities.device_names = words_from(fields, "device_names");
    for (const std::string& word : words_from(fields, "dtypes")) {
        const auto dtype = parse_dtype(word);
        if (!dtype) fields.fault("dtypes", "has \"" + word.substr(0, 80) + "\", which is not a dtype");
        capabilities.dtypes.push_back(*dtype);
    }
    for (const std::string& word : words_from(fields, "modes")) {
        const auto mode = parse_mode(word);
        if (!mode) fields.fault("modes", "has \"" + word.substr(0, 80) + "\", which is not a mode");
        capabilities.modes.push_back(*mode);
    }
    capabilities.measures_graphs = fields.flag_or("measures_graphs", false);
    capabilities.measures_energy = fields.flag_or("measures_energy", false);
    capabilities.energy_missing_reason = fields.text_or("energy_missing_reason", "");
    if (fields.find("hosts") != nullptr) capabilities.hosts.clear();
    for (const std::string& word : words_from(fields, "hosts")) {
        const auto host = parse_host(word);
        if (!host) fields.fault("hosts", "has \"" + word.substr(0, 80) + "\", which is not a host");
        capabilities.hosts.push_back(*host);
    }
    capabilities.boot_id = fields.text_or("boot_id", "");
    capabilities.locks_clocks = fields.flag_or("locks_clocks", false);
    capabilities.clocks_missing_reason = fields.text_or("clocks_missing_reason", "");
    capabilities.sm_clocks_mhz = numbers_from(fields, "sm_clocks_mhz");
    capabilities.power_limit_low_w = fields.number("power_limit_low_w");
    capabilities.power_limit_high_w = fields.number("power_limit_high_w");
    return capabilities;
}

Json to_json(const Prepared& prepared) {
    return {{"real", to_json(prepared.real)},
            {"soak_s", number_or_null(prepared.soak_s)},
            {"temperature_c", number_or_null(prepared.temperature_c)},
            {"settled", prepared.settled},
            {"idle_power_w", number_or_null(prepared.idle_power_w)},
            {"meter", prepared.meter},
            {"meter_period_s", number_or_null(prepared.meter_period_s)},
            {"suspect", prepared.suspect},
            {"message", prepared.message}};
}

Prepared prepared_from(const Fields& fields) {
    Prepared prepared;
    prepared.real = point_from(fields.object("real"));
    prepared.soak_s = fields.number("soak_s");
    prepared.temperature_c = fields.number("temperature_c");
    prepared.settled = fields.flag_or("settled", true);
    prepared.idle_power_w = fields.number("idle_power_w");
    prepared.meter = fields.text_or("meter", "");
    prepared.meter_period_s = fields.number("meter_period_s");
    prepared.suspect = fields.flag_or("suspect", false);
    prepared.message = fields.text_or("message", "");
    return prepared;
}

}  // namespace joulecast::protocol
