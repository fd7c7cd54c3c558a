#include "joulecast/forecast/hosts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/train/train.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

DeviceModel device(Device::Kind kind, Host host) {
    DeviceModel model;
    model.device.id = kind == Device::Kind::gpu ? "a-gpu" : "a-cpu";
    model.device.kind = kind;
    model.point.host = host;
    model.point.threads = 2;
    return model;
}

/// 100 calls, 80 of them kernels; `host_s` of issuing beside a second of computing.
NetworkParts parts(double host_s) {
    NetworkParts p;
    p.host_s = host_s;
    p.device_s = 1;
    p.calls = 100;
    p.untold_kernels = 80;
    p.dynamic_j = 10;
    return p;
}

OperationForecast call(const char* text, double device_s, double host_s) {
    OperationForecast one;
    one.operation = parse_operation(text);
    one.cost.device_time = {Seconds(device_s), Seconds(device_s / 1.1), Seconds(device_s * 1.1)};
    one.cost.host_time = {Seconds(host_s), Seconds(host_s), Seconds(host_s)};
    return one;
}

TEST(Hosts, ChangeNothingForTheHostThatWasMeasured) {
    for (const Host host : {Host::python, Host::cpp, Host::graph, Host::compiled}) {
        const DeviceModel model = device(Device::Kind::gpu, host);
        EXPECT_EQ(host_extra(model, host, Mode::training).seconds_per_call, 0);
        EXPECT_NEAR(composed_seconds(issued_from(host, Mode::training, model, parts(0.5)), {}),
                    composed_seconds(parts(0.5), {}), 1e-15);
    }
}

TEST(Hosts, AddToTheSumOnACpuWhateverItsFactor) {
    DeviceModel cpu = device(Device::Kind::cpu, Host::cpp);
    cpu.hosts = {{Host::python, Mode::inference, 2e-3, 0.2, 5}};
    const NetworkParts from_python = issued_from(Host::python, Mode::inference, cpu, parts(0));
    NetworkCorrection half;
    half.factor = 0.5;
    EXPECT_NEAR(composed_seconds(from_python, half), 0.5 * 1 + 100 * 2e-3, 1e-12);
    EXPECT_EQ(host_seconds(from_python, half), 0) << "a CPU computes where it issues";
    // Of 0.7 s, 0.2 s are Python's: an error of a tenth of them is 2 / 70 of all.
    EXPECT_NEAR(share_of_added(from_python, half), 0.2 / 0.7, 1e-12);
    // The other mode was not measured.
    EXPECT_EQ(host_extra(cpu, Host::python, Mode::inference).networks, 5);
    EXPECT_EQ(host_extra(cpu, Host::python, Mode::training).networks, 0);
}

TEST(Hosts, HideBehindTheDeviceOnAGpu) {
    DeviceModel gpu = device(Device::Kind::gpu, Host::cpp);
    gpu.hosts = {{Host::python, Mode::inference, 5e-3, 0.2, 5}};
    // 0.1 + 0.5 s of issuing beside 1 s of computing: (0.6^8 + 1)^(1/8) = 1.0021.
    const NetworkParts hidden = issued_from(Host::python, Mode::inference, gpu, parts(0.1));
    EXPECT_NEAR(composed_seconds(hidden, {}), std::pow(std::pow(0.6, 8) + 1, 0.125), 1e-12);
    EXPECT_LT(share_of_added(hidden, {}), 0.02);
    // Twice as much issuing decides: (2.6^8 + 1)^(1/8).
    gpu.hosts[0].seconds_per_call = 25e-3;
    const NetworkParts issuing = issued_from(Host::python, Mode::inference, gpu, parts(0.1));
    EXPECT_NEAR(composed_seconds(issuing, {}), std::pow(std::pow(2.6, 8) + 1, 0.125), 1e-12);
    EXPECT_NEAR(share_of_added(issuing, {}), 2.5 / 2.6, 0.001);
}

