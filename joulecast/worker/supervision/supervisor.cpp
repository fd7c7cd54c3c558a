#include "joulecast/worker/supervision/supervisor.h"

#include <optional>
#include <thread>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/process/child_process.h"
#include "joulecast/worker/protocol.h"

namespace joulecast {

namespace {

/// Exit statuses that say nothing of the request: of ssh when its line is lost, and EX_TEMPFAIL of sysexits.h.
constexpr int line_lost = 255, machine_fails = 75;

std::string time_text(std::chrono::milliseconds time) {
    return time.count() % 1000 == 0 ? std::to_string(time.count() / 1000) + " s" : std::to_string(time.count()) + " ms";
}

/// Printable, and short enough for a message.
std::string excerpt(const std::string& text, std::size_t length = 120) {
    std::string result = text.substr(0, length);
    for (char& c : result) {
        if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
    }
    return text.size() > length ? result + "..." : result;
}

/// The last three lines in one: a shell adds its own word ("Killed") below what the worker said.
std::string last_words(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    std::size_t start = text.size();
    for (int line = 0; line < 3 && start != std::string::npos && start > 0; ++line) start = text.rfind('\n', start - 1);
    std::string last = start == std::string::npos || start == 0 ? text : text.substr(start + 1);
    for (auto end = last.find('\n'); end != std::string::npos; end = last.find('\n', end)) last.replace(end, 1, " | ");
    return excerpt(last, 400);
}

}  // namespace

class Supervisor::Process {
  public:
    explicit Process(Options options) : options_(std::move(options)) {}

    const protocol::Capabilities& capabilities() {
        ensure_started();
        return capabilities_;
    }
    const std::string& command() const { return options_.command; }
    int restarts() const { return starts_ > 0 ? starts_ - 1 : 0; }
    bool lost_without_blame() const { return lost_without_blame_; }

    /// The body of that kind in the worker's answer, its refusal, or what went wrong; then the worker is gone.
    template <class Answer, class Body>
    std::variant<Answer, protocol::Failure, std::string> ask(Body body, Timeout timeout);

    /// The answer, or why there is none; then the worker is gone. What one worker refuses, a fresh one may take.
    template <class Answer, class Body>
    std::variant<Answer, std::string> trial(Body body, Timeout timeout) {
        auto answer = ask<Answer>(std::move(body), timeout);
        if (const auto* failure = std::get_if<protocol::Failure>(&answer))
            return lose("the worker refused the request: " + excerpt(failure->message, 400));
        if (auto* lost = std::get_if<std::string>(&answer)) return std::move(*lost);
        return std::get<Answer>(std::move(answer));
    }

  private:
    void ensure_started();
    void start();
    [[noreturn]] void give_up(const std::string& why);
    std::string lose(const std::string& why);
    std::string describe_loss(const ChildProcess::Reply& reply, std::chrono::milliseconds timeout);

