#include "cli/report_runs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/report_command.h"
#include "cli/settings.h"
#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/graph/operation.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* schema = "joulecast.prediction/1";
constexpr std::uintmax_t largest_file = 500'000'000;

std::string text_of(const std::string& file) {
    std::error_code ignored;
    if (fs::file_size(file, ignored) > largest_file) throw FormatError(file + " is too large for a file of forecasts");
    std::ifstream input(file, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
    if (!input) throw Error("cannot read " + file);
    return text;
}

Json content_of(const std::string& file) {
    Json content = parse_bounded_or_null(text_of(file), JsonLimits{});
    if (!content.is_object() || content.value("schema", Json()) != schema) return {};
    return content;
}

/// A graph is JSON, too, but never has this schema: the name tells without opening a large file.
bool may_be_forecasts(const std::string& word) {
    return word.ends_with(".json") && !word.ends_with(".graph.json");
}

void add_folder(const std::string& folder, ForecastFiles& to) {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.is_regular_file()) files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
    const std::size_t before = to.files.size();
    for (std::string& file : files) {
        if (may_be_forecasts(file) && !content_of(file).is_null())
            to.files.push_back(std::move(file));
        else
            to.passed_over.push_back(file + " holds no forecasts of joulecast predict --format json");
    }
    if (to.files.size() == before)
        throw UsageError("the folder " + folder +
                         " holds no forecasts. joulecast predict ... --format json -o FILE.json writes them");
}

/// Looks values of one prediction up, and says what is wrong with them.
class Entry {
  public:
    Entry(const std::string& file, const Json& json) : file_(file), json_(json) {
        if (!json.is_object()) fail("a prediction is no object");
    }

    std::string text(const char* key) const {
        const Json value = json_.value(key, Json());
        if (value.is_null()) return "";
        if (!value.is_string()) fail(std::string(key) + " is no text");
        return value.get<std::string>();
    }
    double number(const char* key) const { return number_of(json_.value(key, Json()), key); }
    bool flag(const char* key) const {
        const Json value = json_.value(key, Json());
        return value.is_boolean() && value.get<bool>();
    }
    template <class Unit>
    Estimate<Unit> estimate(const char* key) const {
        const Json value = json_.value(key, Json());
        if (!value.is_object()) return {Unit(not_known), Unit(not_known), Unit(not_known)};
        const auto part = [&](const char* name) { return Unit(number_of(value.value(name, Json()), key)); };
        return {part("value"), part("low"), part("high")};
    }
    const Json& at(const char* key) const {
        static const Json none;
        const auto found = json_.find(key);
        return found == json_.end() ? none : *found;
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw FormatError(file_ + " is no file of forecasts that joulecast predict --format json wrote: " + what);
    }
    const std::string& file() const { return file_; }

  private:
    static constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

    double number_of(const Json& value, const char* key) const {
        if (value.is_null()) return not_known;
        if (!value.is_number()) fail(std::string(key) + " is no number");
        return value.get<double>();
    }

    const std::string& file_;
    const Json& json_;
};

/// The kind that has that name.
template <class Kind, std::size_t size>
std::optional<Kind> named(const std::array<Kind, size>& kinds, std::string_view text) {
    for (const Kind kind : kinds) {
        if (name(kind) == text) return kind;
    }
    return std::nullopt;
}

constexpr std::array all_evidence = {Evidence::measured, Evidence::interpolated, Evidence::extrapolated,
                                     Evidence::analytic, Evidence::unknown};
constexpr std::array all_power_evidence = {PowerEvidence::none, PowerEvidence::measured, PowerEvidence::learned,
                                           PowerEvidence::shared, PowerEvidence::physical};
constexpr std::array all_bounds = {Bound::device, Bound::host, Bound::power_cap};

template <class Kind, std::size_t size>
std::map<Kind, double> shares_of(const Entry& entry, const char* key, const std::array<Kind, size>& kinds) {
    std::map<Kind, double> shares;
    const Json& json = entry.at(key);
    if (!json.is_object()) return shares;
    for (const auto& [called, share] : json.items()) {
        const auto kind = named(kinds, called);
        if (kind && share.is_number()) shares[*kind] = share.template get<double>();
    }
    return shares;
}

