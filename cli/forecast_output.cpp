// Forecasts as JSON and CSV: cli/forecast_lines.h has what is reported of one.
#include <cmath>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/forecast_lines.h"
#include "cli/forecast_text.h"
#include "cli/json_object.h"
#include "cli/operation_output.h"
#include "cli/reported.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/units/digits.h"

namespace joulecast::cli {
namespace {

using Layout = JsonObject::Layout;
using F = const Forecast&;

/// As JsonObject, in one line and in a third of the time: calls are most of an answer.
class CallObject {
  public:
    explicit CallObject(std::string& text) : text_(text) { text_ += '{'; }

    void add(std::string_view key, std::string_view value) { append_quoted(entry(key), value); }
    void add(std::string_view key, std::int64_t value) { append_digits(entry(key), value); }
    template <class Unit>
    void add(std::string_view key, const Estimate<Unit>& estimate) {
        using namespace std::string_view_literals;  // their lengths are known
        entry(key) += "{\"value\":"sv;
        append(estimate.value.value());
        text_ += ",\"low\":"sv;
        append(estimate.low.value());
        text_ += ",\"high\":"sv;
        append(estimate.high.value());
        text_ += '}';
    }
    void end() { text_ += '}'; }

  private:
    std::string& entry(std::string_view key) {
        text_ += text_.back() == '{' ? "\"" : ",\"";
        return text_.append(key).append("\":");
    }
    /// NaN and infinity are null: JSON has no other way to say them.
    void append(double value) { std::isfinite(value) ? append_digits(text_, value) : void(text_ += "null"); }

    std::string& text_;
};

void append_prediction(std::string& text, F forecast, Layout layout, bool with_operations) {
    JsonObject prediction(text, layout);
    add_reported(prediction, forecast, forecast_report::forecast_lines);
    if (with_operations) {
        const bool is_one_line = layout == Layout::one_line;
        prediction.entry("operations") += is_one_line ? "[" : "[\n    ";
        const auto& operations = forecast.network.operations;
        for (const OperationForecast& operation : operations) {
            if (&operation != &operations.front()) text += is_one_line ? "," : ",\n    ";
            CallObject object(text);
            add_reported(object, operation, forecast_report::call_lines);
            object.end();
        }
        text += is_one_line ? "]" : "\n  ]";
    }
    prediction.end();
}

template <class Append>
std::string predictions_json(const std::vector<Forecast>& forecasts, Append append) {
    // Side by side, and without copies: a list of operations is 50 kB.
    std::vector<std::string> predictions(forecasts.size());
    in_parallel(forecasts.size(), 0, [&](std::size_t i) {
        predictions[i].reserve(4096 + 600 * forecasts[i].network.operations.size());
        append(predictions[i], forecasts[i]);
    });
    std::string text = "{\"schema\": \"joulecast.prediction/1\", \"predictions\": [";
    std::size_t size = text.size() + 16;
    for (const std::string& prediction : predictions) size += prediction.size() + 2;
    text.reserve(size);
    for (std::string& prediction : predictions) {
        text += &prediction == &predictions.front() ? "\n" : ",\n";
        text += std::exchange(prediction, {});
    }
    text += "\n]}\n";
    return text;  // not `text +=`, which would be a copy of some MB
}

/// All calls of one operation in one network.
struct CallsOf {
    const Forecast* forecast = nullptr;
    const OperationForecast* operation = nullptr;
};

std::string calls_to_csv(const std::vector<Forecast>& forecasts) {
    std::vector<CallsOf> calls;
    for (const Forecast& forecast : forecasts) {
        for (const OperationForecast& operation : forecast.network.operations) calls.push_back({&forecast, &operation});
    }
    const auto network = [](const CallsOf& c) { return c.forecast; };
    std::vector<Column<CallsOf>> columns;
    append_all_columns(
        columns, "", network,
        std::tuple{forecast_report::model_line, forecast_report::mode_line, forecast_report::precision_line});
    append_all_columns(columns, "", [](const CallsOf& c) { return c.operation; }, forecast_report::call_lines);
    append_all_columns(columns, "", network, std::tuple{forecast_report::engine_line, forecast_report::host_line});
    return to_csv(fill(columns, calls));
}

const Forecast* itself(F forecast) {
    return &forecast;
}

}  // namespace

std::string forecasts_to_json(const std::vector<Forecast>& forecasts) {
    return predictions_json(
        forecasts, [](std::string& text, F forecast) { append_prediction(text, forecast, Layout::lines, true); });
}

std::string forecast_to_json_line(const Forecast& forecast, bool operations) {
    std::string text;
    append_prediction(text, forecast, Layout::one_line, operations);
    return text;
}

std::string forecasts_to_csv(const std::vector<Forecast>& forecasts, bool per_operation) {
    if (per_operation) return calls_to_csv(forecasts);
    return to_csv(fill(csv_columns<Forecast>(itself, forecast_report::forecast_lines), forecasts));
}

std::string operations_to_csv(const std::vector<Forecast>& forecasts) {
    return to_csv(fill(csv_columns<Forecast>(itself, forecast_report::single_call_lines), forecasts));
}

std::string operations_to_json(const std::vector<Forecast>& forecasts) {
    return predictions_json(forecasts, [](std::string& text, F forecast) {
        JsonObject to(text, Layout::lines);
        add_reported(to, forecast, forecast_report::single_call_lines);
        to.end();
    });
}

}  // namespace joulecast::cli
