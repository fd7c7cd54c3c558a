#include "joulecast/worker/supervision/conformance.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/process/child_process.h"
#include "joulecast/worker/protocol.h"

namespace joulecast {

namespace {

using protocol::Response;

/// Why a claim does not hold.
class Broken : public Error {
  public:
    using Error::Error;
};

void expect(bool condition, const std::string& otherwise) {
    if (!condition) throw Broken(otherwise);
}

/// A conversation that starts anew when the worker was lost.
class Conversation {
  public:
    explicit Conversation(const ConformanceOptions& options) : options_(options) {}

    Response ask_raw(const std::string& line, std::chrono::milliseconds timeout) {
        if (!child_) child_ = std::make_unique<ChildProcess>(options_.command, protocol::max_line_bytes);
        const auto reply = child_->exchange(line, timeout);
        if (reply.ending == ChildProcess::Ending::line) {
            try {
                return protocol::parse_response(reply.line);
            } catch (const FormatError& error) {
                throw Broken(std::string(error.what()) + ": " + reply.line.substr(0, 100));
            }
        }
        const std::string ending = child_->stop();
        const std::string said = child_->error_tail();
        child_.reset();
        if (reply.ending == ChildProcess::Ending::timeout) throw Broken("no answer in time");
        if (reply.ending == ChildProcess::Ending::too_long) throw Broken("a line that does not end");
        throw Broken("it died (" + ending + ") " + said.substr(said.size() > 200 ? said.size() - 200 : 0));
    }

    template <class Body>
    Response ask(Body body) {
        const std::string id = "check-" + std::to_string(++asked_);
        Response response =
            ask_raw(protocol::to_line(protocol::Request{id, std::move(body)}), options_.request_timeout);
        expect(response.id == id, "the answer has the id \"" + response.id + "\" instead of \"" + id + "\"");
        return response;
    }

    Measurement measure(const std::string& signature) {
        const Response response = ask(protocol::Measure{parse_operation(signature), point(), quick()});
        const auto* measurement = std::get_if<Measurement>(&response.body);
        if (const auto* failure = std::get_if<protocol::Failure>(&response.body)) throw Broken(failure->message);
        if (measurement == nullptr) throw Broken("the answer is not a measurement");
        return *measurement;
    }

    protocol::Capabilities hello() {
        const Response response =
            ask_raw(protocol::to_line(protocol::Request{"hello", protocol::Hello{}}), options_.hello_timeout);
        const auto* capabilities = std::get_if<protocol::Capabilities>(&response.body);
        if (capabilities == nullptr) throw Broken("the answer is not a hello");
        expect(response.id == "hello", "the answer has the id \"" + response.id + "\"");
        device_ = capabilities->device.id;
        engine_ = capabilities->engine;
        if (!capabilities->hosts.empty()) host_ = capabilities->hosts.front();
        return *capabilities;
    }

    std::optional<int> quit() {
        if (!child_) hello();
        const auto reply =
            child_->exchange(protocol::to_line(protocol::Request{"quit", protocol::Quit{}}), options_.request_timeout);
        expect(reply.ending == ChildProcess::Ending::closed, "it went on after quit");
        return child_->finish(options_.request_timeout);
    }

    OperatingPoint point() const {
        OperatingPoint result;
        result.device = device_;
        result.engine = engine_;
        result.host = host_;
        return result;
    }
    static MeasureSettings quick() {
        MeasureSettings settings;
        settings.warm_up_s = 0.01;
        settings.time_budget_s = 0.05;
        return settings;
    }

