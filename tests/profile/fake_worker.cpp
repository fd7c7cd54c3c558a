// A worker that computes its answers in place of measuring them, for tests of the sweep.
//   --crash-on TEXT         dies on an operation whose signature holds the text
//   --no-memory-from BATCH  is out of memory from that size of dimension 0 on
//   --nonsense-on TEXT      answers with a negative time
//   --signal-parent-on TEXT sends SIGINT to the sweep, as Ctrl-C in a terminal does, then dies of it
#include <unistd.h>

#include <csignal>
#include <string>

#include "joulecast/worker/serve.h"

namespace {

using namespace joulecast;

struct Behaviour {
    std::string crash_on, nonsense_on, signal_on;
    std::int64_t no_memory_from = INT64_MAX;
};

bool occurs(const std::string& text, const std::string& where) {
    return !text.empty() && where.find(text) != std::string::npos;
}

TimeSummary summary(double mean_s) {
    TimeSummary time;
    time.mean_s = time.median_s = mean_s;
    time.blocks = 2;
    time.converged = true;
    return time;
}

protocol::Capabilities capabilities() {
    protocol::Capabilities own;
    own.provenance.worker = "fake 1";
    own.provenance.framework = "none";
    own.provenance.machine = "none";
    own.provenance.governor = "unknown";
    own.device.id = "cpu-fake";
    own.device.display_name = "a fake CPU";
    own.device.units = 2;
    own.device_names = {"cpu"};
    own.dtypes = {Dtype::f32, Dtype::bf16};
    own.modes = {Mode::inference, Mode::training};
    own.measures_graphs = true;
    own.energy_missing_reason = "fakes have no meter";
    return own;
}

Measurement measure(const protocol::Measure& request, const Behaviour& behaviour) {
    Measurement result;
    result.operation = request.operation;
    result.asked = result.real = request.point;
    const std::string text = signature(request.operation);
    if (occurs(behaviour.crash_on, text)) ::raise(SIGKILL);
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
    if (occurs(behaviour.nonsense_on, text)) result.time.p05_s = -1;
    result.block_s = {result.time.mean_s, result.time.mean_s};
    result.wall_s = 0.001;
    result.energy_missing_reason = "fakes have no meter";
    return result;
}

NetworkMeasurement measure_graph(const protocol::MeasureGraph& request) {
    NetworkMeasurement result;
    result.asked = result.real = request.point;
    result.time = summary(1e-6 * static_cast<double>(request.graph.nodes.size()));
    result.wall_s = 0.001;
    return result;
}

}  // namespace

int main(int argc, char** argv) {
    Behaviour behaviour;
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i], value = argv[i + 1];
        if (option == "--crash-on") behaviour.crash_on = value;
        if (option == "--nonsense-on") behaviour.nonsense_on = value;
        if (option == "--signal-parent-on") behaviour.signal_on = value;
        if (option == "--no-memory-from") behaviour.no_memory_from = std::stoll(value);
    }
    const protocol::Service service{
        capabilities, [&](const protocol::Measure& request) { return measure(request, behaviour); }, measure_graph};
    return protocol::serve(service, STDIN_FILENO, STDOUT_FILENO);
}
