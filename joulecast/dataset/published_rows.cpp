#include "joulecast/dataset/published_rows.h"

#include <algorithm>
#include <functional>

#include "joulecast/dataset/columns.h"
#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

/// Of a file whose every row has a reason of its own, the rest is counted together.
constexpr std::size_t most_reasons = 100;
/// A year: what takes longer was not measured.
constexpr double most_seconds = 3.2e7;

/// A table's one number is neither quite a mean nor quite a median (docs/data.md says what it is), and stands for both.
TimeSummary summary(double seconds) {
    TimeSummary time;
    time.mean_s = time.median_s = seconds;
    return time;
}

std::string no_sheet(std::string_view device) {
    std::string shown;
    for (const char c : device.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
    return "device '" + shown + "' has no data sheet (joulecast help devices tells how to add one)";
}

constexpr const char* no_power = "the table has no power";

}  // namespace

void PublishedRows::account_for(const TableReader& table, const PublishedColumns& columns) {
    for (const std::string_view column : columns.used)
        if (!table.has(column)) table.fail("the header lacks the column " + std::string(column));
    for (const std::string& column : table.columns()) {
        const auto is_in = [&](const auto& list) { return std::ranges::find(list, column) != list.end(); };
        if (is_in(columns.used)) continue;
        (is_in(columns.dropped) ? counts_.dropped_columns : counts_.unknown_columns).push_back(column);
    }
}

void PublishedRows::drop(const std::string& why) {
    ++counts_.rows;
    const bool is_counted = counts_.dropped.contains(why) || counts_.dropped.size() < most_reasons;
    ++counts_.dropped[is_counted ? why : "further reasons"];
}

void PublishedRows::use() {
    ++counts_.rows;
    ++counts_.used;
}

std::optional<OperatingPoint> PublishedRows::point(std::string_view device) {
    const auto [place, is_new] = devices_.try_emplace(std::string(device));
    if (is_new) {
        if (const DataSheet* sheet = known_devices().find(device)) {
            insertion_.add(sheet->device);
            place->second = sheet->device.id;
        }
    }
    if (place->second.empty()) return {};
    OperatingPoint point;
    point.device = place->second;
    point.host = Host::python;
    return point;
}

std::string PublishedRows::session(const std::string& base, const std::string& key) {
    const std::int64_t repeat = ++repeats_[std::hash<std::string>{}(base + '\x1f' + key)];
    return repeat == 1 ? base : base + " repeat " + std::to_string(repeat);
}

void PublishedRows::add(const Operation& operation, const PublishedTime& time, Provenance provenance) {
    if (time.time_s > most_seconds) return drop("a time of more than a year");
    OperationRow row;
    try {
        row.measurement.operation = canonical(operation);
        total_counts(row.measurement.operation);
    } catch (const FormatError&) {
        return drop("sizes that cannot be");
    }
    const auto at = point(time.device);
    if (!at) return drop(no_sheet(time.device));
    row.mode = mode(row.measurement.operation);
    row.measurement.asked = row.measurement.real = *at;
    row.measurement.time = summary(time.time_s);
    if (row.mode == Mode::training && time.forward_s > 0) row.measurement.forward = summary(time.forward_s);
    row.measurement.energy_missing_reason = no_power;
    const std::string key = row.measurement.asked.device + '\x1f' + signature(row.measurement.operation);
    provenance.session = session(provenance.session, key);
    row.provenance = std::move(provenance);
    use();
    counts_.added += insertion_.add(row) ? 1 : 0;
}

void PublishedRows::add(NetworkMeasurement network, const PublishedTime& time, Provenance provenance) {
    if (time.time_s > most_seconds) return drop("a time of more than a year");
    const auto at = point(time.device);
    if (!at) return drop(no_sheet(time.device));
    NetworkRow row;
    row.measurement = std::move(network);
    row.measurement.asked = row.measurement.real = *at;
    row.measurement.time = summary(time.time_s);
    if (row.measurement.mode == Mode::training && time.forward_s > 0) row.measurement.forward = summary(time.forward_s);
    row.measurement.energy_missing_reason = no_power;
    const NetworkMeasurement& m = row.measurement;
    const std::string key = m.asked.device + '\x1f' + m.model + '\x1f' + symbols_text(m.symbols) + '\x1f' +
                            std::string(name(m.mode)) + '\x1f' + m.precision;
    provenance.session = session(provenance.session, key);
    row.provenance = std::move(provenance);
    use();
    counts_.added += insertion_.add(row) ? 1 : 0;
}

Import PublishedRows::commit() {
    insertion_.commit();
    return counts_;
}

}  // namespace joulecast
