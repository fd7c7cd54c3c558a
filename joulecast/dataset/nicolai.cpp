#include "joulecast/dataset/nicolai.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "joulecast/dataset/csv_reader.h"
#include "joulecast/dataset/torch_layer.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr double missing = std::numeric_limits<double>::quiet_NaN();
/// The thesis gives its errors as 1.96 sigma of a normal distribution (its equations 3.5 and 3.9).
constexpr double normal_95 = 1.96;
constexpr std::size_t most_dimensions = 8;

constexpr auto shared_columns =
    std::to_array<std::string_view>({"device", "precision", "mode", "input_shape", "time_s", "time_std_s", "power_w",
                                     "power_std_w", "energy_j", "energy_std_j", "iterations", "started", "stopped"});
constexpr auto layer_columns = std::to_array<std::string_view>({"op", "attrs", "total_runtime_s", "campaign"});
constexpr auto network_columns_of_table = std::to_array<std::string_view>({"model"});

/// A file's records by column name.
class Table {
  public:
    Table(std::istream& input, const std::string& name) : reader_(input, name) {
        auto header = reader_.next();
        if (!header) reader_.fail("the file is empty");
        header_ = std::move(*header);
        for (std::size_t i = 0; i < header_.size(); ++i) {
            if (!place_.emplace(header_[i], i).second) reader_.fail("column '" + header_[i] + "' stands there twice");
        }
    }

    bool has(std::string_view column) const { return place_.contains(std::string(column)); }
    const std::vector<std::string>& header() const { return header_; }
    bool next() {
        auto fields = reader_.next();
        if (!fields) return false;
        if (fields->size() != header_.size())
            reader_.fail("has " + std::to_string(fields->size()) + " fields, the header " +
                         std::to_string(header_.size()));
        fields_ = std::move(*fields);
        return true;
    }
    const std::string& text(const std::string& column) const { return fields_[place_.at(column)]; }
    /// NaN for an empty field.
    double number(const std::string& column) const {
        const std::string& field = text(column);
        if (field.empty()) return missing;
        double value = 0;
        const auto [end, failure] = std::from_chars(field.data(), field.data() + field.size(), value);
        if (failure != std::errc() || end != field.data() + field.size() || !std::isfinite(value))
            fail(column + " is '" + field.substr(0, 40) + "', which is no number");
        return value;
    }
    double positive(const std::string& column) const {
        const double value = number(column);
        if (!(value > 0)) fail(column + " is not above zero");
        return value;
    }
    [[noreturn]] void fail(const std::string& what) const { reader_.fail(what); }

  private:
    CsvReader reader_;
    std::vector<std::string> header_;
    std::map<std::string, std::size_t> place_;
    std::vector<std::string> fields_;
};

/// What rows of both files tell alike.
struct Measured {
    std::string device;
    Precision precision = Precision::fp32;
    Mode mode = Mode::inference;
    Sizes shape;
    TimeSummary time;
    EnergySummary energy;
    double wall_s = 0;
    std::string started;
    std::string stopped;
};

Sizes shape_of(const Table& table) {
    Sizes sizes;
    const std::string& text = table.text("input_shape");
    const char* at = text.data();
    const char* const last = at + text.size();
    while (true) {
        std::int64_t size = 0;
        const auto [end, failure] = std::from_chars(at, last, size);
        if (failure != std::errc() || size < 1 || sizes.size() == most_dimensions)
            table.fail("input_shape is '" + text.substr(0, 40) + "', which is not like 32x3x224x224");
        sizes.push_back(size);
        if (end == last) return sizes;
        if (*end != 'x') table.fail("input_shape is '" + text.substr(0, 40) + "', which is not like 32x3x224x224");
        at = end + 1;
    }
}