/// Operations with what they cost, and a bag of them for the figures by operation.
void add_operations(const Entry& entry, ReportedForecast& reported) {
    const Json& list = entry.at("operations");
    if (!list.is_array()) return;
    for (const Json& json : list) {
        const Entry call(entry.file(), json);
        OperationForecast operation;
        operation.operation = parse_operation(call.text("signature"));
        const double count = call.number("count");
        if (!(count >= 1)) entry.fail("count of an operation is no number above 0");
        operation.count = static_cast<std::int64_t>(count);
        // Of all calls in JSON, of one here. Its energy is that above idle power alone, and no share of the network's.
        const auto time = call.estimate<Seconds>("time_s");
        operation.cost.device_time = {Seconds(time.value.value() / count), Seconds(time.low.value() / count),
                                      Seconds(time.high.value() / count)};
        Node node;
        node.operation = operation.operation;
        node.count = operation.count;
        reported.graph.nodes.push_back(std::move(node));
        reported.network.operations.push_back(std::move(operation));
    }
}

/// The data sheet where joulecast has one of that id; else its name alone.
Device device_of(const Entry& entry) {
    const std::string id = entry.text("device");
    const DataSheet* const sheet = known_devices().find(id);
    Device device = sheet != nullptr ? sheet->device : Device();
    device.id = id;
    device.display_name = entry.text("device_name");
    if (device.display_name.empty()) device.display_name = device.id;
    return device;
}

ReportedForecast forecast_of(const Entry& entry) {
    ReportedForecast reported;
    NetworkForecast& n = reported.network;
    reported.run = fs::path(entry.file()).filename().string();
    reported.device = device_of(entry);
    n.model = entry.text("model");
    n.device = reported.device.id;
    n.precision = entry.text("precision");
    const auto mode = parse_mode(entry.text("mode"));
    const auto host = parse_host(entry.text("host"));
    if (const auto format = parse_memory_format(entry.text("memory_format"))) n.memory_format = *format;
    const auto bound = named(all_bounds, entry.text("limited_by"));
    if (n.model.empty() || !mode || !host || !bound) entry.fail("model, mode, host or limited_by is missing");
    n.mode = *mode;
    n.point.host = *host;
    n.limited_by = *bound;
    if (const Json& symbols = entry.at("symbols"); symbols.is_object()) {
        for (const auto& [symbol, value] : symbols.items()) {
            if (!value.is_number_integer()) entry.fail("symbol " + symbol + " is no whole number");
            n.symbols[symbol] = value.get<std::int64_t>();
        }
    }
    n.time = entry.estimate<Seconds>("time_s");
    n.energy = entry.estimate<Joules>("energy_j");
    n.power = entry.estimate<Watts>("power_w");
    n.cost.device_time = entry.estimate<Seconds>("device_time_s");
    n.cost.host_time = entry.estimate<Seconds>("host_time_s");
    n.cost.peak_memory = entry.estimate<Bytes>("peak_memory_bytes");
    n.idle_energy_j = entry.number("idle_energy_j");
    n.resident_bytes = entry.number("resident_bytes");
    n.energy_missing_reason = entry.text("energy_missing_reason");
    n.memory_missing_reason = entry.text("memory_missing_reason");
    n.lower_bound = entry.flag("lower_bound");
    if (const double unknown = entry.number("unknown_nodes"); unknown > 0)
        n.unknown_nodes = static_cast<std::int64_t>(unknown);
    n.evidence_share = shares_of(entry, "evidence_share", all_evidence);
    n.power_evidence_share = shares_of(entry, "power_evidence_share", all_power_evidence);
    if (const double asked = entry.number("asked_clock_mhz"); asked > 0) n.point.sm_clock_mhz = asked;
    n.predictor = entry.text("predictor");
    reported.origin = "Predictor " + n.predictor + ", as " + reported.run + " says.";
    reported.note = entry.text("predictor_note");
    add_operations(entry, reported);
    return reported;
}

std::string command_of(const Entry& entry, const ReportedForecast& reported) {
    std::vector<std::string> words = {"joulecast", "predict", reported.network.model, "--device", reported.device.id};
    for (const auto& [symbol, value] : reported.network.symbols) {
        words.emplace_back("--set");
        words.push_back(symbol + "=" + std::to_string(value));
    }
    const auto add = [&](const char* option, const std::string& value) {
        if (value.empty()) return;
        words.emplace_back(option);
        words.push_back(value);
    };
    add("--mode", entry.text("mode"));
    add("--precision", reported.network.precision);
    if (const MemoryFormat format = reported.network.memory_format; format != MemoryFormat::contiguous)
        add("--memory-format", std::string(name(format)));
    add("--host", entry.text("host"));
    const std::string optimizer = entry.text("optimizer");
    if (optimizer != "none") add("--optimizer", optimizer);
    if (const double passes = entry.number("accumulate"); passes > 1)
        add("--accumulate", std::to_string(std::llround(passes)));
    if (entry.flag("checkpointing")) words.emplace_back("--checkpointing");
    if (const double limit = entry.number("asked_power_limit_w"); limit > 0)
        add("--power-limits", std::to_string(std::llround(limit)));
    return shell_line(words);
}