TEST(Hosts, AreNeverTakenForNothingWhereTheyWereNotMeasured) {
    // Above what was measured from C++: Python's 8 us, 30 in training. Above a graph: C++'s 5 us a kernel, three in
    // training.
    const auto extra = [](Host measured, Host asked, Mode mode) {
        return host_extra(device(Device::Kind::gpu, measured), asked, mode).seconds_per_call;
    };
    EXPECT_NEAR(extra(Host::cpp, Host::python, Mode::inference), 8e-6, 1e-12);
    EXPECT_NEAR(extra(Host::python, Host::cpp, Mode::inference), -8e-6, 1e-12);
    EXPECT_NEAR(extra(Host::graph, Host::cpp, Mode::inference), 5e-6, 1e-12);
    EXPECT_NEAR(extra(Host::graph, Host::python, Mode::training), 15e-6 + 30e-6, 1e-12);
    const HostExtra carried = host_extra(device(Device::Kind::cpu, Host::cpp), Host::python, Mode::training);
    EXPECT_EQ(carried.networks, 0);
    EXPECT_NEAR(carried.seconds_per_call, 10e-6 + 8e-6 - 10e-6, 1e-12);  // beside no GPU
    EXPECT_EQ(carried.sigma, 0.5);                                       // 90 % within a factor of exp(1.645 / 2) = 2.3
}

TEST(Hosts, ThatAreQuickerLeaveATenth) {
    DeviceModel cpu = device(Device::Kind::cpu, Host::python);
    cpu.hosts = {{Host::cpp, Mode::inference, -2e-3, 0.2, 5}};
    EXPECT_NEAR(composed_seconds(issued_from(Host::cpp, Mode::inference, cpu, parts(0)), {}), 0.8, 1e-12);
    cpu.hosts[0].seconds_per_call = -20e-3;
    EXPECT_NEAR(composed_seconds(issued_from(Host::cpp, Mode::inference, cpu, parts(0)), {}), 0.1, 1e-12);
}

TEST(Hosts, OfAGraphIssueOnce) {
    const DeviceModel gpu = device(Device::Kind::gpu, Host::python);
    const NetworkParts captured = issued_from(Host::graph, Mode::inference, gpu, parts(5));
    EXPECT_NEAR(host_seconds(captured, {}), 10e-6, 1e-12);
    // A second of computing, and 2 us for each of the 80 kernels of which nobody knows what issuing them hid.
    EXPECT_NEAR(composed_seconds(captured, {}), 1 + 80 * 2e-6, 1e-12);
}

TEST(Hosts, ThatNothingIsKnownOfAreRefused) {
    const DeviceModel cpu = device(Device::Kind::cpu, Host::cpp);
    EXPECT_THAT(refusal(Host::graph, cpu.device, Host::cpp).value(), HasSubstr("needs a CUDA GPU, and a-cpu is a CPU"));
    EXPECT_THAT(refusal(Host::compiled, cpu.device, Host::cpp).value(), HasSubstr("fuse operations"));
    EXPECT_FALSE(refusal(Host::graph, device(Device::Kind::gpu, Host::cpp).device, Host::cpp));
    EXPECT_THROW(issued_from(Host::graph, Mode::inference, cpu, parts(0)), Error);
}

TEST(Hosts, DrawThePowerOfOneThreadOnACpuAndThatOfWaitingOnAGpu) {
    for (const auto kind : {Device::Kind::cpu, Device::Kind::gpu}) {
        DeviceModel model = device(kind, Host::cpp);
        model.power.idle_w = 20;
        model.power.busy_w = 60;
        model.hosts = {{Host::python, Mode::inference, 2e-3, 0.2, 5}};
        const NetworkParts from_python = issued_from(Host::python, Mode::inference, model, parts(0));
        // 0.2 s at half of the 40 W that two threads draw above idle.
        EXPECT_NEAR(from_python.added_j, kind == Device::Kind::cpu ? 0.2 * 20 : 0, 1e-12);
        EXPECT_NEAR(composed_joules(from_python, {}, model.power, 2), 20 * 2 + 10 + from_python.added_j, 1e-12);
    }
}

