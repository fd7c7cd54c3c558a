// A worker that computes its answers in place of measuring them, for tests of the sweep. Its calls per block are the
// milliseconds that it was asked to time.
//   --crash-on TEXT         dies on an operation whose signature holds the text
//   --full-on TEXT          ends with status 75 on such an operation, as where a disk is full
//   --release TEXT          says in hello that it is joulecast-fake of that release
//   --no-memory-from BATCH  is out of memory from that size of dimension 0 on
//   --nonsense-on TEXT      answers with a negative time
//   --negative-clock-on TEXT  answers that it ran at a negative clock
//   --endless-on TEXT         answers that it took 1e308 s
//   --refuses TEXT          refuses an operation by a failure of the protocol
//   --another-on TEXT       answers of another operation
//   --another-device-on TEXT  answers of another device
//   --drift FROM:TO:FACTOR  repeats of the reference operation with these numbers, from 1, take so much longer
//   --thermal-on TEXT       is throttled by heat the first time: takes twice as long and says so
//   --die-at-random SHARE   dies of that share of its requests
//   --breaks FILE           dies of everything from the operation [5,8] on, and so do its successors: FILE remembers
//   --prepares TEXT         prepares, with that remark, and has not settled
//   --elsewhere 1           says that it runs on another machine
//   --guard 1               holds the clocks of a card, by NVML and the guard that the environment names
//   --unsettled 1           its times never settle
//   --clocks 1              may set clocks and power limits
//   --gpu MHZ[:WATTS]       measures on a card that somebody else lets run at that clock, the reference at 0.8 of it
//   --gpu-later MHZ         and at that one from the second light operation on
//   --card ID               calls it so and tells no figures, as cuda:0
//   --framework TEXT        says so in hello
//   --kernel LAST           runs the nodes of a network up to that one in one kernel
//   --engine-of-answers E   says so in its measurements
//   --no-reference 1        cannot measure the reference operation
//   --signal-parent-on TEXT sends SIGINT to the sweep, as Ctrl-C in a terminal does, then dies of it
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "joulecast/error.h"
#include "joulecast/meter/clock_guard.h"
#include "joulecast/worker/serve.h"

