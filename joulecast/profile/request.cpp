#include "joulecast/profile/request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>
#include <string_view>

#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/meter/open_meter.h"
#include "joulecast/profile/clock_settings.h"
#include "joulecast/profile/plan.h"
#include "joulecast/units/trimmed.h"

namespace joulecast {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::size_t start = 0;
    for (std::size_t end = text.find(separator); end != std::string::npos; end = text.find(separator, start)) {
        parts.emplace_back(trimmed(std::string_view(text).substr(start, end - start)));
        start = end + 1;
    }
    parts.emplace_back(trimmed(std::string_view(text).substr(start)));
    return parts;
}

template <class Value>
Value named(std::optional<Value> parsed, const std::string& value, const char* what, const char* words) {
    if (!parsed) throw UsageError("unknown " + std::string(what) + " '" + value + "'. There are: " + words);
    return *parsed;
}

bool parse_switch(const std::string& text) {
    if (text == "yes") return true;
    if (text == "no") return false;
    throw UsageError("'" + text + "' is neither yes nor no");
}

/// Whether the line is about how to measure.
bool apply(HowToMeasure& how, const std::string& key, const std::string& value) {
    if (key == "host") {
        how.host = named(parse_host(value), value, "host", "python, cpp, graph");
    } else if (key == "method") {
        how.method = named(parse_method(value), value, "method", "joulecast, thesis, sponner");
    } else if (key == "optimizer") {
        how.optimizer = named(parse_optimizer(value), value, "optimizer", "none, sgd, momentum, adam, adamw");
    } else if (key == "meter") {
        check_meter_name(value);
        how.meter = value;
    } else if (key == "clocks") {
        (void)parse_clock_wish(value, "");
        how.clocks = value;
    } else if (key == "power-limits") {
        (void)parse_clock_wish("", value);
        how.power_limits = value;
    } else if (key == "memory-clocks") {
        (void)parse_clock_wish("", "", value);
        how.memory_clocks = value;
    } else {
        return false;
    }
    return true;
}

/// A plan of more is a mistake, or meant to exhaust the memory.
constexpr std::size_t most_named = 1'000'000;

Operation parse_named(const std::string& text, std::size_t already) {
    if (already >= most_named) throw UsageError("more than " + std::to_string(most_named) + " operations are named");
    try {
        Operation operation = canonical(parse_operation(text));
        if (!is_measurable(operation)) throw UsageError("'" + text + "' does nothing that could be measured");
        return operation;
    } catch (const FormatError& error) {
        throw UsageError(error.what());
    }
}

/// One line of a plan file. What may stand on the left is listed here and in docs/guide/profile.md.
void apply(ProfileRequest& request, const std::string& key, const std::string& value) {
    if (key == "models") {
        std::istringstream words(value);
        for (std::string word; words >> word;) request.models.push_back(word);
    } else if (key == "operation") {
        request.named.push_back(parse_named(value, request.named.size()));
    } else if (key == "set") {
        add_setting(request.set, value);
    } else if (key == "mode") {
        request.modes = parse_modes(value);
    } else if (key == "precision") {
        request.precisions = parse_precisions(value);
    } else if (key == "operations") {
        request.operations = parse_switch(value);
    } else if (key == "networks") {
        request.networks = parse_switch(value);
    } else if (key == "augment") {
        request.augment = parse_augment(value);
    } else if (key == "probe") {
        request.probe = parse_switch(value);
    } else if (key == "budget") {
        request.budget_s = parse_duration(value);
    } else if (!apply(request.how, key, value)) {
        throw UsageError(
            "unknown setting '" + key +
            "'. There are: models, operation, set, mode, precision, operations, networks, augment, probe, budget, "
            "host, method, optimizer, meter, clocks, power-limits, memory-clocks");
    }
}

/// Every combination of the values of those symbols that the graph has.
std::vector<SymbolValues> combinations(const ProfileRequest& request, const Graph& graph) {
    std::vector<SymbolValues> combinations = {{}};
    for (const auto& [symbol, values] : request.set) {
        if (!graph.symbols.contains(symbol)) continue;
        std::vector<SymbolValues> longer;
        for (const SymbolValues& combination : combinations)
            for (const std::int64_t value : values) {
                longer.push_back(combination);
                longer.back()[symbol] = value;
            }
        combinations = std::move(longer);
    }
    return combinations;
}

}  // namespace

void add_setting(std::map<std::string, std::vector<std::int64_t>>& set, const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string symbol(trimmed(std::string_view(text).substr(0, equals)));
    const auto texts = equals == std::string::npos ? std::vector<std::string>() : split(text.substr(equals + 1), ',');
    std::vector<std::int64_t> values;
    for (const std::string& digits : texts) {
        std::int64_t value = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (read.ec == std::errc() && read.ptr == digits.data() + digits.size()) values.push_back(value);
    }
    if (symbol.empty() || values.empty() || values.size() != texts.size())
        throw UsageError("'" + text + "' is not a setting of a symbol, as in batch=1,8,32");
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
    if (!set.emplace(symbol, std::move(values)).second) throw UsageError("symbol " + symbol + " is set twice");
}

