// Requests to language models: a prompt is read, then token after token is written.
#include "cli/language_request.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/fitted_table.h"
#include "cli/forecast_words.h"
#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/prose.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/device/engine.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/units/estimate_sum.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

constexpr const char* decode_suffix = "-decode";

/// Of the zoo, under its own name. Throws UsageError where it has none.
std::string decoding_step(const std::string& model) {
    const std::string zoo = shipped_folder("zoo");
    const std::vector<std::string> names = zoo_names(zoo);
    std::vector<std::string> known;
    for (const std::string& name : names)
        if (name.ends_with(decode_suffix))
            known.push_back(name.substr(0, name.size() - std::string(decode_suffix).size()));
    const std::string name = open_model(model, zoo, usual_sizes(model, {}, Mode::inference)).name;
    if (std::ranges::find(known, name) != known.end()) return name + decode_suffix;
    throw UsageError("no graph of a decoding step of " + model +
                     " is known, so --prompt cannot be asked of it. The zoo has " + joined(known));
}

std::vector<SymbolValues> with_symbol(std::vector<SymbolValues> sizes, const std::string& symbol, std::int64_t value) {
    for (SymbolValues& size : sizes) size[symbol] = value;
    return sizes;
}

RequestPart part_of(const NetworkForecast& network, double tokens) {
    return {tokens, network.time, network.energy, limit_name(network)};
}

/// Steps with the pasts of the prompt and all that is written but the last: Simpson's rule over three of them.
RequestPart writing(const std::array<const NetworkForecast*, 3>& steps, double count, double batch) {
    RequestPart part;
    part.tokens = count * batch;
    part.time = nothing<Seconds>;
    part.energy = nothing<Joules>;
    part.limited_by = limit_name(*steps[1]);
    const std::array<double, 3> weights{count / 6, 4 * count / 6, count / 6};
    for (std::size_t i = 0; i < steps.size(); ++i) {
        add(part.time, steps[i]->time, weights[i]);
        add(part.energy, steps[i]->energy, weights[i]);
    }
    return part;
}

RequestForecast request_forecast(Forecast prefill, const std::array<const NetworkForecast*, 3>& steps,
                                 const LanguageRequest& request) {
    RequestForecast forecast;
    const auto batch = prefill.network.symbols.find("batch");
    forecast.batch = batch == prefill.network.symbols.end() ? 1 : batch->second;
    const auto sequences = static_cast<double>(forecast.batch);
    forecast.read = part_of(prefill.network, sequences * static_cast<double>(request.prompt));
    forecast.write = writing(steps, static_cast<double>(request.tokens - 1), sequences);
    forecast.time = forecast.read.time;
    forecast.energy = forecast.read.energy;
    add(forecast.time, forecast.write.time);
    add(forecast.energy, forecast.write.energy);
    const NetworkForecast& last = *steps[2];
    const bool last_is_larger = request.tokens > 1 && memory_bytes(last) > memory_bytes(prefill.network);
    forecast.memory_bytes = memory_bytes(last_is_larger ? last : prefill.network);
    forecast.overflow = request.tokens > 1 && !last.overflow.empty() ? last.overflow : prefill.network.overflow;
    forecast.prefill = std::move(prefill);
    return forecast;
}

using R = const RequestForecast&;

