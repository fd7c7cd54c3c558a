#include "lab/published/import_mlperf_power.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>
#include <utility>

#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/units/printable.h"
#include "lab/published/mobile_network.h"

namespace joulecast {

namespace {

/// Rockchip's RK3588 brief: four Cortex-A76 and four Cortex-A55, and a Mali-G610 MP4. Clocks and memory differ by board
/// and are not in the table.
Device rk3588() {
    Device device;
    device.id = "cpu-rockchip-rk3588s-8c";
    device.display_name = "Rockchip RK3588S";
    device.kind = Device::Kind::cpu;
    device.vendor = "rockchip";
    device.units = 8;
    device.source = "MLPerf Inference results, systems/*.json: 4 Cortex-A76 and 4 Cortex-A55, Mali-G610 MP4";
    return device;
}

std::string engine_of(const TableReader& row) {
    const std::string& framework = row.text("framework");
    if (framework.starts_with("TFLite")) return "tflite";
    if (!framework.starts_with("ArmNN")) return "";
    return framework.find("OpenCL") == std::string::npos ? "armnn-neon" : "armnn-opencl";
}

/// "armnn-neon v22.11" of "ArmNN v22.11 (Neon)": databases take the engine's name from its first word.
std::string framework_of(const TableReader& row, const std::string& engine) {
    std::istringstream words(printable(row.text("framework"), 80));
    std::string name, version;
    words >> name >> version;
    return engine + " " + version;
}

PublishedColumns table_columns() {
    return {{"round", "system", "host_cpu", "framework", "benchmark", "scenario", "valid", "mean_latency_ms",
             "wall_power_mean_w", "power_samples", "window_s", "energy_per_sample_j"},
            {"division", "submitter", "nodes", "accelerators_per_node", "accelerator", "host_cpus_per_node",
             "host_cores", "throughput_samples_per_s", "tokens_per_s", "p90_latency_ms", "p99_latency_ms",
             "samples_per_query", "wall_power_min_w", "wall_power_max_w", "tz_offset_used_s"}};
}

/// Empty for a row that is used.
std::string why_not(const TableReader& row, const std::string& engine, const std::optional<MobileNetwork>& network) {
    if (!row.text("host_cpu").starts_with("RockChip RK3588S")) return "of another processor";
    if (row.text("scenario") != "SingleStream") return "no time of a single sample";
    if (row.text("valid") != "VALID") return "not valid by MLPerf's own check";
    if (engine.empty()) return "an engine that is not known";
    if (!network) return "a network that is not known";
    return "";
}

NetworkRow network_row(const TableReader& row, const std::string& engine, const MobileNetwork& network) {
    NetworkRow stored;
    NetworkMeasurement& m = stored.measurement;
    m.model = network.name;
    m.symbols = {{"batch", 1}};
    m.precision = network.precision;
    m.asked.device = m.asked.host_cpu = rk3588().id;
    m.asked.engine = engine;
    m.real = m.asked;
    m.outcome = Outcome::ok;
    m.time.mean_s = m.time.median_s = row.positive("mean_latency_ms") * 1e-3;
    m.time.half_width_s = std::numeric_limits<double>::quiet_NaN();
    EnergySummary energy;
    energy.energy_j = row.positive("energy_per_sample_j");
    energy.power_w = row.positive("wall_power_mean_w");
    energy.window_s = row.positive("window_s");
    energy.ticks = row.whole("power_samples");
    energy.calls = std::max<std::int64_t>(1, std::llround(energy.window_s / m.time.mean_s));
    energy.meter = "SPEC PTDaemon at the wall";
    m.energy = energy;
    stored.provenance.session = "mlperf " + row.text("round") + " " + printable(row.text("system"), 80);
    stored.provenance.framework = framework_of(row, engine);
    stored.provenance.worker = "published";
    stored.provenance.machine = printable(row.text("host_cpu"), 80);
    stored.provenance.source = "MLPerf Inference " + row.text("round") + ", derived, not verified by MLCommons";
    return stored;
}

std::string whole_row(const TableReader& row) {
    std::string text;
    for (const std::string& column : row.columns()) text += row.text(column) + "\x1f";
    return text;
}

}  // namespace

Import import_mlperf_power(Dataset& dataset, std::istream& input, const std::string& name) {
    TableReader table(input, name);
    PublishedRows rows(dataset);
    rows.account_for(table, table_columns());
    rows.replace(rk3588());
    rows.device(rk3588().id);
    std::set<std::string> seen;
    while (table.next()) {
        const std::string engine = engine_of(table);
        const auto network = mobile_network(table.text("benchmark"));
        std::string why = why_not(table, engine, network);
        if (why.empty() && !seen.insert(whole_row(table)).second) why = "the same line again";
        if (why.empty())
            rows.add(network_row(table, engine, *network));
        else
            rows.drop(why);
    }
    return rows.commit();
}

}  // namespace joulecast
