#include "cli/forecast_service.h"

#include <cmath>
#include <exception>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "cli/clock_points.h"
#include "cli/forecast_words.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/symbol_values.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::json;

// A predictor has some MB, an operation's forecast 1 kB, a graph or a network's forecast 0.1 to 5 MB.
constexpr std::size_t most_devices = 16;
constexpr std::size_t most_operations = std::size_t{1} << 14U;
constexpr std::size_t most_graphs = 64;
constexpr std::size_t most_forecasts = 256;
/// Nodes of a graph that is kept, and different operations of a forecast.
constexpr std::size_t largest_kept = 20'000;

std::string quoted_text(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string error_line(std::string_view line, const std::string& why, int status) {
    return "{\"id\":" + request_id(line) + ",\"error\":" + quoted_text(why) + ",\"status\":" + std::to_string(status) +
           "}";
}

/// Size and time of a file that the request names, so that one that was written anew is read anew.
std::string stamp(const std::string& model) {
    std::error_code none;
    const auto size = std::filesystem::file_size(model, none);
    if (none) return "";
    const auto time = std::filesystem::last_write_time(model, none).time_since_epoch().count();
    return std::to_string(size) + "@" + std::to_string(time);
}

std::string graph_key(const ForecastRequest& request) {
    return with_values(std::string(name(request.setting.mode)) + '\n' + request.model + '\n' + stamp(request.model),
                       request.symbols, "\n");
}

std::string setting_key(const ForecastSetting& setting) {
    const TrainingSetup& training = setting.training;
    return setting.precision + '\n' + std::string(name(setting.host)) + '\n' + std::string(name(training.optimizer)) +
           ' ' + std::to_string(training.form ? static_cast<int>(*training.form) : -1) + ' ' +
           std::to_string(training.accumulation) + (training.checkpointing ? " checkpointing" : "");
}

Graph read(const ForecastRequest& request) {
    if (request.graph) return with_symbols(graph_from_json(*request.graph), request.symbols);
    return open_model(request.model, shipped_folder("zoo"), request.symbols, request.setting.mode);
}

/// One clock from the device's name and the request's own; both may not name it.
double either(double at_device, double of_request, const char* key) {
    if (std::isnan(of_request)) return at_device;
    if (!std::isnan(at_device)) throw UsageError("\"" + std::string(key) + "\" is also in \"device\": give it once");
    return of_request;
}

bool is_any(const OperatingPoint& asked) {
    return !std::isnan(asked.sm_clock_mhz) || !std::isnan(asked.memory_clock_mhz) || !std::isnan(asked.power_limit_w);
}

/// What predict would have told on standard error.
std::string with_notes(std::string body, const LoadedDevice& device, const DeviceModel& model) {
    Json notes = Json::array();
    for (const std::string& note : {device.database_note(), device.issuer_note(), device.measured_note(model)}) {
        if (!note.empty()) notes.push_back(note);
    }
    if (notes.empty()) return body;
    body.pop_back();
    return body + ",\"notes\":" + notes.dump(-1, ' ', false, Json::error_handler_t::replace) + "}";
}

}  // namespace

ForecastService::ForecastService(RequestSource source)
    : source_(std::move(source)), devices_(most_devices), graphs_(most_graphs), forecasts_(most_forecasts) {}

ForecastService::Wanted ForecastService::wanted(const ForecastRequest& request) const {
    const std::string& named = request.device.empty() ? source_.device : request.device;
    if (named.empty()) throw UsageError("\"device\" is missing: add it, or start with --device for a default");
    const DeviceAtClock at = device_at_clock(named);
    Wanted one{at.device, at.asked, request.host_cpu};
    one.asked.sm_clock_mhz = either(one.asked.sm_clock_mhz, request.asked.sm_clock_mhz, "clock_mhz");
    one.asked.memory_clock_mhz = either(one.asked.memory_clock_mhz, request.asked.memory_clock_mhz, "memory_clock_mhz");
    one.asked.power_limit_w = request.asked.power_limit_w;
    return one;
}