std::vector<Column<RequestForecast>> text_columns() {
    return {
        {"model", "network", Show::text, [](R r) { return r.prefill.network.model; }},
        {"device", "device", Show::text, [](R r) { return r.prefill.network.device; }},
        {"precision", "precision", Show::text, [](R r) { return r.prefill.network.precision; }},
        {"host", "host", Show::text, [](R r) { return host_text(r.prefill.network.point); }},
        {"clock", "MHz", Show::count, [](R r) { return known(std::round(r.prefill.network.asked.sm_clock_mhz)); }},
        {"batch", "batch", Show::count, [](R r) { return r.batch; }},
        {"first", "1st token", Show::seconds, [](R r) { return known(r.read.time.value.value()); }},
        {"read_rate", "read tok/s", Show::number, [](R r) { return known(r.read.tokens_per_s()); }},
        {"read_energy", "J/token", Show::joules, [](R r) { return known(r.read.energy_per_token_j()); }},
        {"write_rate", "write tok/s", Show::number, [](R r) { return known(r.write.tokens_per_s()); }},
        {"write_energy", "J/token", Show::joules, [](R r) { return known(r.write.energy_per_token_j()); }},
        {"time", "request", Show::seconds, [](R r) { return known(r.time.value.value()); }},
        {"energy", "energy", Show::joules, [](R r) { return known(r.energy.value.value()); }},
        {"memory", "memory", Show::bytes, [](R r) { return known(r.memory_bytes); }},
        {"limited_by", "limited by", Show::text,
         [](R r) {
             return r.read.limited_by == r.write.limited_by ? r.read.limited_by
                                                            : r.read.limited_by + ", " + r.write.limited_by;
         }},
    };
}

nlohmann::ordered_json part_json(const RequestPart& part) {
    return {{"tokens", part.tokens},
            {"time_s", estimate_json(part.time)},
            {"energy_j", estimate_json(part.energy)},
            {"tokens_per_s", number_or_null(part.tokens_per_s())},
            {"energy_per_token_j", number_or_null(part.energy_per_token_j())},
            {"limited_by", part.limited_by}};
}

}  // namespace

std::vector<RequestForecast> forecast_requests(const Question& asked, const LanguageRequest& request,
                                               const SessionSettings& settings, const Session::Tell& tell) {
    if (request.prompt < 1 || request.tokens < 1)
        throw UsageError("--prompt and --tokens go together: both are numbers of tokens above zero");
    if (asked.modes != std::vector{Mode::inference}) throw UsageError("--prompt and --tokens are for inference");
    Session session(settings);
    std::vector<RequestForecast> forecasts;
    // Without the first token, which reading gives; the cache of a step has a place for its own token, too.
    const std::int64_t first = request.prompt + 1;
    const std::int64_t last = first + std::max<std::int64_t>(request.tokens - 2, 0);
    for (const std::string& model : asked.models) {
        const std::string step = decoding_step(model);
        Question question = asked;
        question.models = {model};
        question.sizes = with_symbol(asked.sizes, "sequence", request.prompt);
        std::vector<Forecast> prefill = session.answer(question, tell).forecasts;
        question.models = {step};
        std::array<std::vector<Forecast>, 3> steps;
        const std::array<std::int64_t, 3> pasts{first, (first + last) / 2, last};
        for (std::size_t i = 0; i < pasts.size(); ++i) {
            question.sizes = with_symbol(asked.sizes, "past", pasts[i]);
            steps[i] = session.answer(question).forecasts;
        }
        for (std::size_t i = 0; i < prefill.size(); ++i)
            forecasts.push_back(request_forecast(
                std::move(prefill[i]), {&steps[0][i].network, &steps[1][i].network, &steps[2][i].network}, request));
    }
    return forecasts;
}

std::string requests_to_text(const std::vector<RequestForecast>& forecasts, const LanguageRequest& request,
                             const TextSettings& settings) {
    static const std::array<AlikeColumn, 6> identity{
        {{"model"}, {"device"}, {"precision", true}, {"host", true}, {"clock", true}, {"batch", true}}};
    static const std::vector<std::string> least_needed{"limited_by", "memory", "read_energy", "energy"};
    Table table = fill(text_columns(), forecasts);
    const std::string alike = take_alike(table, identity);
    const std::size_t width = settings.terminal.width;
    std::string text = wrapped(alike + ": a prompt of " + std::to_string(request.prompt) + " tokens, then " +
                                   std::to_string(request.tokens) + " written",
                               width, "  ") +
                       "\n\n";
    text += to_text(fitted(std::move(table), least_needed, settings.verbose ? std::string::npos : width));
    const RequestForecast& first = forecasts.front();
    const auto interval = [](auto estimate, Show as) {
        return show(estimate.low.value(), as) + " to " + show(estimate.high.value(), as);
    };
    text += wrapped("90 % interval of the first row's request: " + interval(first.time, Show::seconds) +
                        (first.energy.known() ? ", " + interval(first.energy, Show::joules) : ""),
                    width, "  ") +
            "\n";
    return text +
           wrapped(
               "tok/s of all sequences of a batch; read: the prompt (prefill), write: the tokens behind the "
               "first (decode)",
               width, "  ") +
           "\n";
}

