#include "lab/published/import_energaizer.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/dataset/unpack.h"
#include "joulecast/device/precision.h"
#include "joulecast/meter/nvidia_sensor.h"
#include "joulecast/units/printable.h"
#include "lab/published/energaizer_attention.h"
#include "lab/published/energaizer_kernel.h"
#include "lab/published/energaizer_omissions.h"

namespace joulecast {
namespace {

constexpr const char* source = "energaizer";
constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// A network by what decides its kernels.
struct Network {
    std::string model;  ///< "energaizer:bertmodel-large": its lists are of these
                        ///< programs, not of our own graphs
    std::map<std::string, std::int64_t> symbols;
    std::string precision;
    std::string mode;  ///< "prefill", or nothing for networks of images
};

std::string model_name(const std::string& model, const std::string& config) {
    return std::string(source) + ":" + model + (config.empty() ? "" : "-" + config);
}

std::vector<std::string> parts_of(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
        if (c == '_')
            parts.emplace_back();
        else
            parts.back() += c;
    }
    return parts;
}

std::optional<std::int64_t> number_behind(const std::string& part, std::string_view word) {
    if (!part.starts_with(word)) return {};
    std::int64_t value = 0;
    const char* last = part.data() + part.size();
    const auto parsed = std::from_chars(part.data() + word.size(), last, value);
    if (parsed.ec != std::errc() || parsed.ptr != last || value < 1) return {};
    return value;
}

/// "bertmodel_large_pbf16_b16_s128_modeprefill", "resnet101__pbf16_b8_freq900":
/// model, configuration, precision, batch, and what else there is. The clock
/// does not decide the kernels.
Network workload_of(const TableReader& row) {
    const std::vector<std::string> parts = parts_of(row.text("workload"));
    const auto wrong = [&] {
        row.fail("workload '" + printable(row.text("workload"), 60) +
                 "' does not read model_config_pPRECISION_bBATCH...");
    };
    std::size_t at = 1;
    while (at < parts.size() && !(parts[at].starts_with('p') && parse_precision(parts[at].substr(1)))) ++at;
    if (at < 2 || at + 1 >= parts.size()) wrong();
    Network network;
    std::string model = parts[0];
    for (std::size_t i = 1; i + 1 < at; ++i) model += "_" + parts[i];
    network.model = model_name(model, parts[at - 1]);
    network.precision = parts[at].substr(1);
    const auto batch = number_behind(parts[at + 1], "b");
    if (!batch) wrong();
    network.symbols["batch"] = *batch;
    for (std::size_t i = at + 2; i < parts.size(); ++i) {
        if (const auto sequence = number_behind(parts[i], "s"))
            network.symbols["sequence"] = *sequence;
        else if (parts[i].starts_with("mode"))
            network.mode = parts[i].substr(4);
        else if (!number_behind(parts[i], "freq"))
            wrong();
    }
    return network;
}

Network network_of(const TableReader& row) {
    const std::string& precision = row.text("precision");
    if (!parse_precision(precision)) row.fail("precision '" + printable(precision, 20) + "' is no known word");
    Network network{model_name(row.text("model"), row.text("config")), {}, precision, row.text("mode")};
    network.symbols["batch"] = row.whole("batch");
    if (!row.text("seqlen").empty()) network.symbols["sequence"] = row.whole("seqlen");
    return network;
}

/// One forward pass over a whole prompt, or over images.
bool is_forward_pass(const Network& network) {
    return network.mode.empty() || network.mode == "prefill";
}

std::string other_mode(const Network& network) {
    return "mode " + network.mode.substr(0, 20) + ": only whole forward passes are taken";
}

/// One session for each set of theirs and each way of attention that was asked
/// for.
Provenance provenance_of(const TableReader& row) {
    const std::string& attention = row.text("attention");
    Provenance provenance;
    provenance.session = std::string(source) + " " + row.text("set") + (attention.empty() ? "" : " " + attention);
    provenance.worker = "EnergAIzer's profiler";
    provenance.framework = "torch";
    provenance.governor = "unknown";
    provenance.method = source;
    provenance.settings =
        R"({"time":"window / iterations, the start of the process (about 1.6 s) inside","clock":"locked"})";
    provenance.source = source;
    return provenance;
}

NetworkMeasurement measurement_of(const TableReader& row, const Network& network) {
    NetworkMeasurement m;
    m.model = network.model;
    m.symbols = network.symbols;
    m.precision = network.precision;
    m.asked.math = math_of(precision_named(network.precision));
    m.asked.host = Host::python;
    m.real = m.asked;
    m.asked.sm_clock_mhz = row.optional_positive("locked_mhz").value_or(unknown);
    m.real.sm_clock_mhz = row.optional_positive("mean_sm_mhz").value_or(unknown);
    m.time.mean_s = m.time.median_s = row.positive("time_ms") * 1e-3;  // one number stands for both
    m.energy.emplace();
    m.energy->energy_j = row.positive("energy_j");
    m.energy->power_w = row.positive("avg_power_w");
    m.energy->gain_error = nvidia_sensor_gain_error;
    m.energy->window_s = row.positive("window_s");
    m.energy->calls = row.whole("iterations");
    m.energy->meter = "nvml instant power each 10 ms (EnergAIzer)";
    m.conditions.temperature_c = row.number("temp_c");
    m.wall_s = m.energy->window_s;
    return m;
}

void read_networks(TableReader& table, PublishedRows& rows) {
    rows.account_for(
        table, {{"set", "gpu", "model", "config", "precision", "batch", "seqlen", "mode", "attention", "locked_mhz",
                 "mean_sm_mhz", "time_ms", "energy_j", "avg_power_w", "temp_c", "iterations", "window_s", "suspect"},
                {"source_name"}});
    while (table.next()) {
        const Network network = network_of(table);
        NetworkRow row{0, measurement_of(table, network), provenance_of(table)};
        if (table.whole("suspect", 0) != 0) {
            rows.drop("suspect: the measuring process died");
        } else if (!is_forward_pass(network)) {
            rows.drop(other_mode(network));
        } else if (const Device* device = rows.device(table.text("gpu"))) {
            row.measurement.asked.device = row.measurement.real.device = device->id;
            rows.add(std::move(row));
        } else {
            rows.drop(PublishedRows::no_sheet(table.text("gpu")));
        }
    }
}

/// The lines of each network's list, those of the same operation as one.
class Lists {
  public:
    /// Attention's kernels of the name `unspecified_tensor` wait for the sizes of its scores.
    void add(const Network& network, const Operation& operation, bool is_unspecified, std::int64_t count) {
        if (is_unspecified) {
            unspecified_.push_back({network, operation, count});
        } else if (operation.target == "aten::bmm") {
            const std::int64_t sequences = network.symbols.at("batch");
            for (const CalledKernel& called : energaizer_attention(operation, sequences, count)) {
                add(network, called.operation, called.count);
                if (const auto scores = attention_scores(called.operation))
                    scores_[place_of(network)].push_back(*scores);
            }
        } else {
            add(network, operation, count);
            if (operation.target == "aten::conv2d")
                for (const CalledKernel& omitted : energaizer_omissions(network.model, operation, count))
                    add(network, omitted.operation, omitted.count);
        }
    }