/// "2024-11-17_14-45-42", by the clock of the place that measured, as ISO 8601.
std::string moment(const Table& table, const std::string& column) {
    constexpr std::string_view pattern = "dddd-dd-dd_dd-dd-dd";
    std::string text = table.text(column);
    const bool fits = text.size() == pattern.size() &&
                      std::equal(text.begin(), text.end(), pattern.begin(),
                                 [](char c, char p) { return p == 'd' ? c >= '0' && c <= '9' : c == p; });
    if (!fits) table.fail(column + " is '" + text.substr(0, 40) + "', which is not like 2024-11-17_14-45-42");
    text[10] = 'T';
    text[13] = text[16] = ':';
    return text;
}

/// Seconds of the day, for the length of a measurement; none lasts a day.
double second_of_day(const std::string& moment) {
    const auto two = [&](std::size_t at) { return (moment[at] - '0') * 10 + (moment[at + 1] - '0'); };
    return two(11) * 3600.0 + two(14) * 60.0 + two(17);
}

Measured measured(const Table& table) {
    Measured m;
    m.device = table.text("device");
    const auto precision = parse_precision(table.text("precision"));
    if (!precision) table.fail("precision '" + table.text("precision").substr(0, 40) + "' is not known");
    m.precision = *precision;
    const auto mode = parse_mode(table.text("mode"));
    if (!mode) table.fail("mode '" + table.text("mode").substr(0, 40) + "' is not known");
    m.mode = *mode;
    m.shape = shape_of(table);
    m.time.mean_s = m.time.median_s = table.positive("time_s");
    m.time.half_width_s = normal_95 * table.number("time_std_s");
    m.time.blocks = 1;
    m.time.effective_blocks = 1;
    const double calls = table.number("iterations");
    if (calls < 0 || calls > 1e15) table.fail("iterations is no count of calls");
    m.time.calls_per_block = std::isnan(calls) ? 0 : static_cast<std::int64_t>(calls);
    m.time.converged = true;
    m.energy.power_w = table.number("power_w");
    m.energy.energy_j = table.number("energy_j");
    m.energy.half_width_j = normal_95 * table.number("energy_std_j");
    m.energy.calls = m.time.calls_per_block;
    m.energy.window_s = calls * m.time.mean_s;
    m.energy.meter = "nvidia-smi";
    m.started = moment(table, "started");
    m.stopped = moment(table, "stopped");
    const double length = second_of_day(m.stopped) - second_of_day(m.started);
    m.wall_s = length < 0 ? length + 86400 : length;
    return m;
}

OperatingPoint point_of(const Measured& m, const Device& device) {
    OperatingPoint point;
    point.device = device.id;
    point.math = math_of(m.precision);
    point.host = Host::python;
    return point;
}