std::string requests_to_json(const std::vector<RequestForecast>& forecasts, const LanguageRequest& request) {
    nlohmann::ordered_json json{{"schema", "joulecast.request/1"}, {"requests", nlohmann::ordered_json::array()}};
    for (const RequestForecast& r : forecasts) {
        const NetworkForecast& n = r.prefill.network;
        json["requests"].push_back({{"model", n.model},
                                    {"device", n.device},
                                    {"clock_mhz", number_or_null(n.point.sm_clock_mhz)},
                                    {"precision", n.precision},
                                    {"engine", n.point.engine},
                                    {"host", name(n.point.host)},
                                    {"symbols", {{"batch", r.batch}}},
                                    {"prompt", request.prompt},
                                    {"tokens", request.tokens},
                                    {"time_s", estimate_json(r.time)},
                                    {"energy_j", estimate_json(r.energy)},
                                    {"memory_bytes", number_or_null(r.memory_bytes)},
                                    {"fits", r.overflow.empty()},
                                    {"prefill", part_json(r.read)},
                                    {"decode", part_json(r.write)},
                                    {"predictor", n.predictor}});
    }
    return printed(json);
}

std::string requests_to_csv(const std::vector<RequestForecast>& forecasts, const LanguageRequest& request) {
    std::vector<Column<RequestForecast>> columns = {
        {"model", "", Show::text, [](R r) { return r.prefill.network.model; }},
        {"device", "", Show::text, [](R r) { return r.prefill.network.device; }},
        {"precision", "", Show::text, [](R r) { return r.prefill.network.precision; }},
        {"engine", "", Show::text, [](R r) { return r.prefill.network.point.engine; }},
        {"host", "", Show::text, [](R r) { return std::string(name(r.prefill.network.point.host)); }},
        {"batch", "", Show::count, [](R r) { return r.batch; }},
        {"prompt", "", Show::count, [&](R) { return request.prompt; }},
        {"tokens", "", Show::count, [&](R) { return request.tokens; }},
        {"time_s", "", Show::number, [](R r) { return known(r.time.value.value()); }},
        {"time_low_s", "", Show::number, [](R r) { return known(r.time.low.value()); }},
        {"time_high_s", "", Show::number, [](R r) { return known(r.time.high.value()); }},
        {"energy_j", "", Show::number, [](R r) { return known(r.energy.value.value()); }},
        {"prefill_time_s", "", Show::number, [](R r) { return known(r.read.time.value.value()); }},
        {"prefill_tokens_per_s", "", Show::number, [](R r) { return known(r.read.tokens_per_s()); }},
        {"prefill_energy_per_token_j", "", Show::number, [](R r) { return known(r.read.energy_per_token_j()); }},
        {"decode_time_s", "", Show::number, [](R r) { return known(r.write.time.value.value()); }},
        {"decode_tokens_per_s", "", Show::number, [](R r) { return known(r.write.tokens_per_s()); }},
        {"decode_energy_per_token_j", "", Show::number, [](R r) { return known(r.write.energy_per_token_j()); }},
        {"memory_bytes", "", Show::number, [](R r) { return known(r.memory_bytes); }},
        {"fits", "", Show::text, [](R r) { return r.overflow.empty(); }},
    };
    return to_csv(fill(columns, forecasts));
}

}  // namespace joulecast::cli