    /// To be called once, behind the last line.
    const std::vector<NetworkOperationRow>& lines() {
        for (const Unspecified& kernel : std::exchange(unspecified_, {})) {
            const auto& scores = scores_[place_of(kernel.network)];
            const std::int64_t elements = element_count(*find_tensor(kernel.operation, "self"));
            const auto fitting = std::ranges::find(scores, elements, element_count);
            if (fitting == scores.end()) {
                add(kernel.network, kernel.operation, kernel.count);
                continue;
            }
            const bool is_gpt2 = kernel.network.model.starts_with("energaizer:gpt2");
            for (const CalledKernel& called : energaizer_masking(*fitting, is_gpt2, kernel.count))
                add(kernel.network, called.operation, called.count);
        }
        return lines_;
    }

  private:
    struct Unspecified {
        Network network;
        Operation operation;
        std::int64_t count = 0;
    };

    static std::string place_of(const Network& network) {
        return network.model + '\x1f' + symbols_text(network.symbols) + '\x1f' + network.precision + '\x1f';
    }

    void add(const Network& network, const Operation& operation, std::int64_t count) {
        const std::string key = place_of(network) + signature(operation);
        const auto [place, is_new] = places_.emplace(key, lines_.size());
        if (!is_new) {
            lines_[place->second].count += count;  // both at most 2^40, and lines bounded by the file
            return;
        }
        NetworkOperationRow& line = lines_.emplace_back();
        line.model = network.model;
        line.symbols = network.symbols;
        line.precision = network.precision;
        line.operation = operation;
        line.count = count;
        line.source = source;
    }

