#include "joulecast/meter/external_command.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cmath>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/meter/line_stream.h"
#include "joulecast/units/printable.h"

namespace joulecast {

namespace {

constexpr std::chrono::milliseconds longest_start{10'000};
constexpr int most_comments = 1000;         // before the first reading
constexpr int most_lines_a_look = 10'000;   // one that prints without end must not hold us for ever
constexpr double longest_silence_s = 60.0;  // wall meters speak every second, some every ten
constexpr std::size_t most_words = 6;

std::string excerpt(std::string_view line) {
    return printable(line, 80);
}

[[noreturn]] void refuse(std::string_view line) {
    throw FormatError("\"" + excerpt(line) +
                      "\" is not a reading. A line must be \"watts W\", \"joules J\" or a number of "
                      "watts, and may have \"time SECONDS\"");
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    constexpr std::string_view blanks = " \t\r";
    for (auto start = line.find_first_not_of(blanks); start != std::string_view::npos && words.size() <= most_words;) {
        const auto end = std::min(line.find_first_of(blanks, start), line.size());
        words.push_back(line.substr(start, end - start));
        start = line.find_first_not_of(blanks, end);
    }
    return words;
}

double number(std::string_view word, std::string_view line) {
    double value = 0.0;
    const auto result = std::from_chars(word.data(), word.data() + word.size(), value);
    if (result.ec != std::errc{} || result.ptr != word.data() + word.size() || !std::isfinite(value)) refuse(line);
    return value;
}

class ExternalMeter final : public Meter {
  public:
    ExternalMeter(const std::string& command, TimeSource now_s)
        : stream_(command, "the meter command \"" + excerpt(command) + "\"", longest_silence_s, now_s),
          now_s_(std::move(now_s)) {
        for (int i = 0; i < most_comments && !spoke_; ++i) {
            const auto line = stream_.next(longest_start);
            if (!line) throw MeterLost("the meter command \"" + excerpt(command) + "\" prints nothing");
            take(*line);
        }
        if (!spoke_) throw MeterLost("the meter command \"" + excerpt(command) + "\" prints comments only");
        facts_.name = "command:" + excerpt(command);
        facts_.covers = "what the command measures";
        facts_.counts_energy = !std::isnan(last_.energy_j);
    }

    const MeterFacts& facts() const override { return facts_; }

    MeterReading read() override {
        for (int i = 0; i < most_lines_a_look; ++i) {
            const auto line = stream_.next();
            if (!line) break;
            take(*line);
        }
        const double now_s = now_s_();
        MeterReading reading;
        reading.time_s = std::isnan(last_.time_s) ? now_s : std::min(now_s, last_.time_s + offset_s_);
        reading.time_s = placed_s_ = std::max(reading.time_s, placed_s_);
        reading.power_w = last_.power_w;
        reading.energy_j = last_.energy_j;
        return reading;
    }

  private:
    void take(const std::string& text) {
        std::optional<MeterLine> line;
        try {
            line = parse_meter_line(text);
        } catch (const FormatError& error) {
            throw MeterLost(std::string("cannot read the line of the meter command: ") + error.what());
        }
        if (!line) return;
        if (spoke_) check_against_the_last(*line);
        // Of all lines the least late one shows how far our clock is ahead of the meter's.
        if (!std::isnan(line->time_s)) offset_s_ = std::fmin(offset_s_, now_s_() - line->time_s);
        last_ = *line;
        spoke_ = true;
    }

    void check_against_the_last(const MeterLine& line) const {
        if (std::isnan(line.energy_j) != std::isnan(last_.energy_j) ||
            std::isnan(line.time_s) != std::isnan(last_.time_s)) {
            throw MeterLost("the meter command changes the form of its lines");
        }
        if (line.energy_j < last_.energy_j) throw MeterLost("the joules of the meter command decrease");
        if (line.time_s < last_.time_s) throw MeterLost("the time of the meter command goes backwards");
    }

    LineStream stream_;
    TimeSource now_s_;
    MeterFacts facts_;
    MeterLine last_;
    bool spoke_ = false;
    double offset_s_ = std::numeric_limits<double>::quiet_NaN();
    double placed_s_ = -std::numeric_limits<double>::infinity();
};

}  // namespace

std::optional<MeterLine> parse_meter_line(std::string_view line) {
    const auto words = words_of(line);
    if (words.empty() || words.front().starts_with('#')) return std::nullopt;
    MeterLine reading;
    if (words.size() == 1) {
        reading.power_w = number(words[0], line);
        return reading;
    }
    if (words.size() % 2 != 0 || words.size() > most_words) refuse(line);
    for (std::size_t i = 0; i < words.size(); i += 2) {
        double* field = nullptr;
        if (words[i] == "time") field = &reading.time_s;
        if (words[i] == "watts") field = &reading.power_w;
        if (words[i] == "joules") field = &reading.energy_j;
        if (field == nullptr || !std::isnan(*field)) refuse(line);
        *field = number(words[i + 1], line);
    }
    if (std::isnan(reading.power_w) && std::isnan(reading.energy_j)) refuse(line);
    return reading;
}

FoundMeter open_external_command(const std::string& command, TimeSource now_s) {
    if (!now_s) now_s = steady_seconds;
    try {
        return {std::make_unique<ExternalMeter>(command, std::move(now_s)), ""};
    } catch (const Error& error) {
        return {nullptr, error.what()};
    }
}

}  // namespace joulecast