    Options options_;
    std::unique_ptr<ChildProcess> child_;
    protocol::Capabilities capabilities_;
    int starts_ = 0;
    bool lost_without_blame_ = false;
    std::int64_t asked_ = 0;
};

/// Ends the worker; `why` with how it ended and the last thing it said on standard error.
std::string Supervisor::Process::lose(const std::string& why) {
    std::string message = why;
    const std::string ending = child_->stop();
    const std::optional<int> status = child_->finish({});
    lost_without_blame_ = status == line_lost || status == machine_fails;
    if (why.ends_with("died")) message += " (" + ending + ")";
    const std::string said = last_words(child_->error_tail());
    if (!said.empty()) message += "; its last words: " + said;
    child_.reset();
    return message;
}

std::string Supervisor::Process::describe_loss(const ChildProcess::Reply& reply, std::chrono::milliseconds timeout) {
    switch (reply.ending) {
        case ChildProcess::Ending::timeout:
            return "the worker did not answer within " + time_text(timeout);
        case ChildProcess::Ending::too_long:
            return "the worker wrote a line that does not end";
        case ChildProcess::Ending::line:
            return "the worker wrote garbage: " + excerpt(reply.line);
        case ChildProcess::Ending::closed:
            break;
    }
    return "the worker died";
}

void Supervisor::Process::give_up(const std::string& why) {
    throw Error("cannot start the worker `" + options_.command + "`: " + lose(why) +
                ". Run the command by hand: it must answer {\"protocol\":1,\"id\":\"1\",\"request\":\"hello\"}; "
                "joulecast worker-check shows what it does wrong.");
}

void Supervisor::Process::ensure_started() {
    if (child_) return;
    if (starts_ == 0) return start();
    for (int attempt = 1;; ++attempt) {
        try {
            return start();
        } catch (const Error&) {
            if (attempt >= options_.restart_attempts) throw;
        }
        std::this_thread::sleep_for(options_.restart_wait * (attempt * attempt));
    }
}

void Supervisor::Process::start() {
    child_ = std::make_unique<ChildProcess>(options_.command, protocol::max_line_bytes);
    ++starts_;
    const std::string id = "hello-" + std::to_string(starts_);
    const auto reply = child_->exchange(protocol::to_line(protocol::Request{id, protocol::Hello{options_.device}}),
                                        options_.hello_timeout);
    if (reply.ending != ChildProcess::Ending::line) give_up(describe_loss(reply, options_.hello_timeout));
    protocol::Response response;
    try {
        response = protocol::parse_response(reply.line);
    } catch (const FormatError& error) {
        give_up("its first line was \"" + excerpt(reply.line) + "\": " + error.what());
    }
    if (const auto* failure = std::get_if<protocol::Failure>(&response.body)) give_up(failure->message);
    auto* hello = std::get_if<protocol::Capabilities>(&response.body);
    if (hello == nullptr || response.id != id) give_up("it answered something else: " + excerpt(reply.line));
    capabilities_ = std::move(*hello);
}

template <class Answer, class Body>
std::variant<Answer, protocol::Failure, std::string> Supervisor::Process::ask(Body body, Timeout wanted) {
    ensure_started();
    const std::string id = std::to_string(++asked_);
    const std::chrono::milliseconds timeout = wanted.value_or(options_.request_timeout);
    const auto reply = child_->exchange(protocol::to_line(protocol::Request{id, std::move(body)}), timeout);
    if (reply.ending != ChildProcess::Ending::line) return lose(describe_loss(reply, timeout));
    try {
        protocol::Response response = protocol::parse_response(reply.line);
        if (response.id != id) return lose("the worker answered request " + excerpt(response.id) + " instead of " + id);
        if (auto* failure = std::get_if<protocol::Failure>(&response.body)) return std::move(*failure);
        if (auto* answer = std::get_if<Answer>(&response.body)) return std::move(*answer);
        return lose("the worker answered with another kind of result: " + excerpt(reply.line));
    } catch (const FormatError& error) {
        return lose(describe_loss(reply, timeout) + " (" + error.what() + ")");
    }
}

Supervisor::Supervisor(Options options) : process_(std::make_unique<Process>(std::move(options))) {}
Supervisor::~Supervisor() = default;

const protocol::Capabilities& Supervisor::capabilities() {
    return process_->capabilities();
}

Measurement Supervisor::measure(const protocol::Measure& request, Timeout timeout) {
    auto answer = process_->trial<Measurement>(request, timeout);
    if (auto* measurement = std::get_if<Measurement>(&answer)) return std::move(*measurement);
    Measurement lost;
    lost.operation = request.operation;
    lost.asked = request.point;
    lost.real = request.point;
    lost.outcome = Outcome::crashed;
    lost.message = std::get<std::string>(answer);
    return lost;
}

NetworkMeasurement Supervisor::measure(const protocol::MeasureGraph& request, Timeout timeout) {
    auto answer = process_->trial<NetworkMeasurement>(request, timeout);
    if (auto* measurement = std::get_if<NetworkMeasurement>(&answer)) return std::move(*measurement);
    NetworkMeasurement lost;
    lost.model = request.graph.name;
    lost.symbols = symbol_values(request.graph);
    lost.mode = request.graph.mode;
    lost.optimizer = request.optimizer;
    lost.asked = request.point;
    lost.real = request.point;
    lost.outcome = Outcome::crashed;
    lost.message = std::get<std::string>(answer);
    return lost;
}

std::optional<protocol::Prepared> Supervisor::prepare(const protocol::Prepare& request, Timeout timeout) {
    auto answer = process_->ask<protocol::Prepared>(request, timeout);
    if (auto* prepared = std::get_if<protocol::Prepared>(&answer)) return std::move(*prepared);
    return std::nullopt;
}

protocol::TimedRuns Supervisor::time_runs(const protocol::TimeRuns& request, Timeout timeout) {
    auto answer = process_->ask<protocol::TimedRuns>(request, timeout);
    if (const auto* failure = std::get_if<protocol::Failure>(&answer))
        throw Error("the worker `" + process_->command() + "` refused a request: " + failure->message);
    if (const auto* lost = std::get_if<std::string>(&answer))
        throw Error("cannot time " + signature(request.operation) + ": " + *lost);
    auto runs = std::get<protocol::TimedRuns>(std::move(answer));
    if (runs.runs.size() != request.calls.size())
        throw Error("the worker `" + process_->command() + "` timed " + std::to_string(runs.runs.size()) + " of " +
                    std::to_string(request.calls.size()) + " runs");
    return runs;
}

bool Supervisor::lost_without_blame() const {
    return process_->lost_without_blame();
}

int Supervisor::restarts() const {
    return process_->restarts();
}

}  // namespace joulecast
