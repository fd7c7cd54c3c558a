#include "joulecast/answer/loaded_device.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <utility>

#include "joulecast/answer/clock_calibration.h"
#include "joulecast/answer/pace_now.h"
#include "joulecast/dataset/suspect_rows.h"
#include "joulecast/device/device_argument.h"
#include "joulecast/device/device_table.h"
#include "joulecast/device/engine.h"
#include "joulecast/device/precision.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/error.h"
#include "joulecast/forecast/compiled_calls.h"
#include "joulecast/forecast/compose.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/forecast/start_from_others.h"
#include "joulecast/graph/channels_last.h"
#include "joulecast/physics/roofline.h"
#include "joulecast/report/table.h"
#include "joulecast/train/pooled.h"
#include "joulecast/units/joined.h"

namespace joulecast {
namespace {

std::string how_to_measure(const std::string& engine) {
    if (shipped_engine(engine) != nullptr)
        return "Measure with joulecast profile --worker joulecast-" + engine + " and train on that";
    std::string names;
    for (const ShippedEngine& shipped : shipped_engines) names += ", " + std::string(shipped.name);
    return "Workers are shipped for torch" + names + "; docs/worker-protocol.md says how to write one for " + engine;
}

/// Whose measurements are of the calls that the model knows: what torch.compile leaves to libraries runs as in torch.
std::string engine_of_calls(const DeviceModel& model) {
    return is_compiled_by_rule(model) ? OperatingPoint().engine : model.point.engine;
}

/// At the setting of the model. For a device that no model was trained on, those of every host and number of threads.
MeasuredOperations measured_as(const DeviceModel& model, const std::vector<OperationRow>& operations) {
    const std::string engine = engine_of_calls(model);
    std::vector<OperationRow> rows;
    std::ranges::copy_if(operations, std::back_inserter(rows), [&](const OperationRow& row) {
        const OperatingPoint& real = row.measurement.real;
        const bool fits = real.threads == model.point.threads && real.host == model.point.host;
        return multiplies_alike(row.measurement.operation, model.device, real.math, model.point.math) &&
               real.engine == engine && (fits || model.unseen);
    });
    return measured_operations(rows, model.device.last_level_cache_bytes);
}

/// A model over other devices learns from the operations measured on this one: those that its predictor keeps, and the
/// most telling of the database's. Returns how many of them it used.
std::size_t adjust(DeviceModel& model, const std::vector<const Feature*>& columns, std::span<const KeptDevice> kept,
                   const std::vector<OperationRow>& operations) {
    std::vector<TrainingRow> rows;
    for (const OperatingPoint& setting : settings_of(operations)) {
        if (setting.engine != engine_of_calls(model)) continue;
        for (TrainingRow& row : training_rows_at(operations, model.device, setting)) {
            if (tells_of(model, row.operation.operation, setting.math)) rows.push_back(std::move(row));
        }
    }
    if (rows.empty()) return 0;
    std::vector<MeasuredCall> calls = telling_calls(model, kept);
    if (rows.size() <= most_telling_operations) {
        for (const TrainingRow& row : rows) calls.push_back(as_call(row));
    } else {
        for (const std::size_t row : telling_rows(model, columns, rows, most_telling_operations))
            calls.push_back(as_call(rows[row]));
    }
    adjust_to(model, columns, calls);
    return model.unseen->residual.measured();
}

/// "epyc-7763 issues the calls: it takes 0.98 times as long as the unknown CPU of the measurements (90 %: 0.51
/// to 1.90)". `measured_from` is OperatingPoint::host_cpu.
std::string issuer_text(const Issuer& issuer, const std::string& measured_from) {
    const double factor = issuer.pace.factor, spread = spread_90(issuer.pace.sigma);
    const std::string range = show(factor / spread, Show::number) + " to " + show(factor * spread, Show::number);
    return issuer.cpu + " issues the calls: it takes " + show(factor, Show::number) + " times as long as " +
           (measured_from.empty() ? "the unknown CPU of the measurements" : measured_from) + " (90 %: " + range + ")";
}

/// A predictor of earlier times does not know the limits that the driver of its device takes.
void add_known_limits(Device& device) {
    const DataSheet* const sheet = known_devices().find(device.id);
    if (sheet == nullptr) return;
    for (double Device::* limit : {&Device::min_power_limit_w, &Device::max_power_limit_w}) {
        if (std::isnan(device.*limit)) device.*limit = sheet->device.*limit;
    }
}

/// By its id alone: a sheet means the same on every machine.
const Device& cpu_of_module(const std::string& id, const std::string& asked) {
    const DataSheet* const sheet = known_devices().find(id);
    if (sheet == nullptr) throw UsageError(asked + "no device is called '" + id + "'. joulecast devices lists all");
    return sheet->device;
}

std::vector<Device> devices_of(const std::optional<Dataset>& dataset) {
    return dataset ? dataset->devices() : std::vector<Device>();
}

std::optional<Dataset> opened(const std::string& database) {
    if (database.empty()) return std::nullopt;
    return Dataset(database, Dataset::Access::read_only);
}

}  // namespace

LoadedDevice::LoadedDevice(const std::string& device, const PredictorSource& predictor, const std::string& database,
                           std::span<const std::string> engines)
    : database_(opened(database)),
      chosen_(choose_predictor(device, predictor, devices_of(database_), engines)),
      database_path_(database),
      columns_(joulecast::columns(chosen_.predictor)) {
    std::vector<OperationRow> operations;
    const std::string id = chosen_.model().device.id;
    if (database_) operations = database_->operations(id);
    const auto settings = settings_of(operations);
    const std::vector<KeptDevice> kept = kept_of(chosen_.predictor, id);
    std::size_t used = 0;
    for (DeviceModel& model : chosen_.predictor.devices) {
        if (model.device.id != id) continue;
        add_known_limits(model.device);
        // A model over devices is of no engine by itself: of the one that this device was measured with.
        if (model.unseen && is_torch(model.point.engine) && !settings.empty())
            model.point.engine = settings.front().engine;
        if (database_ && model.unseen) used = std::max(used, adjust(model, columns_, kept, operations));
        measured_.emplace(&model, measured_as(model, operations));
    }
    engines_ = chosen_.engines();
    if (chosen_.model().unseen) own_cpu_ = device_argument(device, devices_of(database_)).host_cpu;
    database_note_ = suspect_rows(operations);
    if (used > 0)
        database_note_ += (database_note_.empty() ? "" : "; ") + std::string("the model was adjusted to ") +
                          std::to_string(used) + " operations measured on " + id;
}

void LoadedDevice::calibrate_clocks() {
    if (!database_) return;
    const auto clocks = measured_clocks(*database_, device());
    if (!clocks) return;
    for (DeviceModel& model : chosen_.predictor.devices) {
        // Over clocks its own parameters are what its operations were learned with.
        if (model.device.id == device().id && !model.over_clocks) model.clocks = clocks;
    }
}

void LoadedDevice::issue_from(const std::string& named) {
    if (named.empty() && own_cpu_.empty()) return;
    const std::string asked =
        named.empty() ? "\"host_cpu\" in the data sheet of " + device().id + ": " : "--host-cpu " + named + ": ";
    const Device issuer = named.empty() ? cpu_of_module(own_cpu_, asked) : device_argument(named).device;
    for (DeviceModel& model : chosen_.predictor.devices) {
        if (model.device.id != device().id) continue;
        try {
            joulecast::issue_from(model, issuer);
        } catch (const Error& error) {
            throw UsageError(asked + error.what());
        }
        issuer_note_ = issuer_text(*model.issuer, model.point.host_cpu);
    }
}

void LoadedDevice::follow_pace(const std::string& worker) {
    const DeviceModel& asked = chosen_.model();
    const PaceNow pace = pace_now(asked, worker);
    for (DeviceModel& model : chosen_.predictor.devices) {
        if (model.device.id == device().id) model.pace = pace.factor;
    }
    pace_note_ = pace_text(asked, pace);
}

std::string LoadedDevice::predictor_name() const {
    return std::filesystem::path(chosen_.path).filename().string();
}

std::string LoadedDevice::short_note() const {
    return chosen_.short_note.empty() ? chosen_.note : chosen_.short_note;
}

const std::string& LoadedDevice::engine_of(const Execution& execution) const {
    return execution.engine.empty() ? engines_.front() : execution.engine;
}

std::string LoadedDevice::settled(const Execution& execution) const {
    const Precision precision = joulecast::settled(precision_named(execution.precision), device());
    const std::string& engine = engine_of(execution);
    const bool is_half_known = precision == Precision::torch_default &&
                               !chosen_.model_with(Math::torch_default, Host::python, engine) &&
                               chosen_.model_with(Math::ieee, Host::python, engine);
    return std::string(name(is_half_known ? Precision::fp32 : precision));
}

std::string LoadedDevice::settled_note(const Execution& execution) const {
    if (precision_named(execution.precision) != Precision::torch_default || !has_tf32(device())) return "";
    if (precision_named(settled(execution)) == Precision::torch_default) return "";
    return "PyTorch's default takes TF32 in convolutions on " + device().id + "; " + predictor_name() +
           " knows them in fp32 alone, so these are forecasts for fp32";
}

std::optional<std::string> LoadedDevice::refusal_of(const Execution& execution) const {
    const std::string& word = execution.precision;
    const std::string& engine = engine_of(execution);
    if (std::ranges::find(engines_, engine) == engines_.end())
        return predictor_name() + " knows " + device().id + " with " + joined(engines_) + " alone, not with " + engine +
               ". " + how_to_measure(engine);
    if (auto why = refusal_of_format(execution)) return why;
    const Precision precision = precision_named(settled(execution));
    // Of a device that was trained on and has no sheet, nobody knows what it lacks.
    const DataSheet* const sheet = chosen_.model().unseen ? nullptr : known_devices().find(device().id);
    const bool has_sheet = sheet != nullptr || chosen_.model().unseen;
    auto impossible =
        has_sheet ? refusal(precision, sheet ? sheet->device : device()) : refusal(precision, device().kind);
    if (impossible) return impossible;
    if (chosen_.model_with(math_of(precision), chosen_.model().point.host, engine)) return std::nullopt;
    return "cannot forecast precision " + word + " on " + device().id + ": it multiplies f32 matrices in " +
           std::string(name(math_of(precision))) + ", but " + predictor_name() + " was trained with " +
           std::string(name(chosen_.model().point.math)) + ". Measure with joulecast profile --precision " + word +
           " and train on that";
}

std::optional<std::string> LoadedDevice::refusal_of_format(const Execution& execution) const {
    if (execution.memory_format == MemoryFormat::contiguous) return std::nullopt;
    const std::string& engine = engine_of(execution);
    if (!is_torch(engine)) return engine + " lays images as it likes: leave --memory-format out with it";
    if (device().kind == Device::Kind::gpu) return std::nullopt;
    return "--memory-format channels_last is known of GPUs alone, and " + device().id +
           " is none. Write the graph with joulecast extract --memory-format channels_last --device cpu --graph FILE, "
           "then measure that with joulecast profile FILE";
}

const DeviceModel& LoadedDevice::model_for(const Execution& execution) const {
    if (const auto why = refusal_of(execution)) throw UsageError(*why);
    const Math math = math_of(precision_named(settled(execution)));
    const DeviceModel& model = *chosen_.model_with(math, execution.host, engine_of(execution));
    if (const auto why = refusal(host_for(model, execution), model.device, model.point.host)) throw UsageError(*why);
    return model;
}

Host LoadedDevice::host_for(const DeviceModel& model, const Execution& execution) {
    return is_issued_by_torch(model.point.engine) ? execution.host : model.point.host;
}

int LoadedDevice::computing_threads(const DeviceModel& model) {
    return model.device.kind == Device::Kind::cpu ? model.point.threads : 0;
}

std::string LoadedDevice::measured_note(const DeviceModel& model) const {
    if (!database_ || !measured(model).empty()) return "";
    const int threads = computing_threads(model);
    return database_path_ + " has no operation measured on " + model.device.id +
           (threads > 0 ? " with " + threads_text(threads) : "") + "; all times are forecasts";
}

Graph LoadedDevice::prepared(Graph graph, const Execution& execution) const {
    const Device::Kind kind = model_for(execution).device.kind;
    if (execution.memory_format == MemoryFormat::channels_last)
        graph = with_channels_last(graph, AutocastDevice::cuda);  // of CPUs it is refused
    return at_precision(std::move(graph), precision_named(execution.precision), execution.mode, kind);
}

}  // namespace joulecast
