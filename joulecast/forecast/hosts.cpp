#include "joulecast/forecast/hosts.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/issue_cost.h"
#include "joulecast/forecast/log_interval.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/graph/record.h"
#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

/// From LibTorch's dispatcher through the launch: an assumption, with the same factor of 2.3 either way at 90 %.
constexpr double cpp_per_kernel_s = 5e-6;
constexpr double graph_launch_s = 10e-6;
/// What a kernel takes in a graph whose time was hidden behind its issuing: on published networks of a V100 and an A100
/// a network is the sum of what calls take beyond their issuing and 2 us for each. One whose own time is known follows
/// the kernel before it at once: replayed on an H200, an addition of 128 numbers takes 0.9 us with all that lies
/// between two of them (datasets/h200.csv).
constexpr double untold_kernel_s = usual_kernel_latency_s;
/// Kernels of a call: in training its backward pass has about two more, for the input's gradient and the weight's.
double kernels_of_call(Mode mode) {
    return mode == Mode::training ? 3 : 1;
}

/// Of a call, where nothing was measured.
double issue_s(Host host, Mode mode, Device::Kind kind) {
    if (host == Host::graph || host == Host::compiled) return 0;
    const double from_cpp = cpp_per_kernel_s * kernels_of_call(mode);
    return host == Host::python ? from_cpp + python_call_s(mode, kind) : from_cpp;
}

bool is_gpu(const DeviceModel& device) {
    return device.device.kind == Device::Kind::gpu;
}

/// What a thread draws above idle while it issues: on a CPU one of those that the networks had.
double issuing_watts(const DeviceModel& device) {
    if (is_gpu(device)) return 0;
    const PowerFacts power = power_facts_of(device);
    return power.known() ? std::max(0.0, power.busy_w - power.idle_w) / std::max(1, device.point.threads) : 0;
}

/// The sheet of a CPU as this_cpu() names it: "epyc-7763" of "cpu-amd-epyc-7763-64c". Absent where none is
/// known; most tables do not tell, and then no sheet is read.
std::optional<Device> sheet_within(const std::string& host_cpu) {
    if (host_cpu.empty()) return std::nullopt;
    const std::string words = "-" + host_cpu + "-";
    for (const DataSheet& sheet : known_devices().sheets()) {
        const bool is_named = words.find("-" + sheet.device.id + "-") != std::string::npos;
        if (is_named && sheet.device.kind == Device::Kind::cpu) return sheet.device;
    }
    return std::nullopt;
}

/// Over the CPU that the model's operations were measured from.
IssuePace pace_after(const OperatingPoint& point, const Device& cpu) {
    const std::optional<Device> measured_from = sheet_within(point.host_cpu);
    return issue_pace(cpu, measured_from ? &*measured_from : nullptr);
}

/// Over what is assumed of the hosts of a GPU that was never measured; which CPU the assumed times are of is a guess.
IssuePace pace_beside(const Device& gpu, const Device& cpu) {
    const Device assumed = find_device(cpu_of_issue_costs);
    IssuePace pace = issue_pace(cpu, &assumed);
    pace.factor /= pace_of_age(gpu);
    pace.sigma = issue_pace(cpu, nullptr).sigma;
    return pace;
}

NetworkParts captured(Mode mode, NetworkParts parts) {
    scale(parts, 0, 1);
    parts.added_host_s = graph_launch_s;
    const auto steps = static_cast<double>(parts.steps.size());
    for (IssuedStep& step : parts.steps) step.share_of_added = 1 / steps;
    parts.added_device_s = parts.untold_kernels * kernels_of_call(mode) * untold_kernel_s;
    parts.sigma_added = sigma_of_other_machines;
    return parts;
}

/// With that much more, itself known within a factor of `spread` either way.
template <class Unit>
Estimate<Unit> moved(const Estimate<Unit>& estimate, double added, double spread) {
    const double least = added * (added < 0 ? spread : 1 / spread);
    const double most = added * (added < 0 ? 1 / spread : spread);
    const auto plus = [](Unit bound, double more) { return Unit(std::max(0.0, bound.value() + more)); };
    return {plus(estimate.value, added), plus(estimate.low, least), plus(estimate.high, most)};
}

/// A kernel that runs again and again draws no more than the limit, and is as sure of its energy as of time and power
/// together. `cap_w` NaN: no limit is known.
void hold_within(double cap_w, OperationForecast& kernel) {
    Estimate<Watts>& power = kernel.power;
    const Estimate<Seconds>& time = kernel.cost.device_time;
    power.value = Watts(std::fmin(power.value.value(), cap_w));
    power.high = Watts(std::fmin(power.high.value(), meter_gain * cap_w));
    power.low = std::min(power.low, power.value);
    kernel.energy =
        within_log<Joules>((power.value * time.value).value(), std::hypot(log_half_width(time), log_half_width(power)));
}

}  // namespace

