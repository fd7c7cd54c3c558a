#include "joulecast/meter/replay.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <istream>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "joulecast/meter/smi_log.h"

namespace joulecast {

namespace {

constexpr std::size_t max_line_bytes = 65536;
constexpr std::size_t max_rows = 50'000'000;
constexpr double largest = 1e15;  // of a field, so that differences stay finite
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// Fields of a CSV line; quotes (the notes of a power log) may hold commas.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') quoted = !quoted;
        if (c == ',' && !quoted)
            fields.emplace_back();
        else if (c != '"' && c != '\r' && c != ' ')
            fields.back() += c;
    }
    return fields;
}

struct Row {
    double time_s = unknown;
    double power_w = unknown;
    double energy_j = unknown;
};

class TraceReader {
  public:
    TraceReader(std::istream& text, std::string name) : text_(text), name_(std::move(name)) {}

    Trace read() {
        std::string line;
        if (!next(line)) fail("the file is empty");
        SmiLines smi;
        const auto first = smi.take(line);
        if (smi.has_columns()) {
            read_smi_log(smi, first);
        } else {
            read_header(line);
            while (next(line)) add(row_of(line));
        }
        if (trace_.power_w.empty() && trace_.energy_j.empty()) fail("it has no row with a value");
        return std::move(trace_);
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw FormatError("cannot replay " + name_ + ": line " + std::to_string(number_) + ": " + what +
                          ". It must be CSV with the columns time_s and power_w or energy_j, or a log of nvidia-smi");
    }

    bool next(std::string& line) {
        if (!std::getline(text_, line)) return false;
        ++number_;
        if (line.size() > max_line_bytes) fail("it is too long");
        if (number_ > max_rows) fail("there are too many");
        return true;
    }

    /// The rest of a log of nvidia-smi, whose last line counts only with its end.
    void read_smi_log(SmiLines& smi, std::optional<SmiSample> sample) {
        std::optional<int> gpu;
        std::string line;
        while (!text_.eof()) {
            if (sample) {
                if (gpu && sample->gpu != gpu) fail("the log has lines of several GPUs");
                gpu = sample->gpu;
                add({sample->time_s, sample->power_w, unknown});
            }
            if (!next(line)) return;
            sample = smi.take(line);
        }
    }

    void read_header(const std::string& line) {
        columns_ = fields_of(line);
        const auto has = [&](const char* name) {
            return std::find(columns_.begin(), columns_.end(), name) != columns_.end();
        };
        if (!has("time_s") || (!has("power_w") && !has("energy_j"))) fail("no such columns");
    }

    double number(const std::string& text) const {
        if (text.empty()) return unknown;
        double value = 0.0;
        const char* end = text.data() + text.size();
        const auto result = std::from_chars(text.data(), end, value);
        if (result.ec != std::errc{} || result.ptr != end || !(std::abs(value) < largest))
            fail("a field is not a number");
        return value;
    }

    Row row_of(const std::string& line) const {
        const auto fields = fields_of(line);
        Row row;
        for (std::size_t i = 0; i < std::min(fields.size(), columns_.size()); ++i) {
            if (columns_[i] == "time_s") row.time_s = number(fields[i]);
            if (columns_[i] == "power_w") row.power_w = number(fields[i]);
            if (columns_[i] == "energy_j") row.energy_j = number(fields[i]);
        }
        return row;
    }

    void add(Row row) {
        if (std::isnan(row.time_s)) {
            if (std::isnan(row.power_w) && std::isnan(row.energy_j)) return;
            fail("a value without a time");
        }
        if (std::isnan(start_s_)) start_s_ = row.time_s;
        row.time_s -= start_s_;
        if (row.time_s < trace_.length_s) fail("time goes back");
        trace_.length_s = row.time_s;
        if (!std::isnan(row.power_w)) {
            trace_.power_time_s.push_back(row.time_s);
            trace_.power_w.push_back(row.power_w);
        }
        if (!std::isnan(row.energy_j)) {
            if (trace_.energy_j.empty()) start_j_ = row.energy_j;
            row.energy_j -= start_j_;
            if (!trace_.energy_j.empty() && row.energy_j < trace_.energy_j.back()) fail("energy falls");
            trace_.energy_time_s.push_back(row.time_s);
            trace_.energy_j.push_back(row.energy_j);
        }
    }

