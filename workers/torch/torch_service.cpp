#include "workers/torch/torch_service.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <new>
#include <random>

#include <ATen/ATen.h>
#include <sys/utsname.h>
#include <torch/version.h>

#include "joulecast/measure/recipe.h"
#include "joulecast/measure/rotation.h"
#include "workers/torch/network_workload.h"
#include "workers/torch/operation_workload.h"
#include "workers/torch/peak_memory.h"
#include "workers/torch/system_memory.h"
#include "workers/torch/threads.h"

namespace joulecast::torch_worker {

namespace {

constexpr const char* no_energy = "this worker reads no energy meter yet";

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n')).substr(0, 500);
}

bool says_out_of_memory(const std::string& message) {
    // DefaultCPUAllocator throws a plain c10::Error.
    return message.find("not enough memory") != std::string::npos ||
           message.find("can't allocate") != std::string::npos;
}

/// Runs a trial and turns whatever it throws into an outcome.
template <class AnyMeasurement, class Trial>
void outcome_of(AnyMeasurement& measurement, Trial trial) {
    try {
        trial();
        return;
    } catch (const c10::OutOfMemoryError& error) {
        measurement.outcome = Outcome::out_of_memory;
        measurement.message = first_line(error.what_without_backtrace());
    } catch (const std::bad_alloc&) {
        measurement.outcome = Outcome::out_of_memory;
        measurement.message = "no memory left";
    } catch (const c10::Error& error) {
        const std::string message = error.what_without_backtrace();
        measurement.outcome = says_out_of_memory(message) ? Outcome::out_of_memory : Outcome::unsupported;
        measurement.message = first_line(message);
    } catch (const std::exception& error) {
        measurement.outcome = Outcome::unsupported;
        measurement.message = first_line(error.what());
    }
    // What was timed before the failure is no result.
    measurement.time = {};
    measurement.forward.reset();
    measurement.block_s.clear();
}

/// Refuses before the kernel has to: `bytes` is the least that the trial will hold.
void require_memory(double bytes, const char* what) {
    const double available = available_memory_bytes();
    if (!(available > 0.0) || bytes <= 0.9 * available) return;
    char text[200];
    std::snprintf(text, sizeof text, "not enough memory: %s take %.3g GB, %.3g GB are available", what, bytes / 1e9,
                  available / 1e9);
    TORCH_CHECK(false, text);
}

/// The clock while it was measured, in MHz, where the kernel tells.
double clock_now_mhz() {
    std::ifstream file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq");
    double khz = 0.0;
    if (file >> khz) return khz / 1000.0;
    return std::numeric_limits<double>::quiet_NaN();
}

OperatingPoint real_point(const Device& device, int threads) {
    OperatingPoint point;
    point.device = device.id;
    point.host_cpu = device.id;
    point.host = Host::cpp;
    point.threads = threads;
    point.sm_clock_mhz = clock_now_mhz();
    return point;
}

void require_device(const OperatingPoint& asked, const Device& device) {
    if (asked.device.empty() || asked.device == "cpu" || asked.device == device.id) return;
    throw Error("cannot measure on " + asked.device + ": this worker has only cpu (" + device.id + ")");
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

void check_results(const OperationSets& sets, Measurement& measurement) {
    const at::NoGradGuard no_grad;
    Stack stack = sets.call().stack(sets.writable_copy(0));
    sets.call().issue(stack);
    std::vector<at::Tensor> results;
    flatten(stack, results);
    for (const auto& result : results) {
        if (result.defined() && result.is_floating_point() && result.numel() > 0 &&
            !at::isfinite(result.to(at::kFloat)).all().item<bool>()) {
            measurement.message = "the output holds infinities or NaN";
        }
    }
}

std::int64_t peak_of_one_call(Workload& workload) {
    workload.prepare(1, false);
    return peak_memory([&] { workload.run(1, false); });
}

void trial_operation(const protocol::Measure& request, const Device& device, Measurement& measurement) {
    const MeasureSettings& settings = request.settings;
    const double set_bytes = bytes_of(request.operation);
    const bool training = mode(request.operation) == Mode::training;
    require_memory((training ? 3.0 : 1.0) * set_bytes, "the operation's tensors");
    const RotationLimits limits{settings.working_set_bytes, device.last_level_cache_bytes, available_memory_bytes()};
    TensorMaker maker(settings.seed);
    const OperationSets sets(request.operation, rotation_for(set_bytes, limits), maker);
    measurement.rotation = static_cast<std::int64_t>(sets.sets().size());
    measurement.working_set_bytes = set_bytes * static_cast<double>(measurement.rotation);
    check_results(sets, measurement);

    SteadyClock clock;
    // Larger than the cache, one set is as cold as many: the hot number would be the same again.
    const bool hot = settings.measure_hot && set_bytes > 0.0 && set_bytes < device.last_level_cache_bytes;
    if (!training) {
        InferenceWorkload workload(sets);
        time_phases({&workload, nullptr, hot}, clock, settings, measurement);
        if (settings.measure_memory) measurement.peak_memory_bytes = static_cast<double>(peak_of_one_call(workload));
        return;
    }
    TrainingWorkload whole(sets, true, maker);
    TrainingWorkload forward(sets, false, maker);
    // Copies of written-to tensors are different ones for every call: nothing stays hot there.
    time_phases({&whole, &forward, hot && !sets.mutates()}, clock, settings, measurement);
    if (settings.measure_memory) measurement.peak_memory_bytes = static_cast<double>(peak_of_one_call(whole));
}

/// "fp32", "bf16", "fp16" after what most of the network's weights are.
std::string precision_of(const Graph& graph) {
    double f32 = 0.0;
    double bf16 = 0.0;
    double f16 = 0.0;
    for (const auto& input : graph.inputs) {
        const auto bytes = static_cast<double>(byte_count(input.type));
        if (input.type.dtype == Dtype::f32) f32 += bytes;
        if (input.type.dtype == Dtype::bf16) bf16 += bytes;
        if (input.type.dtype == Dtype::f16) f16 += bytes;
    }
    if (bf16 > f32 && bf16 >= f16) return "bf16";
    return f16 > f32 ? "fp16" : "fp32";
}

void trial_network(const protocol::MeasureGraph& request, NetworkMeasurement& measurement) {
    double bytes = 0.0;
    for (const auto& input : request.graph.inputs) bytes += bytes_of(input.type);
    require_memory((request.graph.mode == Mode::training ? 2.0 : 1.0) * bytes, "the network's weights and inputs");
    TensorMaker maker(request.settings.seed);
    Network network(request.graph, maker);
    measurement.resident_bytes = static_cast<double>(network.resident_bytes());
    SteadyClock clock;
    const auto measure_peak = [&](Workload& workload) {
        if (!request.settings.measure_memory) return;
        for (const auto& input : network.inputs()) {
            if (input.requires_grad()) input.mutable_grad().reset();
        }
        measurement.peak_memory_bytes = static_cast<double>(peak_of_one_call(workload));
    };
    if (request.graph.mode == Mode::inference) {
        NetworkInference workload(network);
        time_phases({&workload, nullptr, false}, clock, request.settings, measurement);
        measure_peak(workload);
        return;
    }
    NetworkTraining whole(network, true);
    NetworkTraining forward(network, false);
    time_phases({&whole, &forward, false}, clock, request.settings, measurement);
    measure_peak(whole);
}

std::string now_utc() {
    const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    gmtime_r(&now, &parts);
    std::array<char, 32> text{};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
    return text.data();
}

std::string random_session() {
    std::random_device random;
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%08x%08x", random(), random());
    return text.data();
}

Provenance provenance(const Device& device) {
    Provenance result;
    result.session = random_session();
    result.started = now_utc();
    result.worker = "joulecast-torch " JOULECAST_VERSION;
    result.framework = "torch " TORCH_VERSION;
    utsname system{};
    uname(&system);
    result.machine =
        device.display_name + ", " + std::to_string(device.units) + " cores, " + system.sysname + " " + system.release;
    std::ifstream governor("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (!(governor >> result.governor)) result.governor = "unknown";
    result.settings = protocol::settings_to_json({});
    return result;
}

template <class AnyMeasurement, class Trial>
void timed_trial(AnyMeasurement& measurement, const OperatingPoint& asked, int threads, const Device& device,
                 Trial trial) {
    SteadyClock clock;
    const double start_s = clock.now_s();
    require_device(asked, device);
    measurement.asked = asked;
    const int pinned = pin_threads(threads > 0 ? threads : asked.threads);
    limit_memory_growth();
    measurement.energy_missing_reason = no_energy;
    outcome_of(measurement, trial);
    return_freed_memory();
    measurement.real = real_point(device, pinned);
    measurement.wall_s = clock.now_s() - start_s;
}

}  // namespace

Measurement measure_operation(const protocol::Measure& request, const Device& device) {
    Measurement measurement;
    measurement.operation = request.operation;
    timed_trial(measurement, request.point, request.settings.threads, device,
                [&] { trial_operation(request, device, measurement); });
    return measurement;
}

NetworkMeasurement measure_network(const protocol::MeasureGraph& request, const Device& device) {
    NetworkMeasurement measurement;
    measurement.model = request.graph.name;
    for (const auto& [symbol, range] : request.graph.symbols) measurement.symbols[symbol] = range.value;
    measurement.mode = request.graph.mode;
    measurement.precision = precision_of(request.graph);
    timed_trial(measurement, request.point, request.settings.threads, device,
                [&] { trial_network(request, measurement); });
    return measurement;
}

protocol::Service torch_service() {
    const Device device = this_cpu();
    protocol::Capabilities capabilities;
    capabilities.provenance = provenance(device);
    capabilities.device = device;
    capabilities.device_names = {"cpu"};
    capabilities.dtypes = {Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::f64};
    capabilities.modes = {Mode::inference, Mode::training};
    capabilities.measures_graphs = true;
    capabilities.energy_missing_reason = no_energy;
    return {[capabilities] { return capabilities; },
            [device](const protocol::Measure& request) { return measure_operation(request, device); },
            [device](const protocol::MeasureGraph& request) { return measure_network(request, device); }};
}

}  // namespace joulecast::torch_worker
