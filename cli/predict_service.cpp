#include "cli/predict_service.h"

#include <cmath>
#include <exception>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/forecast_text.h"
#include "cli/forecast_words.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::json;

/// Kept for each thread of a model of a device.
constexpr std::size_t most_operations = std::size_t{1} << 14U;

std::string quoted_text(const std::string& text) {
    return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string error_line(std::string_view line, const std::string& why, int status) {
    return "{\"id\":" + request_id(line) + ",\"error\":" + quoted_text(why) + ",\"status\":" + std::to_string(status) +
           "}";
}

/// One clock from the device's name and the request's own; both may not name it.
double either(double at_device, double of_request, const char* key) {
    if (std::isnan(of_request)) return at_device;
    if (!std::isnan(at_device)) throw UsageError("\"" + std::string(key) + "\" is also in \"device\": give it once");
    return of_request;
}

/// What predict would have told on standard error; the note on the choice of a predictor stands in the forecast.
std::string with_notes(std::string body, const Answer& answer) {
    Json notes = Json::array();
    for (const std::string& note : answer.notes) {
        if (note != answer.devices.front().short_note) notes.push_back(note);
    }
    if (notes.empty()) return body;
    body.pop_back();
    return body + ",\"notes\":" + notes.dump(-1, ' ', false, Json::error_handler_t::replace) + "}";
}

}  // namespace

PredictService::PredictService(RequestSource source)
    : source_(std::move(source)),
      session_({.predictor = {source_.predictor, nullptr},
                .database = source_.database,
                .most_operations = most_operations}) {}

DeviceAtClock PredictService::device_of(const PredictRequest& request) const {
    const std::string& named = request.device.empty() ? source_.device : request.device;
    if (named.empty()) throw UsageError("\"device\" is missing: add it, or start with --device for a default");
    DeviceAtClock at = device_at_clock(named);
    at.asked.sm_clock_mhz = either(at.asked.sm_clock_mhz, request.asked.sm_clock_mhz, "clock_mhz");
    at.asked.memory_clock_mhz = either(at.asked.memory_clock_mhz, request.asked.memory_clock_mhz, "memory_clock_mhz");
    at.asked.power_limit_w = request.asked.power_limit_w;
    return at;
}

void PredictService::check(const NetworkForecast& network) {
    if (source_.strict && !network.overflow.empty()) throw Error(network.overflow);
    if (network.unknown_nodes == 0) return;
    if (source_.strict)
        throw Error(std::to_string(network.unknown_nodes) + " " +
                    unknown_words(network.unknown_operations, network.method) +
                    " its time is a lower bound, which --strict refuses");
    parts_were_unknown_ = true;
}

std::string PredictService::body(PredictRequest& request) {
    request.question.devices = {device_of(request)};
    const Answer answer = session_.answer(request.question);
    const Forecast& forecast = answer.forecasts.front();
    check(forecast.network);
    return with_notes(forecast_to_json_line(forecast, request.question.lists_operations), answer);
}

std::string PredictService::answer(std::string_view line) {
    try {
        PredictRequest request = parse_predict_request(line);
        try {
            return "{\"id\":" + request.id + "," + body(request).substr(1);
        } catch (const FormatError& error) {
            // A model's file, if it names one: then the request itself is right.
            return error_line(line, error.what(), request.question.models.empty() ? wrong_usage : failed);
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