std::vector<Mode> parse_modes(const std::string& text) {
    std::vector<Mode> modes;
    for (const std::string& word : split(text, ',')) {
        const auto mode = parse_mode(word);
        if (!mode) throw UsageError("unknown mode '" + word + "'. There are: inference, training");
        if (std::ranges::find(modes, *mode) == modes.end()) modes.push_back(*mode);
    }
    return modes;
}

std::vector<std::string> parse_precisions(const std::string& text) {
    std::vector<std::string> precisions;
    for (const std::string& word : split(text, ',')) {
        (void)measured_precision_named(word);
        if (std::ranges::find(precisions, word) == precisions.end()) precisions.push_back(word);
    }
    return precisions;
}

std::int64_t parse_augment(const std::string& text) {
    constexpr std::int64_t most = 1'000'000;
    std::int64_t count = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, count);
    if (read.ec != std::errc() || read.ptr != end || count < 0 || count > most)
        throw UsageError("'" + text + "' is not a number of variants from 0 to " + std::to_string(most));
    return count;
}

double parse_duration(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    const std::string_view unit(read.ptr, static_cast<std::size_t>(end - read.ptr));
    const double factor = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : 0;
    if (read.ec != std::errc() || !(value > 0) || !std::isfinite(value) || factor == 0)
        throw UsageError("'" + text + "' is not a duration, as in 150s, 10m or 2h");
    return value * factor;
}

HowToMeasure together(const HowToMeasure& first, const HowToMeasure& other) {
    const auto either = [](const auto& a, const auto& b, const char* what) {
        if (a && b && *a != *b) throw UsageError(std::string("the plans contradict each other in ") + what);
        return a ? a : b;
    };
    return {either(first.host, other.host, "host"),
            either(first.method, other.method, "method"),
            either(first.optimizer, other.optimizer, "optimizer"),
            either(first.meter, other.meter, "meter"),
            either(first.clocks, other.clocks, "clocks"),
            either(first.power_limits, other.power_limits, "power-limits"),
            either(first.memory_clocks, other.memory_clocks, "memory-clocks")};
}

ProfileRequest read_plan(std::istream& input, const std::string& name) {
    ProfileRequest request;
    std::set<std::string> seen;
    std::int64_t number = 0;
    const auto fail = [&](const std::string& what) {
        throw FormatError(name + ":" + std::to_string(number) + ": " + what + ".");
    };
    for (std::string line; std::getline(input, line);) {
        ++number;
        line = std::string(trimmed(std::string_view(line).substr(0, line.find('#'))));
        if (line.empty()) continue;
        const std::size_t equals = line.find('=');
        if (equals == std::string::npos) fail("'" + line + "' is not a line of the form setting = value");
        const std::string key(trimmed(std::string_view(line).substr(0, equals)));
        // models, operation and set may be spread over several lines.
        if (key != "models" && key != "operation" && key != "set" && !seen.insert(key).second)
            fail("'" + key + "' is given twice");
        try {
            apply(request, key, std::string(trimmed(std::string_view(line).substr(equals + 1))));
        } catch (const UsageError& error) {
            fail(error.what());
        }
    }
    if (request.models.empty() && request.named.empty() && !request.probe)
        fail("the plan names no models (models = resnet50 gpt2)");
    return request;
}

std::vector<Variation> variations(const ProfileRequest& request, const std::filesystem::path& zoo, Device::Kind kind) {
    struct Form {
        Mode mode;
        Graph graph;
    };
    std::vector<Form> forms;
    for (const std::string& model : request.models)
        for (const Mode mode : request.modes)
            forms.push_back({mode, open_model(model, zoo, usual_sizes(model, {}, mode), mode)});
    for (const auto& [symbol, values] : request.set) {
        const auto has = [&wanted = symbol](const Form& form) { return form.graph.symbols.contains(wanted); };
        if (!forms.empty() && std::ranges::none_of(forms, has))
            (void)with_symbol(forms.front().graph, symbol, values.front());  // throws, naming the symbols there are
    }
    std::vector<Variation> variations;
    for (const auto& [mode, graph] : forms)
        for (const SymbolValues& symbols : combinations(request, graph)) {
            Graph shaped = graph;
            for (const auto& [symbol, value] : symbols) shaped = with_symbol(shaped, symbol, value);
            const SymbolValues values = symbol_values(shaped);
            for (const std::string& precision : request.precisions) {
                Graph ready = at_precision(shaped, precision_named(precision), mode, kind);
                variations.push_back(
                    {graph.name, values, mode, precision, std::move(ready), request.operations, request.networks});
            }
        }
    return variations;
}

}  // namespace joulecast
