#include "joulecast/meter/smi_log.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <istream>
#include <system_error>

#include "joulecast/error.h"
#include "joulecast/units/printable.h"
#include "joulecast/units/trimmed.h"

namespace joulecast {

namespace {

constexpr std::size_t most_samples = 50'000'000;  // 6 days at 10 ms
constexpr std::size_t most_columns = 200;
constexpr std::size_t most_line_bytes = 16384;
constexpr double mebibyte = 1024.0 * 1024.0;

std::vector<std::string_view> fields_of(std::string_view line) {
    std::vector<std::string_view> fields;
    while (fields.size() < most_columns) {
        const auto comma = line.find(',');
        fields.push_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) break;
        line.remove_prefix(comma + 1);
    }
    return fields;
}

/// "power.draw [W]" -> "power.draw"
std::string_view column_name(std::string_view field) {
    return trimmed(field.substr(0, field.find('[')));
}

/// "24.56 W", "24.56": the number before the unit, or NaN for "[N/A]", "N/A" and other words in brackets.
std::optional<double> quantity(std::string_view text, std::string_view unit) {
    if (text == "N/A" || (text.starts_with('[') && text.ends_with(']'))) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    double value = 0.0;
    const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
    if (result.ec != std::errc{} || !std::isfinite(value)) return std::nullopt;
    const std::string_view rest = trimmed(text.substr(static_cast<std::size_t>(result.ptr - text.data())));
    if (!rest.empty() && rest != unit) return std::nullopt;
    return value;
}

/// "2024/02/29 12:34:56.789"
std::optional<double> time_stamp(std::string_view text) {
    std::array<int, 7> parts{};
    constexpr std::string_view separators = "// ::.";
    std::size_t count = 0;
    const char* at = text.data();
    const char* const end = at + text.size();
    const char* fraction = end;
    for (; count < parts.size(); ++count) {
        if (count == 6) fraction = at;
        const auto result = std::from_chars(at, end, parts[count]);
        if (result.ec != std::errc{} || parts[count] < 0) return std::nullopt;
        at = result.ptr;
        if (at == end) break;
        if (count == separators.size() || *at != separators[count]) return std::nullopt;
        ++at;
    }
    if (count < 5 || at != end) return std::nullopt;
    using namespace std::chrono;
    if (parts[0] < 1970 || parts[0] > 9999 || parts[1] > 12 || parts[2] > 31) return std::nullopt;
    const year_month_day date{year(parts[0]), month(static_cast<unsigned>(parts[1])),
                              day(static_cast<unsigned>(parts[2]))};
    if (!date.ok() || parts[3] > 23 || parts[4] > 59 || parts[5] > 60) return std::nullopt;
    const double day_s = duration<double>(sys_days(date).time_since_epoch()).count();
    const double decimals = fraction == end ? 0.0 : parts[6] / std::pow(10.0, static_cast<double>(end - fraction));
    return day_s + parts[3] * 3600.0 + parts[4] * 60.0 + parts[5] + decimals;
}

}  // namespace

bool SmiLines::take_header(const std::vector<std::string_view>& fields) {
    static constexpr std::array powers{"power.draw.instant", "power.draw", "power.draw.average"};
    std::string_view power;
    for (const char* name : powers) {
        const auto is_it = [&](std::string_view field) { return column_name(field) == name; };
        if (power.empty() && std::any_of(fields.begin(), fields.end(), is_it)) power = name;
    }
    const bool is_header = std::any_of(fields.begin(), fields.end(),
                                       [](std::string_view field) { return column_name(field) == "timestamp"; });
    if (!is_header || power.empty()) return false;
    columns_.clear();
    assumed_ = false;
    for (const std::string_view field : fields) {
        const std::string_view name = column_name(field);
        Column column = Column::other;
        if (name == "timestamp") column = Column::timestamp;
        if (name == power) column = Column::power;
        if (name == "utilization.gpu") column = Column::utilization;
        if (name == "memory.used") column = Column::memory_used;
        if (name == "memory.total") column = Column::memory_total;
        if (name == "index") column = Column::index;
        columns_.push_back(column);
    }
    return true;
}

bool SmiLines::assume_columns(const std::vector<std::string_view>& fields) {
    columns_ = {Column::timestamp, Column::utilization, Column::power, Column::memory_used, Column::memory_total};
    assumed_ = true;
    SmiSample sample;
    // Numbers alone do not tell which column is which: what could not be makes it another order.
    const bool is_possible = fields.size() == columns_.size() && take_fields(fields, sample) &&
                             !(sample.utilization < 0 || sample.utilization > 1) && !(sample.power_w < 0) &&
                             !(sample.memory_used_bytes > sample.memory_total_bytes);
    if (!is_possible) columns_.clear();
    return is_possible;
}

bool SmiLines::take_fields(const std::vector<std::string_view>& fields, SmiSample& sample) const {
    if (fields.size() != columns_.size()) return false;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (!take_field(columns_[i], fields[i], sample)) return false;
    }
    return true;
}

bool SmiLines::take_field(Column column, std::string_view text, SmiSample& sample) const {
    const auto into = [&](double& to, std::string_view unit, double factor) {
        const auto value = quantity(text, unit);
        if (value) to = *value * factor;
        return value.has_value();
    };
    switch (column) {
        case Column::timestamp: {
            const auto time_s = time_stamp(text);
            if (time_s) sample.time_s = *time_s;
            return time_s.has_value();
        }
        case Column::power:
            return into(sample.power_w, "W", 1.0);
        case Column::utilization:
            return into(sample.utilization, "%", 0.01);
        case Column::memory_used:
            return into(sample.memory_used_bytes, "MiB", mebibyte);
        case Column::memory_total:
            return into(sample.memory_total_bytes, "MiB", mebibyte);
        case Column::index: {
            int index = 0;
            const auto result = std::from_chars(text.data(), text.data() + text.size(), index);
            if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return false;
            sample.gpu = index;
            return true;
        }
        case Column::other:
            break;
    }
    return true;
}

void SmiLines::skip(std::string_view line) {
    if (skipped_++ > 0) return;
    first_skipped_ = printable(trimmed(line), 120);
}

std::optional<SmiSample> SmiLines::take(std::string_view line) {
    line = trimmed(line);
    if (line.empty()) return std::nullopt;
    const auto fields = fields_of(line);
    if (take_header(fields)) return std::nullopt;
    SmiSample sample;
    const bool understood =
        line.size() <= most_line_bytes && (has_columns() || assume_columns(fields)) && take_fields(fields, sample);
    if (understood) return sample;
    skip(line);
    return std::nullopt;
}

SmiLog read_smi_log(std::istream& text, const std::string& name) {
    SmiLines lines;
    SmiLog log;
    std::string line;
    while (std::getline(text, line) && !text.eof()) {
        const auto sample = lines.take(line);
        if (sample) log.samples.push_back(*sample);
        if (log.samples.size() > most_samples) throw FormatError("cannot read the log " + name + ": it is too long");
    }
    log.skipped_lines = lines.skipped();
    log.first_skipped = lines.first_skipped();
    log.has_header = lines.has_header();
    if (!lines.has_columns()) {
        throw FormatError("cannot read " + name +
                          " as a log of nvidia-smi: no line names the columns timestamp and power.draw, and none is " +
                          smi_log_columns + ". Write it with --format=csv, without noheader");
    }
    if (log.samples.empty()) {
        throw FormatError("the log " + name + " holds no sample" +
                          (log.first_skipped.empty() ? "" : "; it says: " + log.first_skipped));
    }
    return log;
}

}  // namespace joulecast
