#include "lab/published/import_nicolai.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/dataset/published_rows.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/units/printable.h"
#include "lab/published/torch_layer.h"

namespace joulecast {
namespace {

/// The thesis gives its errors as 1.96 sigma of a normal distribution (its equations 3.5 and 3.9).
constexpr double thesis_sigmas = 1.96;
constexpr std::size_t most_dimensions = 8;

/// The columns of both tables, with those that only one has.
PublishedColumns columns_with(std::initializer_list<std::string_view> own) {
    PublishedColumns columns{{"device", "precision", "mode", "input_shape", "time_s", "time_std_s", "power_w",
                              "energy_j", "energy_std_j", "iterations", "started", "stopped"},
                             {"power_std_w"}};
    columns.used.insert(columns.used.end(), own);
    return columns;
}

[[noreturn]] void refuse(const TableReader& row, std::string_view column, const std::string& why) {
    row.fail(std::string(column) + " is '" + printable(row.text(column), 40) + "', which is " + why);
}

/// What rows of both files tell alike.
struct Measured {
    const Device* device = nullptr;
    Precision precision = Precision::fp32;
    Mode mode = Mode::inference;
    Sizes shape;
    TimeSummary time;
    EnergySummary energy;
    double wall_s = 0;
    std::string started;
    std::string stopped;
};

Sizes shape_of(const TableReader& row) {
    constexpr std::string_view column = "input_shape";
    Sizes sizes;
    const std::string& text = row.text(column);
    const char* at = text.data();
    const char* const last = at + text.size();
    while (true) {
        std::int64_t size = 0;
        const auto [end, failure] = std::from_chars(at, last, size);
        if (failure != std::errc() || size < 1 || sizes.size() == most_dimensions)
            refuse(row, column, "not like 32x3x224x224");
        sizes.push_back(size);
        if (end == last) return sizes;
        if (*end != 'x') refuse(row, column, "not like 32x3x224x224");
        at = end + 1;
    }
}

/// "2024-11-17_14-45-42", by the clock of the place that measured, as ISO 8601.
std::string moment(const TableReader& row, std::string_view column) {
    constexpr std::string_view pattern = "dddd-dd-dd_dd-dd-dd";
    std::string text = row.text(column);
    const bool fits = text.size() == pattern.size() &&
                      std::equal(text.begin(), text.end(), pattern.begin(),
                                 [](char c, char p) { return p == 'd' ? c >= '0' && c <= '9' : c == p; });
    if (!fits) refuse(row, column, "not like 2024-11-17_14-45-42");
    text[10] = 'T';
    text[13] = text[16] = ':';
    return text;
}

/// Seconds of the day, for the length of a measurement; none lasts a day.
double second_of_day(const std::string& moment) {
    const auto two = [&](std::size_t at) { return (moment[at] - '0') * 10 + (moment[at + 1] - '0'); };
    return two(11) * 3600.0 + two(14) * 60.0 + two(17);
}

/// The word that a column holds.
template <class Parse>
auto word(const TableReader& row, std::string_view column, Parse parse) {
    const auto value = parse(row.text(column));
    if (!value) row.fail(std::string(column) + " '" + printable(row.text(column), 40) + "' is not known");
    return *value;
}

Measured measured(const TableReader& row, PublishedRows& rows) {
    Measured m;
    m.device = rows.device(row.text("device"));
    if (m.device == nullptr) row.fail(PublishedRows::no_sheet(row.text("device")));
    m.precision = word(row, "precision", parse_precision);
    m.mode = word(row, "mode", parse_mode);
    m.shape = shape_of(row);
    m.time.mean_s = m.time.median_s = row.positive("time_s");
    m.time.half_width_s = thesis_sigmas * row.number("time_std_s");
    m.time.blocks = 1;
    m.time.effective_blocks = 1;
    const double calls = row.number("iterations");
    if (calls < 0 || calls > 1e15) row.fail("iterations is no count of calls");
    m.time.calls_per_block = std::isnan(calls) ? 0 : static_cast<std::int64_t>(calls);
    m.time.converged = true;
    m.energy.power_w = row.number("power_w");
    m.energy.energy_j = row.number("energy_j");
    m.energy.half_width_j = thesis_sigmas * row.number("energy_std_j");
    m.energy.calls = m.time.calls_per_block;
    m.energy.window_s = calls * m.time.mean_s;
    m.energy.meter = "nvidia-smi";
    m.started = moment(row, "started");
    m.stopped = moment(row, "stopped");
    const double length = second_of_day(m.stopped) - second_of_day(m.started);
    m.wall_s = length < 0 ? length + 86400 : length;
    return m;
}

OperatingPoint point_of(const Measured& m) {
    OperatingPoint point;
    point.device = m.device->id;
    point.math = math_of(m.precision);
    point.host = Host::python;
    return point;
}

template <class Measurement>
void fill(Measurement& measurement, const Measured& m) {
    measurement.asked = measurement.real = point_of(m);
    // Default clocks under the card's own limit: the limit is known, the clock is not.
    measurement.real.power_limit_w = m.device->tdp_w;
    measurement.time = m.time;
    if (m.energy.power_w > 0 && m.energy.energy_j > 0) {
        measurement.energy = m.energy;
    } else {
        measurement.energy_missing_reason = "the table has no power for this row";
    }
    measurement.wall_s = m.wall_s;
    measurement.started_at = m.started;
    measurement.ended_at = m.stopped;
}

Provenance provenance(const Measured& m, const std::string& session) {
    Provenance from;
    from.session = "nicolai " + session;
    from.started = m.started;
    from.worker = "ml-operator-profiling";
    from.framework = "torch";
    from.governor = "unknown";
    from.method = name(Method::thesis);
    from.source = "nicolai";
    return from;
}

std::optional<Dtype> dtype_of(Precision precision) {
    switch (precision) {
        case Precision::fp32:
        case Precision::tf32:
            return Dtype::f32;
        case Precision::bf16:
            return Dtype::bf16;
        case Precision::fp16:
            return Dtype::f16;
        default:
            return std::nullopt;
    }
}

struct LayerRow {
    Measured measured;
    TorchLayer layer;
    std::string campaign;
    std::string sitting;  ///< campaign, device, precision and mode: what ran in one state
};

/// The table does not tell whether layers were in training state, but a layer that drops does: in training state one
/// with a probability works through its input, otherwise none does and all cost the same. Sittings in which the former
/// take more than twice as long as the latter, or, without any of the latter, twice as long for large inputs as for
/// small ones, were in training state.
std::set<std::string> sittings_in_training_state(const std::vector<LayerRow>& rows) {
    struct Seen {
        std::vector<double> dropping, passing;
    };
    std::map<std::string, Seen> seen;
    std::set<std::string> trained;
    for (const LayerRow& row : rows) {
        if (row.measured.mode == Mode::training) trained.insert(row.sitting);
        const auto p = drop_probability(row.layer);
        if (!p) continue;
        (*p > 0 ? seen[row.sitting].dropping : seen[row.sitting].passing).push_back(row.measured.time.mean_s);
    }
    for (auto& [sitting, times] : seen) {
        if (times.dropping.empty()) continue;
        std::sort(times.dropping.begin(), times.dropping.end());
        std::sort(times.passing.begin(), times.passing.end());
        const double passing = times.passing.empty() ? times.dropping.front() : times.passing[times.passing.size() / 2];
        const double dropping =
            times.passing.empty() ? times.dropping.back() : times.dropping[times.dropping.size() / 2];
        if (dropping > 2 * passing) trained.insert(sitting);
    }
    return trained;
}

LayerRow layer_row(const TableReader& row, PublishedRows& rows) {
    LayerRow layer;
    layer.measured = measured(row, rows);
    layer.layer.type = row.text("op");
    layer.layer.extra_repr = row.text("attrs");
    layer.layer.input = layer.measured.shape;
    if (layer.layer.type.empty()) row.fail("op is empty");
    // The window that the table tells is the truth; iterations and time give the same to 1 %.
    const double window = row.number("total_runtime_s");
    if (window > 0) layer.measured.energy.window_s = window;
    layer.campaign = row.text("campaign");
    layer.sitting = row.text("device") + " " + std::string(name(layer.measured.precision)) + " " +
                    std::string(name(layer.measured.mode)) + " " + layer.campaign;
    return layer;
}

void add_layer(LayerRow row, PublishedRows& rows) {
    const auto dtype = dtype_of(row.measured.precision);
    if (!dtype) return rows.drop("layers in mixed precision make several ATen calls");
    row.layer.dtype = *dtype;
    OperationRow stored;
    try {
        stored.measurement.operation = to_operation(row.layer, row.measured.mode == Mode::training);
    } catch (const FormatError& why) {
        return rows.drop(why.what());
    }
    // An operation that takes no gradient (an integer input) cannot have been trained.
    if (mode(stored.measurement.operation) != row.measured.mode)
        return rows.drop("a " + row.layer.type + " that nothing flows back through");
    stored.mode = row.measured.mode;
    stored.provenance = provenance(row.measured, row.campaign);
    fill(stored.measurement, row.measured);
    rows.add(std::move(stored));
}

void read_layers(TableReader& table, PublishedRows& rows) {
    rows.account_for(table, columns_with({"op", "attrs", "total_runtime_s", "campaign"}));
    std::vector<LayerRow> layers;
    while (table.next()) layers.push_back(layer_row(table, rows));
    const auto trained = sittings_in_training_state(layers);
    std::set<std::string> noted;
    for (LayerRow& row : layers) {
        row.layer.training_state = trained.contains(row.sitting);
        if (row.layer.training_state && row.measured.mode == Mode::inference && noted.insert(row.sitting).second)
            rows.note(row.sitting +
                      ": its layers that drop were dropping, so batch norm counts as in training state too");
        add_layer(std::move(row), rows);
    }
}

void add_network(const TableReader& row, const NetworkNaming& naming, PublishedRows& rows) {
    const Measured m = measured(row, rows);
    if (m.shape.size() != 4 || m.shape[2] != m.shape[3]) return rows.drop("networks on other than square images");
    NetworkRow stored;
    stored.measurement.model = naming(row.text("model"), m.shape[3]);
    stored.measurement.symbols = {{"batch", m.shape[0]}};
    stored.measurement.mode = m.mode;
    stored.measurement.precision = name(m.precision);
    // The step that was timed ends with that of torch.optim.SGD (docs/data.md).
    if (m.mode == Mode::training) stored.measurement.optimizer = Optimizer::sgd;
    stored.provenance = provenance(m, "networks");
    fill(stored.measurement, m);
    rows.add(std::move(stored));
}

}  // namespace

Import import_nicolai(Dataset& dataset, std::istream& input, const std::string& name, const NetworkNaming& naming) {
    TableReader table(input, name);
    PublishedRows rows(dataset);
    if (table.has("op")) {
        read_layers(table, rows);
    } else if (table.has("model")) {
        rows.account_for(table, columns_with({"model"}));
        while (table.next()) add_network(table, naming, rows);
    } else {
        table.fail("the header names neither 'op' nor 'model', so these are neither layers nor networks");
    }
    return rows.commit();
}

}  // namespace joulecast