std::optional<std::string> refusal(Host host, const Device& device, Host measured) {
    if (host == measured) return std::nullopt;
    if (host == Host::graph && device.kind != Device::Kind::gpu)
        return "host graph needs a CUDA GPU, and " + device.id + " is a CPU. Use --host python or --host cpp";
    if (host == Host::compiled)
        return "host compiled cannot be forecast: compilers fuse operations, so other kernels run than were measured. "
               "Use "
               "--host python, cpp or graph";
    return std::nullopt;
}

double pace_of_hosts(const DeviceModel& device) {
    return device.unseen ? pace_of_hosts(*device.unseen, device.device) : 1;
}

HostExtra default_extra(const DeviceModel& device, Host host, Mode mode) {
    HostExtra extra;
    extra.host = host;
    extra.mode = mode;
    if (host == device.point.host) return extra;
    const Device::Kind kind = device.device.kind;
    extra.seconds_per_call =
        pace_of_hosts(device) * (issue_s(host, mode, kind) - issue_s(device.point.host, mode, kind));
    extra.sigma = device.unseen ? sigma_between_hosts : sigma_of_other_machines;
    return extra;
}

HostExtra host_extra(const DeviceModel& device, Host host, Mode mode) {
    if (const auto why = refusal(host, device.device, device.point.host)) throw Error(*why + ".");
    for (const HostExtra& extra : device.hosts) {
        if (extra.host == host && extra.mode == mode) return extra;
    }
    return default_extra(device, host, mode);
}

NetworkParts with_extra(NetworkParts parts, double seconds_per_call, const DeviceModel& device) {
    const double seconds = parts.calls * seconds_per_call;
    (is_gpu(device) ? parts.added_host_s : parts.added_device_s) = seconds;
    parts.added_j = seconds * issuing_watts(device);
    return parts;
}

void issue_from(DeviceModel& device, const Device& cpu) {
    if (!is_gpu(device)) throw Error(device.device.id + " is a CPU and issues its own calls. Leave out --host-cpu.");
    if (device.published)
        throw Error("the method " + description(device.published->method) +
                    " does not model the host CPU. Leave out --host-cpu.");
    if (cpu.kind != Device::Kind::cpu) throw Error(cpu.id + " is not a CPU.");
    const bool is_assumed = device.unseen && device.unseen->issue_pace == 0;
    device.issuer = Issuer{cpu.id, is_assumed ? pace_beside(device.device, cpu) : pace_after(device.point, cpu)};
}

NetworkParts issued_from(Host host, Mode mode, const DeviceModel& device, NetworkParts parts) {
    if (device.issuer) parts.pace = device.issuer->pace;
    if (host == device.point.host) return parts;
    const HostExtra extra = host_extra(device, host, mode);
    if (device.published) return parts;  // it knows no host
    if (host == Host::graph) return captured(mode, parts);
    parts.sigma_added = extra.sigma;
    return with_extra(parts, extra.seconds_per_call, device);
}

OperationForecast issued_from(Host host, const DeviceModel& device, OperationForecast operation) {
    const bool is_as_measured = host == device.point.host && !device.issuer;
    if (is_as_measured || family(operation.operation) == Family::symbolic) return operation;
    const std::int64_t count = std::exchange(operation.count, 1);
    NetworkParts parts = issued_from(host, mode(operation.operation), device, parts_of({&operation, 1}));
    operation.count = count;
    if (host == Host::graph) parts.added_host_s = 0;  // one launch for the whole loop
    Cost& cost = operation.cost;
    const double before = cost.device_time.value.value();
    const double after = composed_seconds(parts, {});
    // Nothing is issued in a graph: what is left is the kernel, known as well as the call was.
    const bool is_kernel_alone = host == Host::graph && !std::isnan(operation.kernel_s) && before > 0;
    cost.device_time = is_kernel_alone ? within_log<Seconds>(after, log_half_width(cost.device_time))
                                       : moved(cost.device_time, after - before,
                                               spread_90(std::hypot(parts.sigma_added, parts.pace.sigma)));
    if (is_gpu(device)) {
        const Seconds issuing(host_seconds(parts, {}));
        cost.host_time = {issuing, issuing, issuing};
    }
    if (!operation.energy.known() || !(before > 0)) return operation;
    const double watts = operation.power.value.value();
    cost.dynamic_energy = moved(cost.dynamic_energy, parts.added_j, 1);
    const double idle_w = power_facts_of(device).idle_w;
    operation.energy = moved(operation.energy, (after - before) * idle_w + parts.added_j, 1);
    const double scale = operation.energy.value.value() / after / watts;
    for (Watts* value : {&operation.power.value, &operation.power.low, &operation.power.high}) *value = *value * scale;
    if (is_kernel_alone) hold_within(power_facts_of(device).cap_w, operation);
    return operation;
}

}  // namespace joulecast
