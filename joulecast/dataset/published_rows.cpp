#include "joulecast/dataset/published_rows.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/units/printable.h"

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

/// What of the asked point makes two measurements the same.
std::string point_key(const OperatingPoint& asked) {
    std::string key =
        '\x1f' + asked.device + '\x1f' + std::string(name(asked.host)) + '\x1f' + std::string(name(asked.math));
    for (const double value : {asked.sm_clock_mhz, asked.memory_clock_mhz, asked.power_limit_w})
        key += '\x1f' + std::to_string(value);
    return key;
}

constexpr const char* no_power = "the table has no power";

}  // namespace

void PublishedRows::account_for(const TableReader& table, const PublishedColumns& columns) {
    for (const std::string_view column : columns.used)
        if (!table.has(column)) table.fail("the header lacks the column " + std::string(column));
    for (const std::string& column : table.columns()) {
        const auto is_in = [&](const auto& list) { return std::ranges::find(list, column) != list.end(); };
        if (is_in(columns.used) || is_in(columns.optional)) continue;
        (is_in(columns.dropped) ? counts_.dropped_columns : counts_.unknown_columns).push_back(printable(column));
    }
}

std::string PublishedRows::no_sheet(std::string_view name) {
    return "device '" + printable(name, 40) + "' has no data sheet (joulecast help devices tells how to add one)";
}

const Device* PublishedRows::device(std::string_view name) {
    const auto [place, is_new] = devices_.try_emplace(std::string(name));
    std::optional<Device>& known = place->second;
    if (is_new) {
        if (const DataSheet* sheet = known_devices().find(name))
            known = sheet->device;
        else
            for (Device& stored : dataset_.devices())
                if (stored.id == name) known = std::move(stored);
        if (known) insertion_.add(*known);
    }
    return known ? &*known : nullptr;
}

void PublishedRows::drop(const std::string& why, std::int64_t rows) {
    if (rows == 0) return;
    counts_.rows += rows;
    const std::string shown = printable(why);
    const bool is_counted = counts_.dropped.contains(shown) || counts_.dropped.size() < most_reasons;
    counts_.dropped[is_counted ? shown : "further reasons"] += rows;
}

void PublishedRows::use(std::int64_t rows) {
    counts_.rows += rows;
    counts_.used += rows;
}

std::optional<OperatingPoint> PublishedRows::point(const PublishedTime& time) {
    const Device* known = device(time.device);
    if (known == nullptr) return {};
    OperatingPoint point;
    point.device = known->id;
    point.host = time.host;
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
    const auto at = point(time);
    if (!at) return drop(no_sheet(time.device));
    row.mode = mode(row.measurement.operation);
    row.measurement.asked = row.measurement.real = *at;
    row.measurement.time = summary(time.time_s);
    if (row.mode == Mode::training && time.forward_s > 0) row.measurement.forward = summary(time.forward_s);
    row.measurement.energy_missing_reason = no_power;
    row.provenance = std::move(provenance);
    add(std::move(row));
}

void PublishedRows::add(NetworkMeasurement network, const PublishedTime& time, Provenance provenance) {
    if (time.time_s > most_seconds) return drop("a time of more than a year");
    const auto at = point(time);
    if (!at) return drop(no_sheet(time.device));
    NetworkRow row;
    row.measurement = std::move(network);
    row.measurement.asked = row.measurement.real = *at;
    row.measurement.time = summary(time.time_s);
    if (row.measurement.mode == Mode::training && time.forward_s > 0) row.measurement.forward = summary(time.forward_s);
    row.measurement.energy_missing_reason = no_power;
    row.provenance = std::move(provenance);
    add(std::move(row));
}

template <class Row>
void PublishedRows::store(const std::string& key, Row row) {
    row.measurement.asked.engine = row.measurement.real.engine = engine_of(row.provenance.framework);
    row.provenance.session =
        session(row.provenance.session, key + point_key(row.measurement.asked) + '\x1f' + row.measurement.started_at);
    use();
    counts_.added += insertion_.add(row) ? 1 : 0;
}

void PublishedRows::add(OperationRow row) {
    const std::string key = signature(row.measurement.operation);
    store(key, std::move(row));
}

void PublishedRows::add(NetworkRow row) {
    const NetworkMeasurement& m = row.measurement;
    const std::string key = m.model + '\x1f' + symbols_text(m.symbols) + '\x1f' + std::string(name(m.mode)) + '\x1f' +
                            m.precision + '\x1f' + std::string(name(m.optimizer));
    store(key, std::move(row));
}

void PublishedRows::note(const std::string& sentence) {
    if (counts_.notes.size() < most_reasons) counts_.notes.push_back(printable(sentence));
}

Import PublishedRows::commit() {
    insertion_.commit();
    return counts_;
}

}  // namespace joulecast
