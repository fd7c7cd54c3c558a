#include "workers/torch/torch_service.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>

#include <sys/utsname.h>
#include <torch/version.h>

#include "joulecast/error.h"
#include "joulecast/measure/recipe.h"
#include "joulecast/units/time_stamp.h"
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

std::string random_session() {
    std::random_device random;
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%08x%08x", random(), random());
    return text.data();
}

Provenance provenance(const Issuer& issuer) {
    const Device cpu = this_cpu();
    Provenance result;
    result.session = random_session();
    result.started = utc_second_stamp(utc_now_s());
    result.worker = issuer.worker() + " " JOULECAST_VERSION;
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

/// Whom this worker can let issue the calls; the first is meant where nothing is said.
std::vector<Host> hosts_of(const Issuer& issuer, const TorchDevice& device) {
    if (issuer.host() == Host::cpp && device.place().is_cuda()) return {Host::cpp, Host::graph};
    return {issuer.host()};
}

void require_host(Host asked, const Issuer& issuer, const TorchDevice& device) {
    const std::vector<Host> hosts = hosts_of(issuer, device);
    if (std::find(hosts.begin(), hosts.end(), asked) != hosts.end()) return;
    if (asked == Host::graph && issuer.host() == Host::cpp) return;  // the device says why not
    throw Error("cannot measure with host " + std::string(name(asked)) + ": " + issuer.worker() + " issues from " +
                std::string(name(issuer.host())) + ". Ask for that, or take another worker (" +
                (asked == Host::python ? "joulecast-python" : "joulecast-torch") + ").");
}

void require_engine(const OperatingPoint& asked, const Issuer& issuer) {
    if (const std::string own = OperatingPoint{}.engine; asked.engine != own)
        throw Error("cannot measure with engine " + asked.engine + ": " + issuer.worker() + " runs " + own +
                    ". Take a worker of that engine.");
}

template <class AnyMeasurement>
void measure_on(TorchDevice& device, const Issuer& issuer, const OperatingPoint& asked, int threads,
                const std::function<void()>& trial, AnyMeasurement& measurement) {
    SteadyClock clock;
    const double start_s = clock.now_s();
    require_engine(asked, issuer);
    require_host(asked.host, issuer, device);
    measurement.asked = asked;
    measurement.real = device.prepare(asked, threads);
    measurement.real.host = asked.host;
    conclude(run_trial(trial), measurement);
    device.clean_up();
    measurement.wall_s = clock.now_s() - start_s;
}

protocol::Capabilities capabilities_of(const TorchDevices& devices, const Issuer& issuer, const Provenance& who) {
    protocol::Capabilities capabilities;
    TorchDevice& device = devices.chosen();
    capabilities.provenance = who;
    capabilities.device = device.facts();
    for (const auto& each : devices.all()) capabilities.device_names.push_back(each->name());
    capabilities.dtypes = device.dtypes();
    capabilities.modes = {Mode::inference, Mode::training};
    capabilities.measures_graphs = true;
    capabilities.hosts = hosts_of(issuer, device);
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

Measurement measure_operation(const protocol::Measure& request, const TorchDevices& devices, const Issuer& issuer) {
    Measurement measurement;
    measurement.operation = request.operation;
    TorchDevice& device = devices.find(request.point.device);
    const auto trial = [&] { try_operation(request, device, issuer, measurement); };
    measure_on(device, issuer, request.point, request.settings.threads, trial, measurement);
    return measurement;
}

NetworkMeasurement measure_network(const protocol::MeasureGraph& request, const TorchDevices& devices,
                                   const Issuer& issuer) {
    NetworkMeasurement measurement;
    measurement.model = request.graph.name;
    for (const auto& [symbol, range] : request.graph.symbols) measurement.symbols[symbol] = range.value;
    measurement.mode = request.graph.mode;
    measurement.precision = precision_of(request.graph);
    if (request.graph.mode == Mode::training) measurement.optimizer = request.optimizer;
    TorchDevice& device = devices.find(request.point.device);
    const auto trial = [&] { try_network(request, device, issuer, measurement); };
    measure_on(device, issuer, request.point, request.settings.threads, trial, measurement);
    return measurement;
}

protocol::Service torch_service(const Issuer& issuer) {
    const auto devices = std::make_shared<TorchDevices>();
    protocol::Service service;
    const Provenance who = provenance(issuer);
    service.hello = [devices, &issuer, who] { return capabilities_of(*devices, issuer, who); };
    service.hello_of = [devices, &issuer, who](const std::string& asked) {
        devices->choose(asked);
        return capabilities_of(*devices, issuer, who);
    };
    service.measure = [devices, &issuer](const protocol::Measure& request) {
        return measure_operation(request, *devices, issuer);
    };
    service.prepare = [devices, &issuer](const protocol::Prepare& request) {
        TorchDevice& device = devices->find(request.point.device);
        require_engine(request.point, issuer);
        require_host(request.point.host, issuer, device);
        protocol::Prepared prepared;
        prepared.real = device.prepare(request.point, request.settings.threads);
        prepared.real.host = request.point.host;
        prepare_point(request, device, prepared);
        device.clean_up();
        return prepared;
    };
    service.time_runs = [devices, &issuer](const protocol::TimeRuns& request) {
        TorchDevice& device = devices->find(request.point.device);
        require_engine(request.point, issuer);
        require_host(request.point.host, issuer, device);
        device.prepare(request.point, request.settings.threads);
        protocol::TimedRuns timed;
        const Ending ending = run_trial([&] { try_runs(request, device, issuer, timed); });
        device.clean_up();
        if (ending.outcome != Outcome::ok) throw Error(std::string(name(ending.outcome)) + ": " + ending.message);
        return timed;
    };
    service.measure_graph = [devices, &issuer](const protocol::MeasureGraph& request) {
        return measure_network(request, *devices, issuer);
    };
    return service;
}

}  // namespace joulecast::torch_worker