  private:
    const ConformanceOptions& options_;
    std::unique_ptr<ChildProcess> child_;
    std::string device_ = "cpu";
    std::string engine_ = OperatingPoint{}.engine;
    Host host_ = Host::cpp;
    std::int64_t asked_ = 0;
};

constexpr const char* matmul = "aten::matmul(self=f32[64,64], other=f32[64,64])";
constexpr double result_bytes = 64.0 * 64.0 * 4.0;

void expect_timed(const Measurement& measurement) {
    const bool timed = is_timed(measurement.outcome);
    expect(timed, "outcome " + std::string(name(measurement.outcome)) + ": " + measurement.message);
    const TimeSummary& time = measurement.time;
    expect(time.mean_s > 0.0 && time.mean_s < 1.0, "mean time of " + std::to_string(time.mean_s) + " s");
    expect(time.blocks >= 1, "no blocks were kept");
    expect(time.p05_s <= time.median_s && time.median_s <= time.p95_s, "p05, median and p95 are not in order");
}

std::string microseconds(double seconds) {
    return std::to_string(seconds * 1e6).substr(0, 6) + " us";
}

std::string check_hello(Conversation& worker) {
    const auto capabilities = worker.hello();
    expect(!capabilities.provenance.worker.empty(), "provenance.worker is empty");
    expect(!capabilities.provenance.framework.empty(), "provenance.framework is empty");
    expect(!capabilities.provenance.session.empty(), "provenance.session is empty");
    expect(!capabilities.device_names.empty(), "device_names is empty");
    expect(!capabilities.dtypes.empty(), "dtypes is empty");
    expect(!capabilities.modes.empty(), "modes is empty");
    expect(capabilities.measures_energy || !capabilities.energy_missing_reason.empty(),
           "measures no energy and does not say why");
    const std::string& id = capabilities.device.id;
    expect(id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos,
           "device.id \"" + id + "\" has other characters than a-z, 0-9 and -");
    return capabilities.provenance.worker + ", " + capabilities.provenance.framework + ", " + id;
}

std::string check_same_device(Conversation& worker) {
    const std::string first = worker.hello().device.id;
    const std::string second = worker.hello().device.id;
    expect(first == second, "first \"" + first + "\", then \"" + second + "\"");
    return first;
}

std::string check_measure(Conversation& worker) {
    const Measurement measurement = worker.measure(matmul);
    expect_timed(measurement);
    expect(signature(measurement.operation) == matmul, "it measured " + signature(measurement.operation));
    expect(measurement.block_s.size() ==
               static_cast<std::size_t>(measurement.time.blocks + measurement.time.dropped_blocks),
           "block_s has " + std::to_string(measurement.block_s.size()) + " items, not blocks + dropped_blocks");
    expect(measurement.rotation >= 2, "it rotates over one set of tensors only: a hot cache");
    return microseconds(measurement.time.mean_s);
}

/// Of a claim that compares two times.
constexpr int most_tries = 4;

bool measures_in(Mode mode, const protocol::Capabilities& capabilities) {
    return std::ranges::find(capabilities.modes, mode) != capabilities.modes.end();
}

std::string check_training(Conversation& worker) {
    if (!measures_in(Mode::training, worker.hello())) return "says that it cannot";
    // Other programs on the machine only ever add time, so the fast ends count, and of the forward pass that of any
    // try.
    double forward_s = std::numeric_limits<double>::infinity();
    for (int tries = 0; tries < most_tries; ++tries) {
        const Measurement measurement = worker.measure("aten::matmul(self=f32[64,64]~, other=f32[64,64]~)");
        expect_timed(measurement);
        expect(measurement.forward.has_value(), "forward is missing");
        forward_s = std::min(forward_s, measurement.forward->p05_s);
        if (forward_s < measurement.time.p05_s)
            return microseconds(measurement.forward->mean_s) + " of " + microseconds(measurement.time.mean_s);
    }
    throw Broken("forward + backward is not longer than forward, " + std::to_string(most_tries) + " times");
}

std::string check_memory(Conversation& worker) {
    const double bytes = worker.measure(matmul).peak_memory_bytes;
    expect(bytes == bytes, "peak_memory_bytes is null");
    expect(bytes >= result_bytes && bytes <= 64.0 * result_bytes + (64 << 20),
           std::to_string(bytes) + " bytes for a result of " + std::to_string(result_bytes));
    return std::to_string(static_cast<std::int64_t>(bytes)) + " bytes";
}

std::string check_no_blocks(Conversation& worker) {
    MeasureSettings settings = Conversation::quick();
    settings.keep_blocks = false;
    settings.measure_hot = false;
    settings.measure_memory = false;
    const Response response = worker.ask(protocol::Measure{parse_operation(matmul), worker.point(), settings});
    const auto* measurement = std::get_if<Measurement>(&response.body);
    expect(measurement != nullptr, "the answer is not a measurement");
    expect(measurement->block_s.empty(), "block_s was sent");
    expect(!measurement->hot, "hot was measured");
    expect(!(measurement->peak_memory_bytes == measurement->peak_memory_bytes), "memory was measured");
    return "";
}

std::string check_unsupported(Conversation& worker) {
    const Measurement measurement = worker.measure("aten::no_such_operation(self=f32[8])");
    expect(measurement.outcome == Outcome::unsupported, "outcome " + std::string(name(measurement.outcome)));
    expect(!measurement.message.empty(), "no message says why");
    return measurement.message.substr(0, 80);
}

std::string check_wrong_shapes(Conversation& worker) {
    const Measurement measurement = worker.measure("aten::matmul(self=f32[8,3], other=f32[5,8])");
    expect(measurement.outcome == Outcome::unsupported, "outcome " + std::string(name(measurement.outcome)));
    return measurement.message.substr(0, 80);
}

std::string check_too_large(Conversation& worker) {
    const Measurement measurement = worker.measure("aten::relu(self=f32[1048576,1048576])");
    expect(measurement.outcome == Outcome::out_of_memory, "outcome " + std::string(name(measurement.outcome)));
    return measurement.message.substr(0, 80);
}

/// Optional: what counts is that it answers, and measures afterwards.
std::string check_prepare(Conversation& worker) {
    worker.hello();
    MeasureSettings settings = Conversation::quick();
    settings.longest_soak_s = 2;  // whether the device is warm does not matter here
    const Response response = worker.ask(protocol::Prepare{worker.point(), settings});
    std::string found;
    if (const auto* failure = std::get_if<protocol::Failure>(&response.body)) {
        expect(!failure->message.empty(), "the failure does not say why");
        found = "does not: " + failure->message.substr(0, 80);
    } else {
        const auto* prepared = std::get_if<protocol::Prepared>(&response.body);
        expect(prepared != nullptr, "the answer is neither prepared nor a failure");
        expect(!prepared->real.device.empty(), "real.device is empty");
        if (prepared->soak_s == prepared->soak_s)
            found = "soak of " + std::to_string(prepared->soak_s).substr(0, 4) + " s";
    }
    expect_timed(worker.measure(matmul));
    return found;
}

/// Optional too.
std::string check_time_runs(Conversation& worker) {
    worker.hello();
    const Response response =
        worker.ask(protocol::TimeRuns{parse_operation(matmul), worker.point(), Conversation::quick(), {1, 1000}});
    if (const auto* failure = std::get_if<protocol::Failure>(&response.body)) {
        expect(!failure->message.empty(), "the failure does not say why");
        return "does not: " + failure->message.substr(0, 80);
    }
    const auto* timed = std::get_if<protocol::TimedRuns>(&response.body);
    expect(timed != nullptr, "the answer is neither runs nor a failure");
    expect(timed->runs.size() == 2, std::to_string(timed->runs.size()) + " runs instead of 2");
    expect(timed->runs[0].runtime_s < timed->runs[1].runtime_s, "1000 calls take no longer than one");
    return microseconds(timed->runs[1].runtime_s) + " for " + std::to_string(timed->runs[1].calls) + " calls";
}

std::string check_failure(Conversation& worker, const std::string& line, const std::string& id) {
    worker.hello();
    const Response response = worker.ask_raw(line, std::chrono::milliseconds(60'000));
    const auto* failure = std::get_if<protocol::Failure>(&response.body);
    expect(failure != nullptr, "the answer is not a failure");
    expect(response.id == id, "the failure has the id \"" + response.id + "\" instead of \"" + id + "\"");
    worker.hello();
    return failure->message.substr(0, 80);
}

Graph small_graph(Mode mode) {
    const std::string mark = mode == Mode::training ? "~" : "";
    Graph graph;
    graph.name = "check";
    graph.mode = mode;
    graph.inputs = {{"x", GraphInput::Kind::user_input, {Dtype::f32, {8, 16}}, {}},
                    {"weight", GraphInput::Kind::parameter, {Dtype::f32, {4, 16}}, {}}};
    graph.inputs[1].type.requires_grad = mode == Mode::training;
    Node linear;
    linear.operation = parse_operation("aten::linear(input=f32[8,16], weight=f32[4,16]" + mark + ")");
    linear.inputs = {{-1, 0}, {-1, 1}};
    linear.outputs = {{Dtype::f32, {8, 4}, {}, mode == Mode::training}};
    Node relu;
    relu.operation = parse_operation("aten::relu(self=f32[8,4]" + mark + ")");
    relu.inputs = {{0, 0}};
    relu.outputs = linear.outputs;
    graph.nodes = {linear, relu};
    graph.outputs = {{1, 0}};
    return graph;
}

std::string check_graph(Conversation& worker, Mode mode) {
    const auto capabilities = worker.hello();
    if (!capabilities.measures_graphs || !measures_in(mode, capabilities)) return "says that it cannot";
    const Response response =
        worker.ask(protocol::MeasureGraph{small_graph(mode), worker.point(), Conversation::quick()});
    if (const auto* failure = std::get_if<protocol::Failure>(&response.body)) throw Broken(failure->message);
    const auto* network = std::get_if<NetworkMeasurement>(&response.body);
    expect(network != nullptr, "the answer is not a network");
    expect(is_timed(network->outcome), "outcome " + std::string(name(network->outcome)) + ": " + network->message);
    expect(network->mode == mode, "the answer is of another mode");
    const double held = 4.0 * (8 * 16 + 4 * 16);
    expect(network->resident_bytes == held, "resident_bytes " + std::to_string(network->resident_bytes));
    return microseconds(network->time.mean_s);
}

std::string check_quit(Conversation& worker) {
    const auto status = worker.quit();
    expect(status.has_value(), "the process did not end");
    expect(*status == 0, "exit status " + std::to_string(*status));
    return "";
}

}  // namespace

std::vector<Claim> check_worker(const ConformanceOptions& options) {
    Conversation worker(options);
    std::vector<Claim> claims;
    const auto claim = [&claims](const char* name, const std::function<std::string()>& check) {
        try {
            claims.push_back({name, true, check()});
        } catch (const Broken& broken) {
            claims.push_back({name, false, broken.what()});
        }
    };
    claim("hello names worker, framework, device and abilities", [&] { return check_hello(worker); });
    claim("the device keeps its id", [&] { return check_same_device(worker); });
    claim("an operation is timed, with its blocks", [&] { return check_measure(worker); });
    claim("it prepares, or says that it does not, and measures then", [&] { return check_prepare(worker); });
    claim("it times given numbers of calls, or says that it does not", [&] { return check_time_runs(worker); });
    claim("training is forward + backward, forward apart", [&] { return check_training(worker); });
    claim("peak memory holds at least the result", [&] { return check_memory(worker); });
    claim("what is switched off is not measured", [&] { return check_no_blocks(worker); });
    claim("an unknown operation is unsupported", [&] { return check_unsupported(worker); });
    claim("shapes that do not fit are unsupported", [&] { return check_wrong_shapes(worker); });
    claim("4 TB are out of memory", [&] { return check_too_large(worker); });
    claim("a line that is not JSON is a failure, and no more", [&] { return check_failure(worker, "{nonsense", ""); });
    claim("an unknown request is a failure",
          [&] { return check_failure(worker, R"({"protocol":1,"id":"odd","request":"dance"})", "odd"); });
    claim("another protocol version is refused",
          [&] { return check_failure(worker, R"({"protocol":999,"id":"old","request":"hello"})", "old"); });
    claim("a graph is run as a network", [&] { return check_graph(worker, Mode::inference); });
    claim("a graph is trained as a network", [&] { return check_graph(worker, Mode::training); });
    claim("quit ends the process with status 0", [&] { return check_quit(worker); });
    return claims;
}

}  // namespace joulecast