namespace {

using namespace joulecast;

struct Behaviour {
    std::string crash_on, nonsense_on, signal_on, thermal_on, negative_clock_on, endless_on, refuses, another_on,
        another_device_on, full_on, release;
    long drift_from = 0, drift_to = -1;
    double drift_factor = 1;
    bool no_reference = false;
    bool clocks = false;
    bool unsettled = false;
    bool elsewhere = false;
    double gpu_mhz = 0, gpu_limit_w = 165, gpu_later_mhz = 0;
    long light = 0;
    std::string card;
    std::string framework = "none", engine_of_answers;
    std::string prepares;
    std::string breaks;
    double die_at_random = 0;
    std::unique_ptr<ClockGuard> guard;
    long references = 0;
    std::set<std::string> were_hot;
    std::int64_t no_memory_from = INT64_MAX;
    std::int32_t kernel = -1;
};

bool occurs(const std::string& text, const std::string& where) {
    return !text.empty() && where.find(text) != std::string::npos;
}

TimeSummary summary(double mean_s) {
    TimeSummary time;
    time.mean_s = time.median_s = mean_s;
    time.half_width_s = mean_s / 100;
    time.blocks = 2;
    time.effective_blocks = 2;
    time.converged = true;
    return time;
}

std::random_device& random_numbers() {
    static std::random_device numbers;
    return numbers;
}

/// The first card, whose clocks settle at once.
std::unique_ptr<ClockGuard> open_guard() {
    std::string why;
    const auto nvml = Nvml::open(default_nvml_library(), why);
    if (!nvml) throw Error(why);
    ClockGuard::Settings settings;
    settings.settle = {.equal_readings = 1, .poll_s = 0, .rest_s = 0, .limit_s = 1};
    return std::make_unique<ClockGuard>(nvml->gpus().at(0), settings);
}

protocol::Capabilities capabilities(const Behaviour& behaviour) {
    protocol::Capabilities own;
    own.provenance.worker = behaviour.release.empty() ? "fake 1" : "joulecast-fake " + behaviour.release;
    own.provenance.framework = behaviour.framework;
    own.provenance.machine = "none";
    own.provenance.governor = "unknown";
    own.device.id = "cpu-fake";
    own.device.display_name = "a fake CPU";
    own.device.units = 2;
    own.device_names = {"cpu"};
    if (behaviour.gpu_mhz > 0) own.device.kind = Device::Kind::gpu;
    if (!behaviour.card.empty()) {
        own.device = {};
        own.device.id = behaviour.card;
        own.device.kind = Device::Kind::gpu;
        own.device_names = {"cuda:0"};
    }
    own.dtypes = {Dtype::f32, Dtype::bf16};
    own.modes = {Mode::inference, Mode::training};
    own.measures_graphs = true;
    own.energy_missing_reason = "fakes have no meter";
    own.locks_clocks = behaviour.clocks;
    if (behaviour.elsewhere) own.boot_id = "another";
    own.clocks_missing_reason = "fakes have no clocks";
    return own;
}

Measurement measure(const protocol::Measure& request, Behaviour& behaviour) {
    Measurement result;
    result.operation = request.operation;
    result.asked = result.real = request.point;
    const std::string text = signature(request.operation);
    if (behaviour.gpu_mhz > 0) {
        if (text == "aten::relu(self=f32[1048576])" && ++behaviour.light == 2 && behaviour.gpu_later_mhz > 0)
            behaviour.gpu_mhz = behaviour.gpu_later_mhz;
        const bool is_heavy = request.operation.target == "aten::mm";
        result.real.sm_clock_mhz = (is_heavy ? 0.8 : 1) * behaviour.gpu_mhz;
        result.real.power_limit_w = behaviour.gpu_limit_w;
    }
    if (!behaviour.engine_of_answers.empty()) result.real.engine = behaviour.engine_of_answers;
    if (occurs(behaviour.crash_on, text)) ::raise(SIGKILL);
    if (occurs(behaviour.full_on, text)) {
        std::cerr << "fake: the disk of board is full\n";
        std::_Exit(75);
    }
    if (!behaviour.breaks.empty()) {
        if (occurs("[5,8]", text)) std::ofstream(behaviour.breaks) << "broken";
        if (std::ifstream(behaviour.breaks)) ::raise(SIGKILL);
    }
    if (std::uniform_real_distribution<>(0, 1)(random_numbers()) < behaviour.die_at_random) ::raise(SIGKILL);
    if (behaviour.guard) result.real = behaviour.guard->hold(request.point).real;
    if (occurs(behaviour.signal_on, text)) {
        ::kill(::getppid(), SIGINT);
        ::raise(SIGKILL);
    }
    const auto all = tensors(request.operation);
    const std::int64_t batch = all.empty() || all[0]->sizes.empty() ? 1 : all[0]->sizes[0];
    if (batch >= behaviour.no_memory_from) {
        result.outcome = Outcome::out_of_memory;
        result.message = "cannot allocate";
        return result;
    }
    result.time = summary(1e-6 * static_cast<double>(batch));
    if (request.operation.target == "aten::mm") {
        if (behaviour.no_reference) {
            result.outcome = Outcome::unsupported;
            result.message = "no products here";
            return result;
        }
        ++behaviour.references;
        if (behaviour.references >= behaviour.drift_from && behaviour.references <= behaviour.drift_to)
            result.time = summary(1e-6 * static_cast<double>(batch) * behaviour.drift_factor);
    }
    if (occurs(behaviour.thermal_on, text)) {
        const bool is_first = behaviour.were_hot.insert(text).second;
        result.conditions.limited_by = is_first ? LimitedBy::thermal : LimitedBy::none;
        if (is_first) result.time = summary(2 * result.time.mean_s);
    }
    if (occurs(behaviour.nonsense_on, text)) result.time.p05_s = -1;
    if (occurs(behaviour.negative_clock_on, text)) result.real.sm_clock_mhz = -900;
    if (occurs(behaviour.endless_on, text)) result.time.mean_s = result.time.median_s = 1e308;
    if (occurs(behaviour.refuses, text)) throw Error("not this one");
    if (occurs(behaviour.another_on, text)) result.operation = parse_operation("aten::relu(self=f32[999])");
    if (occurs(behaviour.another_device_on, text)) result.real.device = "h200";
    result.time.calls_per_block = std::llround(1000 * request.settings.time_budget_s);
    result.time.converged = !behaviour.unsettled;
    result.block_s = {result.time.mean_s, result.time.mean_s};
    result.wall_s = 0.001;
    result.energy_missing_reason = "fakes have no meter";
    return result;
}

NetworkMeasurement measure_graph(const protocol::MeasureGraph& request, const Behaviour& behaviour) {
    NetworkMeasurement result;
    result.asked = result.real = request.point;
    result.optimizer = request.optimizer;
    const auto batch = request.graph.symbols.find("batch");
    if (batch != request.graph.symbols.end() && batch->second.value >= behaviour.no_memory_from) {
        result.outcome = Outcome::out_of_memory;
        result.message = "cannot allocate";
        return result;
    }
    if (behaviour.kernel >= 0) {
        result.kernels = {{"Fused", {}}};
        for (std::int32_t node = 0; node <= behaviour.kernel; ++node) result.kernels[0].operations.push_back(node);
    }
    result.time = summary(1e-6 * static_cast<double>(request.graph.nodes.size()));
    result.time.calls_per_block = std::llround(1000 * request.settings.time_budget_s);
    result.wall_s = 0.001;
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    Behaviour behaviour;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i], value = argv[i + 1];
        if (option == "--crash-on") behaviour.crash_on = value;
        if (option == "--full-on") behaviour.full_on = value;
        if (option == "--release") behaviour.release = value;
        if (option == "--nonsense-on") behaviour.nonsense_on = value;
        if (option == "--negative-clock-on") behaviour.negative_clock_on = value;
        if (option == "--endless-on") behaviour.endless_on = value;
        if (option == "--refuses") behaviour.refuses = value;
        if (option == "--another-on") behaviour.another_on = value;
        if (option == "--another-device-on") behaviour.another_device_on = value;
        if (option == "--signal-parent-on") behaviour.signal_on = value;
        if (option == "--thermal-on") behaviour.thermal_on = value;
        if (option == "--breaks") behaviour.breaks = value;
        if (option == "--prepares") behaviour.prepares = value;
        if (option == "--elsewhere") behaviour.elsewhere = true;
        if (option == "--unsettled") behaviour.unsettled = true;
        if (option == "--clocks") behaviour.clocks = true;
        if (option == "--gpu" && std::sscanf(value.c_str(), "%lf:%lf", &behaviour.gpu_mhz, &behaviour.gpu_limit_w) < 1)
            return 2;
        if (option == "--gpu-later") behaviour.gpu_later_mhz = std::stod(value);
        if (option == "--card") behaviour.card = value;
        if (option == "--framework") behaviour.framework = value;
        if (option == "--engine-of-answers") behaviour.engine_of_answers = value;
        if (option == "--kernel") behaviour.kernel = std::stoi(value);
        if (option == "--guard") behaviour.guard = open_guard();
        if (option == "--die-at-random") behaviour.die_at_random = std::stod(value);
        if (option == "--no-reference") behaviour.no_reference = true;
        if (option == "--drift" && std::sscanf(value.c_str(), "%ld:%ld:%lf", &behaviour.drift_from, &behaviour.drift_to,
                                               &behaviour.drift_factor) != 3)
            return 2;
        if (option == "--no-memory-from") behaviour.no_memory_from = std::stoll(value);
    }
    protocol::Service service{[&] { return capabilities(behaviour); },
                              [&](const protocol::Measure& request) { return measure(request, behaviour); },
                              [&](const protocol::MeasureGraph& request) { return measure_graph(request, behaviour); }};
    if (!behaviour.prepares.empty())
        service.prepare = [&](const protocol::Prepare& request) {
            protocol::Prepared prepared;
            prepared.real = request.point;
            prepared.temperature_c = 71;
            prepared.settled = false;
            prepared.message = behaviour.prepares;
            return prepared;
        };
    return protocol::serve(service, STDIN_FILENO, STDOUT_FILENO);
}
