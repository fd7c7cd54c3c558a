// A worker that measures nothing, for the tests of those who talk to workers. Its argument says how its process
// behaves; once it serves, operations of namespace fake:: say what becomes of it.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/worker/serve.h"

namespace {

using namespace joulecast;

TimeSummary some_time(double seconds) {
    return {seconds, seconds, 0.001 * seconds, seconds, seconds, 50, 50, 0, 10, true};
}

void say(const std::string& line) {
    std::fputs((line + "\n").c_str(), stdout);
    std::fflush(stdout);
}

[[noreturn]] void hang() {
    while (true) ::pause();
}

Measurement measure(const protocol::Measure& request) {
    const std::string& target = request.operation.target;
    if (target == "fake::die") {
        std::fputs("fake worker: this is the end\n", stderr);
        std::raise(SIGKILL);
    }
    if (target == "fake::exit") std::_Exit(7);
    if (target == "fake::hang") hang();
    if (target == "fake::garbage") say("Segmentation fault (core dumped)");
    if (target == "fake::half_line") {
        std::fputs("{\"protocol\":1,", stdout);
        std::fflush(stdout);
        std::_Exit(0);
    }
    if (target == "fake::wrong_id") say(protocol::to_line(protocol::Response{"other", protocol::Failure{"?"}}));
    if (target == "fake::refuse") throw Error("no such device");
    Measurement measurement;
    measurement.operation = request.operation;
    measurement.asked = request.point;
    measurement.real = request.point;
    measurement.rotation = 2;
    if (target.starts_with("aten::no_such")) {
        measurement.outcome = Outcome::unsupported;
        measurement.message = "no such operation";
        return measurement;
    }
    const bool training = mode(request.operation) == Mode::training;
    measurement.time = some_time(training ? 3e-6 : 1e-6);
    if (training) measurement.forward = some_time(1e-6);
    if (request.settings.keep_blocks) measurement.block_s.assign(50, 1e-6);
    if (request.settings.measure_memory) measurement.peak_memory_bytes = 16384;
    return measurement;
}

NetworkMeasurement measure_graph(const protocol::MeasureGraph& request) {
    NetworkMeasurement measurement;
    measurement.model = request.graph.name;
    measurement.mode = request.graph.mode;
    measurement.time = some_time(1e-3);
    measurement.resident_bytes = 768;
    if (request.graph.name == "dies") std::_Exit(9);
    return measurement;
}

/// 0.1 us a call, 1 us more or less by turns, and 10 us more for runs of fewer than ten calls.
protocol::TimedRuns time_runs(const protocol::TimeRuns& request) {
    if (request.operation.target == "fake::refuse") throw Error("no such device");
    protocol::TimedRuns timed;
    for (const std::int64_t calls : request.calls) {
        const double more_s = (calls < 10 ? 1e-5 : 0.0) + (calls % 2 == 0 ? 1e-6 : -1e-6);
        timed.runs.push_back({calls, 1e-7 * static_cast<double>(calls) + (calls > 1 ? more_s : 1e-5)});
    }
    return timed;
}

protocol::Capabilities hello() {
    protocol::Capabilities capabilities;
    capabilities.provenance.session = std::to_string(::getpid());
    capabilities.provenance.started = "2026-01-01T00:00:00Z";
    capabilities.provenance.worker = "fake 1";
    capabilities.provenance.framework = "none";
    capabilities.device.id = "cpu-fake-1c";
    capabilities.device_names = {"cpu"};
    capabilities.dtypes = {Dtype::f32};
    capabilities.modes = {Mode::inference, Mode::training};
    capabilities.measures_graphs = true;
    capabilities.energy_missing_reason = "nothing is measured here";
    return capabilities;
}

}  // namespace

int main(int count, char** words) {
    const std::string behaviour = count > 1 ? words[1] : "serve";
    if (behaviour == "exit") {
        std::fputs("fake worker: libtorch_cpu.so: cannot open shared object file\n", stderr);
        return 127;
    }
    if (behaviour == "hang") hang();
    if (behaviour == "chat") say("Welcome to board 7!");
    if (behaviour == "version") say(R"({"protocol":2,"id":"hello-1","response":"hello","hello":{}})");
    if (behaviour == "deaf") {
        ::close(STDIN_FILENO);
        hang();
    }
    protocol::Service service;
    service.hello = hello;
    service.measure = measure;
    service.measure_graph = measure_graph;
    if (behaviour == "infers") {
        service.hello = [] {
            protocol::Capabilities capabilities = hello();
            capabilities.modes = {Mode::inference};
            return capabilities;
        };
        service.measure_graph = [](const protocol::MeasureGraph& request) {
            NetworkMeasurement measurement = measure_graph(request);
            if (request.graph.mode == Mode::training) measurement.outcome = Outcome::unsupported;
            return measurement;
        };
    }
    service.time_runs = time_runs;
    return protocol::serve(service, STDIN_FILENO, STDOUT_FILENO);
}
