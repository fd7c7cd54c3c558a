#include "workers/torch/trial.h"

#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include <ATen/ATen.h>

#include "joulecast/measure/measure.h"
#include "joulecast/measure/proportionality.h"
#include "joulecast/measure/recipe.h"
#include "joulecast/measure/rotation.h"
#include "workers/torch/operation_workload.h"

namespace joulecast::torch_worker {

namespace {

/// Refuses before the device has to: `bytes` is the least that the trial will hold.
void require_memory(double bytes, const char* what, const TorchDevice& device) {
    const double available = device.available_memory_bytes();
    if (!(available > 0.0) || bytes <= 0.9 * available) return;
    char text[200];
    std::snprintf(text, sizeof text, "not enough memory: %s take %.3g GB, %.3g GB are available", what, bytes / 1e9,
                  available / 1e9);
    TORCH_CHECK(false, text);
}

/// Storage, gaps included; an expanded dimension takes none.
double bytes_of(const TensorType& type) {
    return static_cast<double>(span(type)) * static_cast<double>(element_bytes(type.dtype));
}

double bytes_of(const Operation& operation) {
    double bytes = 0.0;
    for (const TensorType* type : tensors(operation)) bytes += bytes_of(*type);
    return bytes;
}

/// A remark if the results are no numbers, or nothing.
std::string check_results(const OperationSets& sets) {
    const at::NoGradGuard no_grad;
    Stack stack = sets.call().stack(sets.writable_copy(0));
    sets.call().issue(stack);
    std::vector<at::Tensor> results;
    flatten(stack, results);
    for (const auto& result : results) {
        if (result.defined() && result.is_floating_point() && result.numel() > 0 &&
            !at::isfinite(result.to(at::kFloat)).all().item<bool>()) {
            return "the output holds infinities or NaN";
        }
    }
    return "";
}

void add_remark(std::string& message, const std::string& remark) {
    if (remark.empty()) return;
    message += (message.empty() ? "" : "; ") + remark;
}

/// One workload of a trial, as its device runs it.
class Running {
  public:
    Running(TorchDevice& device, Workload& issued, bool hot)
        : device_(device), issued_(issued), hot_(hot), apart_(device.apart(issued)) {}

    /// As the host issues it, to be replayed should it turn out launch-bound.
    Phase eager() {
        if (!apart_) return {&issued_, nullptr};
        return {apart_.get(), [this] { return replay(); }};
    }
    /// A network takes what its host makes of it: a replayed graph would be another host's.
    Phase as_issued() { return {apart_ ? apart_.get() : &issued_, nullptr}; }
    /// For host `graph`. Throws Unsupported where it cannot be captured.
    Phase captured() {
        const Replay replayed = replay();
        if (replayed.device_time_by != "graph") {
            throw Unsupported("it cannot be captured as a graph: " + replayed_.missing_reason);
        }
        return {replayed.workload, nullptr};
    }

  private:
    Replay replay() {
        replayed_ = device_.replay(issued_, hot_);
        return {replayed_.workload.get(), replayed_.timer.get(), replayed_.device_time_by};
    }

