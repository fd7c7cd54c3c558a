#include "joulecast/dataset/import_sweep.h"

#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/dataset/unpack.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/units/printable.h"

namespace joulecast {
namespace {

/// The bound of docs/dataset.md for a meter whose energy and power do not
/// agree.
constexpr double most_disagreement = 0.03;

/// The word, or what stands for an empty field.
template <class Word, class Parse>
Word word(const TableReader& row, std::string_view column, Word otherwise, Parse parse) {
    const std::string& text = row.text(column);
    if (text.empty()) return otherwise;
    const auto value = parse(text);
    if (!value) row.fail(std::string(column) + " '" + printable(text, 40) + "' is no known word");
    return *value;
}

std::map<std::string, std::int64_t> symbols_of(const TableReader& row) {
    try {
        return parse_symbols(row.text("symbols"));
    } catch (const FormatError& error) {
        row.fail(std::string("symbols ") + error.what());
    }
}

/// What is not told of power and energy follows from the other.
std::optional<EnergySummary> energy_of(const TableReader& row, double time_s) {
    const auto power_w = row.optional_positive("power_w");
    const auto energy_j = row.optional_positive("energy_j");
    if (!power_w && !energy_j) return {};
    EnergySummary energy;
    energy.power_w = power_w ? *power_w : *energy_j / time_s;
    energy.energy_j = energy_j ? *energy_j : *power_w * time_s;
    energy.meter = "told by the table";
    energy.suspect = std::abs(energy.energy_j / (energy.power_w * time_s) - 1) > most_disagreement;
    return energy;
}

/// NaN where the table does not tell.
double share(const TableReader& row, std::string_view column) {
    const double value = row.number(column);
    if (value < 0 || value > 1)
        row.fail(std::string(column) + " '" + printable(row.text(column), 40) + "' is not between 0 and 1");
    return value;
}

NetworkMeasurement measurement_of(const TableReader& row) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    NetworkMeasurement m;
    m.model = row.text("workload");
    if (m.model.empty()) row.fail("workload is empty");
    m.symbols = symbols_of(row);
    m.mode = word(row, "mode", Mode::inference, parse_mode);
    const Precision precision = word(row, "precision", Precision::fp32, parse_precision);
    if (precision == Precision::torch_default) row.fail("precision is default: a measurement has fp32 or tf32");
    m.precision = name(precision);
    m.asked.math = math_of(precision);
    m.asked.host = word(row, "host", Host::python, parse_stored_host);
    m.real = m.asked;
    // A table tells what was asked for; whether the device held it, it does not.
    m.asked.sm_clock_mhz = row.optional_positive("sm_mhz").value_or(unknown);
    m.asked.memory_clock_mhz = row.optional_positive("mem_mhz").value_or(unknown);
    m.asked.power_limit_w = row.optional_positive("power_limit_w").value_or(unknown);
    m.time.mean_s = m.time.median_s = row.positive("time_s");  // one number stands for both
    m.memory_active = share(row, "memory_active");
    m.energy = energy_of(row, m.time.mean_s);
    if (!m.energy) m.energy_missing_reason = "the table tells neither power nor energy";
    m.wall_s = unknown;
    return m;
}

}  // namespace

Import import_sweep(Dataset& dataset, std::istream& input, const std::string& name) {
    std::istringstream text(read_unpacked(input, name));
    TableReader table(text, name);
    PublishedRows rows(dataset);
    rows.account_for(table, {{"device", "workload", "time_s"},
                             {},
                             {"sm_mhz", "mem_mhz", "power_limit_w", "power_w", "energy_j", "memory_active", "symbols",
                              "mode", "precision", "host"}});
    Provenance provenance;
    provenance.session = "sweep " + std::filesystem::path(name).filename().string();
    provenance.worker = "unknown";
    provenance.framework = "unknown";
    provenance.governor = "unknown";
    provenance.method = "unknown";
    provenance.source = "sweep";
    while (table.next()) {
        NetworkRow row{0, measurement_of(table), provenance};
        const std::string& device = table.text("device");
        if (device.empty()) table.fail("device is empty");
        const Device* known = rows.device(device);
        if (known == nullptr) table.fail(PublishedRows::no_sheet(device));
        row.measurement.asked.device = row.measurement.real.device = known->id;
        rows.add(std::move(row));
    }
    return rows.commit();
}

}  // namespace joulecast