// A device whose power is known from its data sheet alone had no idle power here, and every call took 0 J.
TEST(Hosts, DrawTheSheetsIdlePowerOnAGpuThatWasNeverMetered) {
    DeviceModel gpu;
    gpu.device = find_device("h100-sxm");
    gpu.point.host = Host::python;
    gpu.call_overhead_s = 4e-6;
    const Operation relu = parse_operation("aten::relu(self=f32[8])");
    const OperationForecast before = forecast_operation(gpu, all_columns(), prepare(relu, gpu), {});
    ASSERT_GT(before.energy.value.value(), 0);
    for (const Host host : {Host::cpp, Host::graph}) {
        const OperationForecast after = issued_from(host, gpu, before);
        const double saved_s = (before.cost.device_time.value - after.cost.device_time.value).value();
        EXPECT_GT(saved_s, 0);
        // The GPU waits for less long, and while it waits it draws what it draws idle.
        EXPECT_NEAR(after.energy.value.value(), before.energy.value.value() - saved_s * gpu.device.idle_w, 1e-12);
        EXPECT_NEAR(after.power.value.value(), after.energy.value.value() / after.cost.device_time.value.value(), 1e-6);
    }
}

TEST(Hosts, AddToEveryCallAlone) {
    DeviceModel cpu = device(Device::Kind::cpu, Host::cpp);
    cpu.hosts = {{Host::python, Mode::inference, 4e-6, 0, 5}};
    const auto relu = issued_from(Host::python, cpu, call("aten::relu(self=f32[8])", 11e-6, 0));
    EXPECT_NEAR(relu.cost.device_time.value.value(), 15e-6, 1e-15);
    EXPECT_NEAR(relu.cost.device_time.low.value(), 14e-6, 1e-15);
    EXPECT_EQ(relu.cost.host_time.value.value(), 0);
    DeviceModel gpu = device(Device::Kind::gpu, Host::cpp);
    gpu.hosts = {{Host::python, Mode::inference, 8e-6, 0, 5}};
    // All of its 2 us are issuing: 8 more.
    const auto issuing = issued_from(Host::python, gpu, call("aten::relu(self=f32[8])", 2e-6, 2e-6));
    EXPECT_NEAR(issuing.cost.device_time.value.value(), 10e-6, 1e-15);
    EXPECT_NEAR(issuing.cost.host_time.value.value(), 10e-6, 1e-15);
    // A millisecond of computing hides them.
    const auto computing = issued_from(Host::python, gpu, call("aten::relu(self=f32[8])", 1e-3, 2e-6));
    EXPECT_NEAR(computing.cost.device_time.value.value(), 1e-3, 1e-9);
    // Captured, a call that is all issuing is 2 us of the graph.
    const auto captured = issued_from(Host::graph, gpu, call("aten::relu(self=f32[8])", 9e-6, 9e-6));
    EXPECT_NEAR(captured.cost.device_time.value.value(), 2e-6, 1e-15);
}

TEST(Hosts, OfAGraphTakeNothingBetweenKernelsThatAreKnown) {
    DeviceModel gpu = device(Device::Kind::gpu, Host::python);
    gpu.power.idle_w = 20;
    gpu.power.busy_w = 100;
    OperationForecast relu = call("aten::relu(self=f32[8])", 30e-6, 28e-6);
    relu.cost.device_time = {Seconds(30e-6), Seconds(20e-6), Seconds(45e-6)};
    relu.kernel_s = 1.5e-6;
    relu.power = {Watts(100), Watts(80), Watts(125)};
    relu.energy = {Joules(3e-3), Joules(1e-3), Joules(9e-3)};
    const auto captured = issued_from(Host::graph, gpu, relu);
    EXPECT_NEAR(captured.cost.device_time.value.value(), 1.5e-6, 1e-15);
    EXPECT_NEAR(captured.cost.device_time.low.value(), 1e-6, 1e-12);
    EXPECT_NEAR(captured.cost.device_time.high.value(), 2.25e-6, 1e-12);
    // As sure of its energy as of time and power together.
    const double half = std::hypot(std::log(1.5), std::log(1.25));
    EXPECT_NEAR(captured.energy.high / captured.energy.value, std::exp(half), 1e-9);
    EXPECT_NEAR(captured.energy.value / captured.energy.low, std::exp(half), 1e-9);
    // All that the call drew above idle is the kernel's, and no more than the card may draw.
    EXPECT_NEAR(captured.power.value.value(), (3e-3 - 28.5e-6 * 20) / 1.5e-6, 1e-6);
    gpu.power.cap_w = 300;
    const auto held = issued_from(Host::graph, gpu, relu);
    EXPECT_EQ(held.power.value.value(), 300);
    EXPECT_EQ(held.power.high.value(), 315);
    EXPECT_NEAR(held.energy.value.value(), 300 * 1.5e-6, 1e-12);
}