std::shared_ptr<SharedForecasts> ForecastService::served(const Wanted& wanted) {
    const std::string key = wanted.device + '\n' + wanted.host_cpu;
    {
        const std::scoped_lock alone(keeping_);
        if (const auto* known = devices_.find(key)) return *known;
    }
    // Two threads may load the same device at once; the first one's is kept then.
    auto loaded = std::make_shared<LoadedDevice>(wanted.device, source_.predictor, source_.database);
    loaded->calibrate_clocks();
    loaded->issue_from(wanted.host_cpu);
    const auto fresh = std::make_shared<SharedForecasts>(std::move(loaded), most_operations);
    const std::scoped_lock alone(keeping_);
    if (const auto* known = devices_.find(key)) return *known;
    return devices_.keep(key, fresh);
}

std::shared_ptr<const Graph> ForecastService::graph(const ForecastRequest& request, const std::string& key) {
    if (request.graph) return std::make_shared<const Graph>(read(request));
    {
        const std::scoped_lock alone(keeping_);
        if (const auto* known = graphs_.find(key)) return *known;
    }
    auto fresh = std::make_shared<const Graph>(read(request));
    if (fresh->nodes.size() > largest_kept) return fresh;
    const std::scoped_lock alone(keeping_);
    if (const auto* known = graphs_.find(key)) return *known;
    return graphs_.keep(key, std::move(fresh));
}

std::shared_ptr<const ForecastOverClocks> ForecastService::forecast_anew(const ForecastRequest& request,
                                                                         const std::string& graph_key,
                                                                         SharedForecasts& on) {
    Forecast made = with_source(on.forecast(*graph(request, graph_key), request.setting), on.device());
    return std::make_shared<const ForecastOverClocks>(
        std::move(made), on.kept_device(), on.device().model_for(request.setting.precision, request.setting.host));
}

std::shared_ptr<const ForecastOverClocks> ForecastService::forecast(const ForecastRequest& request,
                                                                    const Wanted& wanted, SharedForecasts& on) {
    if (request.graph) return forecast_anew(request, "", on);
    const std::string graph = graph_key(request);
    const std::string key = wanted.device + '\n' + wanted.host_cpu + '\n' + setting_key(request.setting) + '\n' + graph;
    {
        const std::scoped_lock alone(keeping_);
        if (const auto* known = forecasts_.find(key)) return *known;
    }
    auto fresh = forecast_anew(request, graph, on);
    if (fresh->forecast().network.operations.size() > largest_kept) return fresh;
    const std::scoped_lock alone(keeping_);
    if (const auto* known = forecasts_.find(key)) return *known;
    return forecasts_.keep(key, std::move(fresh));
}

void ForecastService::check(const NetworkForecast& network) {
    if (source_.strict && !network.overflow.empty()) throw Error(network.overflow);
    if (network.unknown_nodes == 0) return;
    if (source_.strict)
        throw Error(std::to_string(network.unknown_nodes) + " " +
                    unknown_words(network.unknown_operations, network.method) +
                    " its time is a lower bound, which --strict refuses");
    parts_were_unknown_ = true;
}

std::string ForecastService::body(const ForecastRequest& request) {
    const Wanted where = wanted(request);
    const std::shared_ptr<SharedForecasts> on = served(where);
    const DeviceModel& model = on->device().model_for(request.setting.precision, request.setting.host);
    const std::shared_ptr<const ForecastOverClocks> known = forecast(request, where, *on);
    check(known->forecast().network);
    const std::string text = is_any(where.asked)
                                 ? forecast_to_json_line(known->at(where.asked, request.operations), request.operations)
                                 : forecast_to_json_line(known->forecast(), request.operations);
    return with_notes(text, on->device(), model);
}

std::string ForecastService::answer(std::string_view line) {
    try {
        const ForecastRequest request = parse_forecast_request(line);
        try {
            return "{\"id\":" + request.id + "," + body(request).substr(1);
        } catch (const FormatError& error) {
            // A model's file, if it names one: then the request itself is right.
            return error_line(line, error.what(), request.model.empty() ? wrong_usage : failed);
        }
    } catch (const FormatError& error) {
        return error_line(line, error.what(), wrong_usage);
    } catch (const UsageError& error) {
        return error_line(line, error.what(), wrong_usage);
    } catch (const std::bad_alloc&) {
        return error_line(line, "out of memory", failed);
    } catch (const std::exception& error) {
        return error_line(line, error.what(), failed);
    }
}

}  // namespace joulecast::cli
