#include "joulecast/worker/protocol.h"

#include "joulecast/graph/graph_json.h"
#include "joulecast/units/bounded_json.h"
#include "joulecast/worker/measurement_json.h"

namespace joulecast::protocol {

namespace {

/// Deeper than any line of ours nests; whoever walks the values afterwards may recurse.
constexpr std::size_t max_depth = 64;

/// Without newlines whatever the fields hold; text that is no UTF-8 (a driver's message) is mended, not thrown at.
std::string line_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json envelope(const std::string& id) {
    return {{"protocol", version}, {"id", id}};
}

Json parse_line(std::string_view line) {
    if (line.size() > max_line_bytes) {
        throw FormatError("line of " + std::to_string(line.size()) + " bytes: at most " +
                          std::to_string(max_line_bytes) + " are accepted");
    }
    try {
        return parse_bounded(line, {.depth = max_depth});
    } catch (const FormatError& error) {
        throw FormatError("line cannot be read: " + std::string(error.what()));
    }
}

/// Checks the version first: nothing else of another version can be relied on.
void check_version(const Fields& fields) {
    const std::int64_t spoken = fields.integer_or("protocol", -1, INT64_MIN, INT64_MAX);
    if (fields.find("protocol") == nullptr) fields.fault("protocol", "is missing");
    if (spoken != version) {
        throw FormatError("field protocol is " + std::to_string(spoken) + ", this program speaks " +
                          std::to_string(version) + ": install joulecast and the worker from the same release");
    }
}

Graph graph_from(const Fields& fields) {
    try {
        return graph_from_json(line_of(fields.require("graph")));
    } catch (const FormatError& error) {
        throw FormatError("field graph: " + std::string(error.what()));
    }
}

struct BodyToJson {
    Json& json;