    TorchDevice& device_;
    Workload& issued_;
    bool hot_;
    std::unique_ptr<Workload> apart_;
    Replayed replayed_;
};

/// What a trial measures: in training the forward pass alone too.
struct Subject {
    Workload& whole;
    Workload* forward = nullptr;
    bool hot = false;
    std::function<void()> before_memory = [] {};
};

template <class AnyMeasurement>
void measure(TorchDevice& device, const Subject& subject, const MeasureSettings& settings,
             AnyMeasurement& measurement) {
    const bool as_graph = measurement.asked.host == Host::graph;
    constexpr bool is_network = std::is_same_v<AnyMeasurement, NetworkMeasurement>;
    const auto phase = [as_graph](Running& running) {
        if (as_graph) return running.captured();
        return is_network ? running.as_issued() : running.eager();
    };
    Running whole(device, subject.whole, subject.hot);
    std::optional<Running> forward;
    Calls calls;
    calls.whole = phase(whole);
    calls.hot = subject.hot;
    if (subject.forward != nullptr) {
        forward.emplace(device, *subject.forward, false);
        calls.forward = phase(*forward);
    }
    calls.peak_memory_bytes = [&] {
        subject.before_memory();
        subject.whole.prepare(1, false);
        const MemoryUse use = device.memory_of([&] { subject.whole.run(1, false); });
        measurement.workspace_bytes = use.workspace_bytes;
        return use.peak_bytes;
    };
    SteadyClock clock;
    const Metering::Opened metering =
        settings.measure_energy ? device.metering().open(settings.meter) : Metering::Opened{};
    measure_calls(calls,
                  {clock, device.timer(), metering.meter, metering.missing_reason, metering.traits, device.probe()},
                  settings, measurement);
    // A meter that was lost may be back for the next trial.
    if (metering.meter != nullptr && !measurement.energy) device.metering().close();
}

}  // namespace

void try_operation(const protocol::Measure& request, TorchDevice& device, const Issuer& issuer,
                   Measurement& measurement) {
    const MeasureSettings& settings = request.settings;
    const double set_bytes = bytes_of(request.operation);
    const bool training = mode(request.operation) == Mode::training;
    require_memory((training ? 3.0 : 1.0) * set_bytes, "the operation's tensors", device);
    const double cache_bytes = device.facts().last_level_cache_bytes;
    const RotationLimits limits{settings.working_set_bytes, cache_bytes, device.available_memory_bytes()};
    TensorMaker maker(settings.seed, device.place());
    const OperationSets sets(request.operation, rotation_for(set_bytes, limits), maker);
    measurement.rotation = static_cast<std::int64_t>(sets.sets().size());
    measurement.working_set_bytes = set_bytes * static_cast<double>(measurement.rotation);
    const std::string remark = check_results(sets);

    // Larger than the cache, one set is as cold as many: the hot number would be the same again. In training, copies of
    // written-to tensors are different ones for every call: nothing stays hot there.
    const bool hot =
        settings.measure_hot && set_bytes > 0.0 && set_bytes < cache_bytes && !(training && sets.mutates());
    const Issued issued = issuer.operation(sets, maker, training ? Mode::training : Mode::inference);
    measure(device, {*issued.whole, issued.forward.get(), hot}, settings, measurement);
    add_remark(measurement.message, remark);
    add_remark(measurement.message, issued.remark);
}

void try_runs(const protocol::TimeRuns& request, TorchDevice& device, const Issuer& issuer,
              protocol::TimedRuns& timed) {
    const double set_bytes = bytes_of(request.operation);
    const bool training = mode(request.operation) == Mode::training;
    require_memory((training ? 3.0 : 1.0) * set_bytes, "the operation's tensors", device);
    const RotationLimits limits{request.settings.working_set_bytes, device.facts().last_level_cache_bytes,
                                device.available_memory_bytes()};
    TensorMaker maker(request.settings.seed, device.place());
    const OperationSets sets(request.operation, rotation_for(set_bytes, limits), maker);
    const Issued issued = issuer.operation(sets, maker, mode(request.operation));
    Running running(device, *issued.whole, false);
    const Phase phase = request.point.host == Host::graph ? running.captured() : running.eager();
    timed.runs = time_numbers_of_calls(*phase.workload, device.timer(), request.calls);
}

void try_network(const protocol::MeasureGraph& request, TorchDevice& device, const Issuer& issuer,
                 NetworkMeasurement& measurement) {
    double bytes = 0.0;
    for (const auto& input : request.graph.inputs) bytes += bytes_of(input.type);
    const bool training = request.graph.mode == Mode::training;
    require_memory((training ? 2.0 : 1.0) * bytes, "the network's weights and inputs", device);
    TensorMaker maker(request.settings.seed, device.place());
    const Issued issued = issuer.network(request, maker, device.update_style());
    measurement.resident_bytes = issued.resident_bytes;
    measure(device, {*issued.whole, issued.forward.get(), false, issued.clear_gradients}, request.settings,
            measurement);
    measurement.peak_memory_bytes += issued.state_bytes();
    add_remark(measurement.message, issued.remark);
}

}  // namespace joulecast::torch_worker