    std::istream& text_;
    std::string name_;
    std::size_t number_ = 0;
    std::vector<std::string> columns_;
    double start_s_ = unknown;
    double start_j_ = 0.0;
    Trace trace_;
};

/// The first row after `time_s`; at least 1, so that there is one before it.
std::size_t after(const std::vector<double>& times_s, double time_s) {
    const auto found = std::upper_bound(times_s.begin(), times_s.end(), time_s);
    return std::max<std::size_t>(1, static_cast<std::size_t>(found - times_s.begin()));
}

double power_at(const Trace& trace, double time_s) {
    if (trace.power_w.empty()) return unknown;
    return trace.power_w[after(trace.power_time_s, time_s) - 1];
}

double energy_at(const Trace& trace, double time_s) {
    if (trace.energy_j.empty()) return unknown;
    const std::size_t next = after(trace.energy_time_s, time_s);
    if (next == trace.energy_j.size() || time_s <= trace.energy_time_s.front()) return trace.energy_j[next - 1];
    const double from_s = trace.energy_time_s[next - 1];
    const double share = (time_s - from_s) / (trace.energy_time_s[next] - from_s);
    return std::lerp(trace.energy_j[next - 1], trace.energy_j[next], share);
}

class ReplayMeter final : public Meter {
  public:
    ReplayMeter(Trace trace, ReplaySettings settings) : trace_(std::move(trace)), settings_(std::move(settings)) {
        if (!settings_.now_s) settings_.now_s = steady_seconds;
        start_s_ = settings_.now_s();
        facts_.name = settings_.name;
        facts_.covers = "what was recorded";
        facts_.counts_energy = !trace_.energy_j.empty();
        if (settings_.renewal_s > 0.0) facts_.period_s = settings_.renewal_s;
    }

    const MeterFacts& facts() const override { return facts_; }

    MeterReading read() override {
        MeterReading reading;
        reading.time_s = settings_.now_s();
        double played_s = reading.time_s - start_s_;
        if (settings_.renewal_s > 0.0) played_s = std::floor(played_s / settings_.renewal_s) * settings_.renewal_s;
        double rounds = 0.0;
        if (played_s > trace_.length_s) {
            if (!settings_.repeat || trace_.length_s <= 0.0) {
                throw MeterLost("the trace " + settings_.name + " ends after " + std::to_string(trace_.length_s) +
                                " s. Record a longer one");
            }
            rounds = std::floor(played_s / trace_.length_s);
            played_s -= rounds * trace_.length_s;
        }
        reading.power_w = power_at(trace_, played_s);
        reading.energy_j = energy_at(trace_, played_s);
        if (rounds > 0.0 && !trace_.energy_j.empty()) reading.energy_j += rounds * trace_.energy_j.back();
        return reading;
    }

  private:
    Trace trace_;
    ReplaySettings settings_;
    MeterFacts facts_;
    double start_s_ = 0.0;
};

}  // namespace

Trace read_trace(std::istream& text, const std::string& name) {
    return TraceReader(text, name).read();
}

std::unique_ptr<Meter> replay_meter(Trace trace, ReplaySettings settings) {
    return std::make_unique<ReplayMeter>(std::move(trace), std::move(settings));
}

FoundMeter open_replay(const std::filesystem::path& file, ReplaySettings settings) {
    std::ifstream text(file);
    if (!text) return {nullptr, "cannot replay " + file.string() + ": it cannot be read. See that the file is there"};
    try {
        return {replay_meter(read_trace(text, file.string()), std::move(settings)), ""};
    } catch (const FormatError& error) {
        return {nullptr, error.what()};
    }
}

}  // namespace joulecast