template <class Measurement>
void fill(Measurement& measurement, const Measured& m, const Device& device) {
    measurement.asked = measurement.real = point_of(m, device);
    // Default clocks under the card's own limit: the limit is known, the clock is not.
    measurement.real.power_limit_w = device.tdp_w;
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

class Import {
  public:
    Import(Dataset& dataset, Table& table, const NicolaiNames& names)
        : dataset_(dataset), table_(table), names_(names) {}

    NicolaiImport layers() {
        std::vector<LayerRow> rows;
        while (table_.next()) rows.push_back(layer_row());
        const auto trained = sittings_in_training_state(rows);
        for (LayerRow& row : rows) {
            row.layer.training_state = trained.contains(row.sitting);
            if (row.layer.training_state && row.measured.mode == Mode::inference) note_state(row.sitting);
            add(row);
        }
        return finish(static_cast<std::int64_t>(rows.size()));
    }

    NicolaiImport networks() {
        std::int64_t rows = 0;
        for (; table_.next(); ++rows) add_network(measured(table_), table_.text("model"));
        return finish(rows);
    }

  private:
    LayerRow layer_row() {
        LayerRow row;
        row.measured = measured(table_);
        row.layer.type = table_.text("op");
        row.layer.extra_repr = table_.text("attrs");
        row.layer.input = row.measured.shape;
        const std::string& campaign = table_.text("campaign");
        if (row.layer.type.empty()) table_.fail("op is empty");
        // The window that the table tells is the truth; iterations and time give the same to 1 %.
        const double window = table_.number("total_runtime_s");
        if (window > 0) row.measured.energy.window_s = window;
        row.sitting = row.measured.device + " " + std::string(name(row.measured.precision)) + " " +
                      std::string(name(row.measured.mode)) + " " + campaign;
        campaign_of_[row.sitting] = campaign;
        return row;
    }

    void add(LayerRow& row) {
        const auto dtype = dtype_of(row.measured.precision);
        if (!dtype) return drop("layers in mixed precision make several ATen calls");
        row.layer.dtype = *dtype;
        OperationRow stored;
        try {
            stored.measurement.operation = to_operation(row.layer, row.measured.mode == Mode::training);
        } catch (const FormatError& why) {
            return drop(why.what());
        }
        // An operation that takes no gradient (an integer input) cannot have been trained.
        if (mode(stored.measurement.operation) != row.measured.mode)
            return drop("a " + row.layer.type + " that nothing flows back through");
        stored.mode = row.measured.mode;
        stored.provenance = provenance(row.measured, campaign_of_.at(row.sitting));
        fill(stored.measurement, row.measured, device(row.measured.device));
        operations_.push_back(std::move(stored));
    }

    void add_network(const Measured& m, const std::string& model) {
        if (m.shape.size() != 4 || m.shape[2] != m.shape[3]) return drop("networks on other than square images");
        NetworkRow stored;
        stored.measurement.model = names_.network(model, m.shape[3]);
        stored.measurement.symbols = {{"batch", m.shape[0]}};
        stored.measurement.mode = m.mode;
        stored.measurement.precision = name(m.precision);
        // The step that was timed ends with that of torch.optim.SGD (docs/data.md).
        if (m.mode == Mode::training) stored.measurement.optimizer = Optimizer::sgd;
        stored.provenance = provenance(m, "networks");
        fill(stored.measurement, m, device(m.device));
        networks_.push_back(std::move(stored));
    }

    const Device& device(const std::string& published) {
        const auto known = devices_.find(published);
        return known != devices_.end() ? known->second
                                       : devices_.emplace(published, names_.device(published)).first->second;
    }

    void drop(const std::string& why) { ++report_.dropped[why]; }

    void note_state(const std::string& sitting) {
        auto& noted = report_.in_training_state;
        if (std::find(noted.begin(), noted.end(), sitting) == noted.end()) noted.push_back(sitting);
    }

    NicolaiImport finish(std::int64_t rows) {
        report_.rows = rows;
        std::vector<Device> devices;
        for (const auto& [published, device] : devices_) devices.push_back(device);
        report_.added = dataset_.insert_missing(devices, operations_, networks_);
        return std::move(report_);
    }

    Dataset& dataset_;
    Table& table_;
    const NicolaiNames& names_;
    std::map<std::string, Device> devices_;
    std::map<std::string, std::string> campaign_of_;
    std::vector<OperationRow> operations_;
    std::vector<NetworkRow> networks_;
    NicolaiImport report_;
};

template <class Columns>
void require(const Table& table, const Columns& columns) {
    for (const std::string_view column : columns) {
        if (!table.has(column)) table.fail("the header has no column '" + std::string(column) + "'");
    }
}

}  // namespace

NicolaiImport import_nicolai(Dataset& dataset, std::istream& input, const std::string& name,
                             const NicolaiNames& names) {
    Table table(input, name);
    const bool of_layers = table.has("op");
    if (!of_layers && !table.has("model")) {
        table.fail("the header names neither 'op' nor 'model', so these are neither layers nor networks");
    }
    require(table, shared_columns);
    if (of_layers) require(table, layer_columns);
    Import import(dataset, table, names);
    NicolaiImport report = of_layers ? import.layers() : import.networks();
    if (input.bad()) throw Error("cannot read '" + name + "' to its end.");
    for (const std::string& column : table.header()) {
        const auto known = [&](const auto& list) { return std::find(list.begin(), list.end(), column) != list.end(); };
        if (!known(shared_columns) && !known(layer_columns) && !known(network_columns_of_table))
            report.unused_columns.push_back(column);
    }
    return report;
}

}  // namespace joulecast