    std::vector<NetworkOperationRow> lines_;
    std::map<std::string, std::size_t> places_;
    std::vector<Unspecified> unspecified_;
    std::map<std::string, std::vector<TensorType>> scores_;  ///< of each network's attention
};

void read_kernels(TableReader& table, PublishedRows& rows) {
    rows.account_for(table, {{"workload", "kind", "op", "batch", "m", "n", "k", "dim", "precision", "other", "count"},
                             {"tensor_core"}});
    Lists lists;
    while (table.next()) {
        const Network network = workload_of(table);
        const std::int64_t count = table.whole("count");
        const auto operation = energaizer_kernel(table);
        if (!is_forward_pass(network)) {
            rows.drop(other_mode(network));
        } else if (!operation) {
            rows.drop("kernel of unknown kind or op");
        } else {
            rows.use();
            lists.add(network, *operation, table.text("op") == "unspecified_tensor", count);
        }
    }
    for (const NetworkOperationRow& line : lists.lines()) rows.add(line);
}

/// All of them, and the one at the highest clock as the device's idle power.
void read_idle(TableReader& table, PublishedRows& rows) {
    rows.account_for(table, {{"gpu", "sm_mhz", "idle_power_w"}, {"host"}, {"supply_voltage_mv"}});
    std::map<std::string, std::vector<IdlePoint>> devices;
    while (table.next()) {
        IdlePoint point;
        point.sm_clock_mhz = table.positive("sm_mhz");
        point.power_w = table.positive("idle_power_w");
        point.voltage_mv = table.optional_positive("supply_voltage_mv").value_or(unknown);
        devices[table.text("gpu")].push_back(point);
    }
    for (auto& [gpu, idle] : devices) {
        const Device* known = rows.device(gpu);
        const auto lines = static_cast<std::int64_t>(idle.size());
        if (known == nullptr) {
            rows.drop(PublishedRows::no_sheet(gpu), lines);
            continue;
        }
        const IdlePoint highest = *std::ranges::max_element(idle, {}, &IdlePoint::sm_clock_mhz);
        Device device = *known;
        device.idle_w = highest.power_w;
        device.source += "; idle power at " + std::to_string(std::llround(highest.sm_clock_mhz)) + " MHz by EnergAIzer";
        rows.replace(device);
        rows.replace(device.id, idle, source);
        rows.use(lines);
    }
}

}  // namespace

Import import_energaizer(Dataset& dataset, std::istream& input, const std::string& name) {
    std::istringstream text(read_unpacked(input, name));
    TableReader table(text, name);
    PublishedRows rows(dataset);
    if (table.has("time_ms"))
        read_networks(table, rows);
    else if (table.has("workload"))
        read_kernels(table, rows);
    else if (table.has("idle_power_w"))
        read_idle(table, rows);
    else
        table.fail(
            "this is no table of EnergAIzer that is known: it has neither "
            "time_ms, workload nor idle_power_w");
    return rows.commit();
}

}  // namespace joulecast
