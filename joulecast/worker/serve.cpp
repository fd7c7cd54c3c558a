#include "joulecast/worker/serve.h"

#include <cerrno>
#include <exception>
#include <fstream>
#include <new>
#include <utility>

#include <unistd.h>

#include "joulecast/units/bounded_json.h"
#include "joulecast/worker/json_field.h"

namespace joulecast::protocol {

namespace {

/// The id of a line that is otherwise wrong, so that the asker can match the failure to its request.
std::string id_of(const std::string& line) {
    const Json json = parse_bounded_or_null(line, {.depth = 64});
    if (!json.is_object()) return "";
    const auto id = json.find("id");
    return id != json.end() && id->is_string() ? id->get<std::string>() : "";
}

struct Answer {
    const Service& service;
    Response& response;

    bool operator()(const Hello& request) const {
        const bool of_one = !request.device.empty() && service.hello_of;
        Capabilities capabilities = of_one ? service.hello_of(request.device) : service.hello();
        if (capabilities.boot_id.empty()) capabilities.boot_id = this_boot_id();
        response.body = std::move(capabilities);
        return true;
    }
    bool operator()(const Measure& request) const {
        response.body = service.measure(request);
        return true;
    }
    bool operator()(const MeasureGraph& request) const {
        response.body = service.measure_graph(request);
        return true;
    }
    bool operator()(const Prepare& request) const {
        if (!service.prepare) throw Error("this worker has nothing to prepare");
        response.body = service.prepare(request);
        return true;
    }
    bool operator()(const TimeRuns& request) const {
        if (!service.time_runs) throw Error("this worker times no runs of a given number of calls");
        response.body = service.time_runs(request);
        return true;
    }
    bool operator()(const Quit&) const { return false; }
};

bool write_all(int file, const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t count = ::write(file, text.data() + written, text.size() - written);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        written += static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace

std::string this_boot_id() {
    std::ifstream file("/proc/sys/kernel/random/boot_id");
    std::string id;
    std::getline(file, id);
    return id.substr(0, 64);
}

std::optional<std::string> answer(const Service& service, const std::string& line) {
    Response response;
    try {
        const Request request = parse_request(line);
        response.id = request.id;
        if (!std::visit(Answer{service, response}, request.body)) return std::nullopt;
    } catch (const FormatError& error) {
        response.id = id_of(line);
        response.body = Failure{error.what()};
    } catch (const std::exception& error) {
        response.body = Failure{error.what()};
    }
    return to_line(response);
}

int serve(const Service& service, int input, int output) {
    std::string pending;
    std::string chunk(std::size_t{1} << 16, '\0');
    while (true) {
        const ssize_t count = ::read(input, chunk.data(), chunk.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0;
        std::size_t searched = pending.size();
        pending.append(chunk, 0, static_cast<std::size_t>(count));
        for (auto end = pending.find('\n', searched); end != std::string::npos; end = pending.find('\n')) {
            const std::string line = pending.substr(0, end);
            pending.erase(0, end + 1);
            if (line.empty()) continue;
            const auto reply = answer(service, line);
            if (!reply) return 0;
            if (!write_all(output, *reply + "\n")) return 1;
        }
        if (pending.size() > max_line_bytes) {
            Response refusal{"", Failure{"line longer than " + std::to_string(max_line_bytes) + " bytes"}};
            write_all(output, to_line(refusal) + "\n");
            return 1;
        }
    }
}

}  // namespace joulecast::protocol