    void operator()(const Hello& hello) const {
        json["request"] = "hello";
        if (!hello.device.empty()) json["device"] = hello.device;
    }
    void operator()(const Quit&) const { json["request"] = "quit"; }
    void operator()(const Prepare& prepare) const {
        json["request"] = "prepare";
        json["point"] = to_json(prepare.point);
        json["settings"] = to_json(prepare.settings);
    }
    void operator()(const TimeRuns& wanted) const {
        json["request"] = "time_runs";
        json["operation"] = signature(wanted.operation);
        json["point"] = to_json(wanted.point);
        json["settings"] = to_json(wanted.settings);
        json["calls"] = wanted.calls;
    }
    void operator()(const Measure& measure) const {
        json["request"] = "measure";
        json["operation"] = signature(measure.operation);
        json["point"] = to_json(measure.point);
        json["settings"] = to_json(measure.settings);
    }
    void operator()(const MeasureGraph& measure) const {
        json["request"] = "measure_graph";
        json["graph"] = Json::parse(graph_to_json(measure.graph));
        json["point"] = to_json(measure.point);
        json["settings"] = to_json(measure.settings);
        json["optimizer"] = name(measure.optimizer);
    }
    void operator()(const Capabilities& capabilities) const {
        json["response"] = "hello";
        json["hello"] = to_json(capabilities);
    }
    void operator()(const Measurement& measurement) const {
        json["response"] = "measurement";
        json["measurement"] = to_json(measurement);
    }
    void operator()(const NetworkMeasurement& measurement) const {
        json["response"] = "network";
        json["network"] = to_json(measurement);
    }
    void operator()(const Prepared& prepared) const {
        json["response"] = "prepared";
        json["prepared"] = to_json(prepared);
    }
    void operator()(const TimedRuns& timed) const {
        json["response"] = "runs";
        json["runs"] = Json::array();
        for (const Runtime& run : timed.runs)
            json["runs"].push_back({{"calls", run.calls}, {"runtime_s", number_or_null(run.runtime_s)}});
    }
    void operator()(const Failure& failure) const {
        json["response"] = "failure";
        json["message"] = failure.message;
    }
};

MeasureSettings settings_or_default(const Fields& fields) {
    const auto settings = fields.optional_object("settings");
    return settings ? settings_from(*settings) : MeasureSettings{};
}

Measure measure_from(const Fields& fields) {
    Measure measure;
    const std::string text = fields.text("operation");
    try {
        measure.operation = parse_operation(text);
    } catch (const FormatError& error) {
        fields.fault("operation", std::string("cannot be read: ") + error.what());
    }
    measure.point = point_from(fields.object("point"));
    measure.settings = settings_or_default(fields);
    return measure;
}

TimeRuns time_runs_from(const Fields& fields) {
    TimeRuns wanted;
    Measure measure = measure_from(fields);
    wanted.operation = std::move(measure.operation);
    wanted.point = std::move(measure.point);
    wanted.settings = std::move(measure.settings);
    const Json& calls = fields.list("calls");
    if (calls.empty() || calls.size() > most_runs)
        fields.fault("calls", "has not between 1 and " + std::to_string(most_runs) + " items");
    for (const Json& each : calls) {
        const double number = each.is_number_integer() ? each.get<double>() : 0.0;
        if (!(number >= 1.0 && number <= static_cast<double>(most_calls)))
            fields.fault("calls", "holds something else than numbers from 1 to " + std::to_string(most_calls));
        wanted.calls.push_back(each.get<std::int64_t>());
    }
    return wanted;
}

TimedRuns timed_runs_from(const Fields& fields) {
    TimedRuns timed;
    const Json& runs = fields.list("runs");
    if (runs.size() > most_runs) fields.fault("runs", "has more than " + std::to_string(most_runs) + " items");
    for (const Json& each : runs) {
        const Fields run(each, "runs");
        const Json& seconds = run.require("runtime_s");
        if (!seconds.is_number() || !(seconds.get<double>() >= 0.0)) run.fault("runtime_s", "is not a time");
        run.require("calls");
        timed.runs.push_back({run.integer_or("calls", 0, 1, most_calls), seconds.get<double>()});
    }
    return timed;
}

}  // namespace

std::string to_line(const Request& request) {
    Json json = envelope(request.id);
    std::visit(BodyToJson{json}, request.body);
    return line_of(json);
}

std::string to_line(const Response& response) {
    Json json = envelope(response.id);
    std::visit(BodyToJson{json}, response.body);
    return line_of(json);
}

Request parse_request(std::string_view line) {
    const Json json = parse_line(line);
    const Fields fields(json, "");
    check_version(fields);
    Request request;
    request.id = fields.text("id");
    const std::string kind = fields.text("request");
    if (kind == "hello") {
        request.body = Hello{fields.text_or("device", "")};
    } else if (kind == "quit") {
        request.body = Quit{};
    } else if (kind == "measure") {
        request.body = measure_from(fields);
    } else if (kind == "measure_graph") {
        MeasureGraph measure{graph_from(fields), point_from(fields.object("point")), settings_or_default(fields)};
        if (fields.find("optimizer") != nullptr) measure.optimizer = optimizer_from(fields);
        request.body = std::move(measure);
    } else if (kind == "time_runs") {
        request.body = time_runs_from(fields);
    } else if (kind == "prepare") {
        request.body = Prepare{point_from(fields.object("point")), settings_or_default(fields)};
    } else {
        fields.fault("request", "\"" + kind.substr(0, 80) +
                                    "\" is none of hello, prepare, measure, measure_graph, time_runs, quit");
    }
    return request;
}

Response parse_response(std::string_view line) {
    const Json json = parse_line(line);
    const Fields fields(json, "");
    check_version(fields);
    Response response;
    response.id = fields.text("id");
    const std::string kind = fields.text("response");
    if (kind == "hello") {
        response.body = capabilities_from(fields.object("hello"));
    } else if (kind == "measurement") {
        response.body = measurement_from(fields.object("measurement"));
    } else if (kind == "network") {
        response.body = network_measurement_from(fields.object("network"));
    } else if (kind == "prepared") {
        response.body = prepared_from(fields.object("prepared"));
    } else if (kind == "runs") {
        response.body = timed_runs_from(fields);
    } else if (kind == "failure") {
        response.body = Failure{fields.text("message")};
    } else {
        fields.fault("response",
                     "\"" + kind.substr(0, 80) + "\" is none of hello, prepared, measurement, network, runs, failure");
    }
    return response;
}

std::string settings_to_json(const MeasureSettings& settings) {
    return line_of(to_json(settings));
}

}  // namespace joulecast::protocol
