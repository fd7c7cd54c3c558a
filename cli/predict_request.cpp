#include "cli/predict_request.h"

#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "joulecast/error.h"
#include "joulecast/forecast/issue_order.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::json;

/// As deep as a .graph.json, and the two levels around it.
constexpr std::size_t most_depth = 18;
constexpr std::size_t longest_text = 4096;
constexpr std::size_t longest_id = 256;
constexpr std::size_t most_symbols = 64;

Json parse_json(std::string_view line) {
    if (line.size() > longest_request)
        throw FormatError("a request has at most " + std::to_string(longest_request >> 20U) +
                          " MB. Write the graph to a file and give its path as \"model\"");
    try {
        return parse_bounded(line, {.depth = most_depth});
    } catch (const FormatError& error) {
        throw FormatError("a request is one JSON object a line: " + std::string(error.what()));
    }
}

const std::string& text(const Json& value, std::size_t longest = longest_text) {
    if (!value.is_string()) throw FormatError("expected a text");
    const auto& found = value.get_ref<const std::string&>();
    if (found.size() > longest) throw FormatError("longer than " + std::to_string(longest) + " bytes");
    if (found.find('\0') != std::string::npos) throw FormatError("holds a NUL character");
    return found;
}

bool is_id(const Json& value) {
    if (value.is_string()) return value.get_ref<const std::string&>().size() <= longest_id;
    return value.is_number_integer() || value.is_null();
}

std::string id_text(const Json& value) {
    if (!is_id(value)) throw FormatError("expected an integer or a text of at most 256 bytes");
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string engine(const Json& value) {
    std::string name = text(value);
    if (!is_engine(name)) throw FormatError("expected the name of an engine, such as torch");
    return name;
}

SymbolValues symbols(const Json& value) {
    if (!value.is_object()) throw FormatError("expected an object, as in {\"batch\":8}");
    if (value.size() > most_symbols) throw FormatError("more than 64 symbols");
    SymbolValues found;
    for (const auto& [name, number] : value.items()) {
        const bool fits = number.is_number_integer() &&
                          (!number.is_number_unsigned() || number.get<std::uint64_t>() <= std::uint64_t{INT64_MAX});
        if (!fits) throw FormatError("\"" + name.substr(0, 40) + "\" is not a 64-bit integer");
        found.emplace(name, number.get<std::int64_t>());
    }
    return found;
}

template <class Parse>
auto word(const Json& value, Parse parse, const char* words) {
    const auto found = parse(text(value));
    if (!found) throw FormatError(std::string("expected ") + words);
    return *found;
}

bool flag(const Json& value) {
    if (!value.is_boolean()) throw FormatError("expected true or false");
    return value.get<bool>();
}

std::int64_t passes(const Json& value) {
    const bool fits = value.is_number_integer() && value >= 1 && value <= most_accumulation;
    if (!fits) throw FormatError("expected a number of passes, 1 to " + std::to_string(most_accumulation));
    return value.get<std::int64_t>();
}

double positive(const Json& value) {
    const double number = value.is_number() ? value.get<double>() : 0;
    if (!(number > 0) || !std::isfinite(number)) throw FormatError("expected a number above 0");
    return number;
}

using Take = std::function<void(const Json&, PredictRequest&)>;

/// Every key of a request.
const std::map<std::string, Take>& keys() {
    static const std::map<std::string, Take> table = {
        {"id", [](const Json& v, PredictRequest& r) { r.id = id_text(v); }},
        {"model", [](const Json& v, PredictRequest& r) { r.question.models = {text(v)}; }},
        {"graph",
         [](const Json& v, PredictRequest&) {
             if (!v.is_object()) throw FormatError("expected the object that a .graph.json holds");
         }},
        {"device", [](const Json& v, PredictRequest& r) { r.device = text(v); }},
        {"symbols", [](const Json& v, PredictRequest& r) { r.question.sizes = {symbols(v)}; }},
        {"mode",
         [](const Json& v, PredictRequest& r) { r.question.modes = {word(v, parse_mode, "inference or training")}; }},
        {"precision", [](const Json& v, PredictRequest& r) { r.question.precisions = {text(v)}; }},
        {"memory_format",
         [](const Json& v, PredictRequest& r) {
             r.question.memory_formats = {word(v, parse_memory_format, "contiguous or channels_last")};
         }},
        {"host",
         [](const Json& v, PredictRequest& r) { r.question.hosts = {word(v, parse_host, "python, cpp or graph")}; }},
        {"engine", [](const Json& v, PredictRequest& r) { r.question.engines = {engine(v)}; }},
        {"host_cpu", [](const Json& v, PredictRequest& r) { r.question.host_cpu = text(v); }},
        {"optimizer",
         [](const Json& v, PredictRequest& r) {
             r.question.training.optimizer = word(v, parse_optimizer, "none, sgd, momentum, adam or adamw");
         }},
        {"optimizer_form",
         [](const Json& v, PredictRequest& r) {
             r.question.training.form = word(v, parse_update_form, "loop, foreach or fused");
         }},
        {"accumulate", [](const Json& v, PredictRequest& r) { r.question.training.accumulation = passes(v); }},
        {"checkpointing", [](const Json& v, PredictRequest& r) { r.question.training.checkpointing = flag(v); }},
        {"clock_mhz", [](const Json& v, PredictRequest& r) { r.asked.sm_clock_mhz = positive(v); }},
        {"memory_clock_mhz", [](const Json& v, PredictRequest& r) { r.asked.memory_clock_mhz = positive(v); }},
        {"power_limit_w", [](const Json& v, PredictRequest& r) { r.asked.power_limit_w = positive(v); }},
        {"operations", [](const Json& v, PredictRequest& r) { r.question.lists_operations = flag(v); }},
    };
    return table;
}

std::string key_list() {
    std::string list;
    for (const auto& [key, take] : keys()) list += (list.empty() ? "" : ", ") + key;
    return list;
}

}  // namespace

PredictRequest parse_predict_request(std::string_view line) {
    const Json json = parse_json(line);
    if (!json.is_object()) throw FormatError("a request is one JSON object a line");
    PredictRequest request;
    for (const auto& [key, value] : json.items()) {
        const auto known = keys().find(key);
        if (known == keys().end())
            throw FormatError("unknown key \"" + key.substr(0, 40) + "\"; a request has " + key_list());
        try {
            known->second(value, request);
        } catch (const FormatError& error) {
            throw FormatError("\"" + key + "\": " + error.what());
        }
    }
    Question& question = request.question;
    const auto graph = json.find("graph");
    const bool names_model = !question.models.empty() && !question.models.front().empty();
    if (names_model == (graph != json.end())) throw FormatError("a request needs \"model\" or \"graph\", one of them");
    if (!names_model) question.models.clear();
    if (question.training.form && question.training.optimizer == Optimizer::none)
        throw FormatError("\"optimizer_form\" needs \"optimizer\"");
    if (graph != json.end())
        question.graphs = {std::make_shared<const Graph>(
            graph_from_json(graph->dump(-1, ' ', false, Json::error_handler_t::replace)))};
    return request;
}

std::string request_id(std::string_view line) {
    try {
        const Json json = parse_json(line);
        if (!json.is_object()) return "null";
        const auto id = json.find("id");
        return id != json.end() && is_id(*id) ? id_text(*id) : "null";
    } catch (const FormatError&) {
        return "null";
    }
}

}  // namespace joulecast::cli