/// What two forecasts share that differ in the clock alone.
using Key = std::tuple<std::string, std::string>;

ClockCost clock_of(const Entry& entry, const ReportedForecast& reported) {
    ClockCost cost;
    cost.clock_mhz = reported.network.point.sm_clock_mhz;
    cost.real_clock_mhz = entry.number("clock_mhz");
    cost.time = reported.network.time;
    cost.energy = reported.network.energy;
    cost.limited_by = reported.network.limited_by;
    if (const Json& relative = entry.at("relative_to_default"); relative.is_object()) {
        const Entry parts(entry.file(), relative);
        cost.relative.time = parts.estimate<Ratio>("time");
        cost.relative.energy = parts.estimate<Ratio>("energy");
        cost.relative.power = parts.estimate<Ratio>("power");
    }
    return cost;
}

/// Puts the clocks of each forecast together; what stands for it is the clock nearest to the default one.
class Runs {
  public:
    void add(const Entry& entry) {
        ReportedForecast reported = forecast_of(entry);
        const std::string command = command_of(entry, reported);
        const bool has_clock = std::isfinite(reported.network.point.sm_clock_mhz);
        const ClockCost clock = clock_of(entry, reported);
        if (const Json& relative = entry.at("relative_to_default"); relative.is_object())
            reported.default_clock_mhz = Entry(entry.file(), relative).number("clock_mhz");
        const auto [place, is_new] = places_.try_emplace(Key{entry.file(), command}, runs_.forecasts.size());
        if (is_new || !has_clock) {
            if (std::ranges::find(runs_.commands, command) == runs_.commands.end()) runs_.commands.push_back(command);
            places_[Key{entry.file(), command}] = runs_.forecasts.size();
            runs_.forecasts.push_back(std::move(reported));
            if (has_clock) runs_.forecasts.back().clocks = {clock};
            return;
        }
        ReportedForecast& known = runs_.forecasts[place->second];
        std::vector<ClockCost> clocks = std::move(known.clocks);
        const double own = reported.default_clock_mhz;
        const auto distance = [own](const ReportedForecast& f) { return std::abs(f.network.point.sm_clock_mhz - own); };
        if (distance(reported) < distance(known)) known = std::move(reported);
        clocks.push_back(clock);
        known.clocks = std::move(clocks);
    }

    ReportedRuns finished() {
        for (ReportedForecast& forecast : runs_.forecasts) {
            std::ranges::sort(forecast.clocks, {}, &ClockCost::clock_mhz);
            if (forecast.clocks.size() < 2) forecast.clocks.clear();
        }
        return std::move(runs_);
    }

  private:
    ReportedRuns runs_;
    std::map<Key, std::size_t> places_;
};

}  // namespace

ForecastFiles forecast_files(const std::vector<std::string>& words) {
    ForecastFiles found;
    std::string other;
    for (const std::string& word : words) {
        std::error_code ignored;
        if (fs::is_directory(word, ignored))
            add_folder(word, found);
        else if (may_be_forecasts(word))
            found.files.push_back(word);
        else
            other = word;
    }
    if (!other.empty() && !found.files.empty())
        throw UsageError(other + " is no file of forecasts, but " + found.files.front() +
                         " is: report networks, or forecasts that were written, not both in one page");
    return found;
}

ReportedRuns read_runs(const std::vector<std::string>& files) {
    Runs runs;
    for (const std::string& file : files) {
        if (!fs::exists(file)) throw UsageError("there is no file " + file);
        const Json content = content_of(file);
        const Json list = content.is_object() ? content.value("predictions", Json()) : Json();
        if (!list.is_array())
            throw FormatError(file +
                              " is no file of forecasts: joulecast predict ... --format json -o FILE.json writes "
                              "them (schema " +
                              schema + ")");
        for (const Json& json : list) runs.add(Entry(file, json));
    }
    return runs.finished();
}

}  // namespace joulecast::cli
