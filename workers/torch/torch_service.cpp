#include "workers/torch/torch_service.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <memory>
#include <random>

#include <sys/utsname.h>
#include <torch/version.h>

#include "joulecast/error.h"
#include "joulecast/measure/recipe.h"
#include "workers/torch/outcome.h"
#include "workers/torch/trial.h"

namespace joulecast::torch_worker {

namespace {

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

Provenance provenance() {
    const Device cpu = this_cpu();
    Provenance result;
    result.session = random_session();
    result.started = now_utc();
    result.worker = "joulecast-torch " JOULECAST_VERSION;
    result.framework = "torch " TORCH_VERSION;
    utsname system{};
    uname(&system);
    result.machine =
        cpu.display_name + ", " + std::to_string(cpu.units) + " cores, " + system.sysname + " " + system.release;
    std::ifstream governor("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    if (!(governor >> result.governor)) result.governor = "unknown";
    result.settings = protocol::settings_to_json({});
    return result;
}

void require_host(const OperatingPoint& asked) {
    if (asked.host == Host::cpp || asked.host == Host::graph) return;
    throw Error("cannot measure with host " + std::string(name(asked.host)) +
                ": joulecast-torch issues from C++. Ask for cpp, or take a worker that runs Python.");
}

template <class AnyMeasurement>
void measure_on(TorchDevice& device, const OperatingPoint& asked, int threads,
                const std::function<void(TorchDevice&)>& trial, AnyMeasurement& measurement) {
    SteadyClock clock;
    const double start_s = clock.now_s();
    require_host(asked);
    measurement.asked = asked;
    measurement.real = device.prepare(asked, threads);
    conclude(run_trial([&] { trial(device); }), measurement);
    device.clean_up();
    measurement.wall_s = clock.now_s() - start_s;
}

protocol::Capabilities capabilities_of(const TorchDevices& devices, const Provenance& who) {
    protocol::Capabilities capabilities;
    TorchDevice& device = devices.chosen();
    capabilities.provenance = who;
    capabilities.device = device.facts();
    for (const auto& each : devices.all()) capabilities.device_names.push_back(each->name());
    capabilities.dtypes = device.dtypes();
    capabilities.modes = {Mode::inference, Mode::training};
    capabilities.measures_graphs = true;
    if (device.place().is_cuda()) capabilities.hosts.push_back(Host::graph);
    const Metering::Opened metering = device.metering().open("auto");
    capabilities.measures_energy = metering.meter != nullptr;
    capabilities.energy_missing_reason = metering.missing_reason;
    const ClockAbilities clocks = device.clocks();
    capabilities.locks_clocks = clocks.locks;
    capabilities.clocks_missing_reason = clocks.missing_reason;
    capabilities.sm_clocks_mhz = clocks.sm_clocks_mhz;
    capabilities.power_limit_low_w = clocks.power_limit_low_w;
    capabilities.power_limit_high_w = clocks.power_limit_high_w;
    return capabilities;
}

}  // namespace

Measurement measure_operation(const protocol::Measure& request, const TorchDevices& devices) {
    Measurement measurement;
    measurement.operation = request.operation;
    const auto trial = [&](TorchDevice& device) { try_operation(request, device, measurement); };
    measure_on(devices.find(request.point.device), request.point, request.settings.threads, trial, measurement);
    return measurement;
}

NetworkMeasurement measure_network(const protocol::MeasureGraph& request, const TorchDevices& devices) {
    NetworkMeasurement measurement;
    measurement.model = request.graph.name;
    for (const auto& [symbol, range] : request.graph.symbols) measurement.symbols[symbol] = range.value;
    measurement.mode = request.graph.mode;
    measurement.precision = precision_of(request.graph);
    if (request.graph.mode == Mode::training) measurement.optimizer = request.optimizer;
    const auto trial = [&](TorchDevice& device) { try_network(request, device, measurement); };
    measure_on(devices.find(request.point.device), request.point, request.settings.threads, trial, measurement);
    return measurement;
}

protocol::Service torch_service() {
    const auto devices = std::make_shared<TorchDevices>();
    protocol::Service service;
    const Provenance who = provenance();
    service.hello = [devices, who] { return capabilities_of(*devices, who); };
    service.hello_of = [devices, who](const std::string& asked) {
        devices->choose(asked);
        return capabilities_of(*devices, who);
    };
    service.measure = [devices](const protocol::Measure& request) { return measure_operation(request, *devices); };
    service.prepare = [devices](const protocol::Prepare& request) {
        require_host(request.point);
        TorchDevice& device = devices->find(request.point.device);
        protocol::Prepared prepared;
        prepared.real = device.prepare(request.point, request.settings.threads);
        prepare_point(request, device, prepared);
        device.clean_up();
        return prepared;
    };
    service.measure_graph = [devices](const protocol::MeasureGraph& request) {
        return measure_network(request, *devices);
    };
    return service;
}

}  // namespace joulecast::torch_worker