Device cpu_of(const std::string& id, double mhz) {
    Device cpu;
    cpu.id = id;
    cpu.kind = Device::Kind::cpu;
    cpu.architecture = "zen3";
    cpu.boost_clock_mhz = mhz;
    return cpu;
}

TEST(Hosts, IssueAtThePaceOfTheCpuAskedFor) {
    DeviceModel gpu = device(Device::Kind::gpu, Host::cpp);
    gpu.point.host_cpu = "cpu-amd-epyc-7763-64c";
    gpu.hosts = {{Host::python, Mode::inference, 5e-3, 0.2, 5}};
    issue_from(gpu, cpu_of("half-as-fast", 1750));  // the data sheet of the other has 3500 MHz
    ASSERT_TRUE(gpu.issuer.has_value());
    EXPECT_EQ(gpu.issuer->cpu, "half-as-fast");
    EXPECT_NEAR(gpu.issuer->pace.factor, 2, 1e-12);
    EXPECT_EQ(gpu.issuer->pace.sigma, 0.2);
    // The host that was measured, and another one: both take twice as long, the device as long as before.
    EXPECT_NEAR(host_seconds(issued_from(Host::cpp, Mode::inference, gpu, parts(0.5)), {}), 1, 1e-12);
    const NetworkParts from_python = issued_from(Host::python, Mode::inference, gpu, parts(0.5));
    EXPECT_NEAR(host_seconds(from_python, {}), 2 * (0.5 + 100 * 5e-3), 1e-12);
    EXPECT_NEAR(device_seconds(from_python, {}), 1, 1e-12);
    EXPECT_NEAR(composed_seconds(from_python, {}), std::pow(std::pow(2, 8) + 1, 0.125), 1e-12);
    // T^8 = H^8 + D^8: d log T / d log H = (H / T)^8.
    EXPECT_NEAR(share_of_host(from_python, {}), std::pow(2, 8) / (std::pow(2, 8) + 1), 0.001);
    // 2 us of issuing hide behind a millisecond, and are all of a call that computes nothing.
    const auto issuing = issued_from(Host::cpp, gpu, call("aten::relu(self=f32[8])", 2e-6, 2e-6));
    EXPECT_NEAR(issuing.cost.device_time.value.value(), 4e-6, 1e-15);
    const auto computing = issued_from(Host::cpp, gpu, call("aten::relu(self=f32[8])", 1e-3, 2e-6));
    EXPECT_NEAR(computing.cost.device_time.value.value(), 1e-3, 1e-9);
}

TEST(Hosts, WalkTheTimelineAtThePaceOfTheCpuAskedFor) {
    DeviceModel gpu = device(Device::Kind::gpu, Host::cpp);
    gpu.point.host_cpu = "cpu-amd-epyc-7763-64c";
    NetworkParts two = parts(0.6);
    two.steps = {{0.3, 0.1, 0.5, false}, {0.3, 0.9, 0.5, false}};
    EXPECT_NEAR(composed_seconds(two, {}), 0.6 + 0.9, 1e-12);
    issue_from(gpu, cpu_of("half-as-fast", 1750));
    const NetworkParts slower = issued_from(Host::cpp, Mode::inference, gpu, two);
    EXPECT_NEAR(composed_seconds(slower, {}), 1.2 + 0.9, 1e-12);
    EXPECT_NEAR(composed_timeline(slower, {}).issue_end_s.at(1), 1.2, 1e-12);
}

TEST(Hosts, AreAGuessWhereNobodyToldTheCpuThatWasMeasured) {
    DeviceModel gpu = device(Device::Kind::gpu, Host::python);
    issue_from(gpu, cpu_of("some", 3500));
    EXPECT_EQ(gpu.issuer->pace.sigma, 0.4);
}

TEST(Hosts, AreCpusThatIssueToGpus) {
    DeviceModel cpu = device(Device::Kind::cpu, Host::cpp);
    EXPECT_THROW(issue_from(cpu, cpu_of("some", 3500)), Error);
    DeviceModel gpu = device(Device::Kind::gpu, Host::cpp);
    EXPECT_THROW(issue_from(gpu, find_device("h100-sxm")), Error);
}

}  // namespace
}  // namespace joulecast
