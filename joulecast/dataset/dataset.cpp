#include "joulecast/dataset/dataset.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/connection.h"
#include "joulecast/dataset/insertion.h"
#include "joulecast/dataset/sqlite.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

/// A clock or limit: NULL where none was asked for.
Field clock_field(double value) {
    return std::isnan(value) ? Field{} : Field{value};
}

/// Within that share of the larger, or one of them is not known.
bool agree(double a, double b, double share) {
    return std::isnan(a) || std::isnan(b) || std::abs(a - b) <= share * std::max(a, b);
}

}  // namespace

bool same_found_clock(double mhz, double other_mhz) {
    // GeForce cards lose a step of 15 MHz about every 5 C: 4 % of 1900 MHz from cold to hot.
    return agree(mhz, other_mhz, 0.04);
}

bool same_held_clock(double mhz, double other_mhz) {
    return agree(mhz, other_mhz, 0.02);
}

bool same_power_limit(double watts, double other_watts) {
    return agree(watts, other_watts, 0.01) || std::abs(watts - other_watts) <= 1;
}

Dataset::Dataset(const std::filesystem::path& path, Access access)
    : connection_(std::make_unique<Connection>(path, access)) {}
Dataset::~Dataset() = default;
Dataset::Dataset(Dataset&&) noexcept = default;
Dataset& Dataset::operator=(Dataset&&) noexcept = default;

void Dataset::insert(const Device& device) {
    std::string updates;
    for (const auto& column : device_columns()) {
        if (column.name == "device") continue;
        updates += (updates.empty() ? "" : ", ") + column.name + " = ifnull(excluded." + column.name + ", " +
                   column.name + ")";
    }
    auto insert = connection_->sql.prepare(
        stored::insert_into("devices", device_columns(), " ON CONFLICT (device) DO UPDATE SET " + updates));
    stored::bind_row(insert, device_columns(), device, 1);
    insert.run();
    connection_->begin_rows();  // its facts may be others now
}

void Dataset::insert(const std::string& device, std::span<const IdlePoint> idle, const std::string& source) {
    auto insert = connection_->sql.prepare(
        "INSERT INTO idle_points (device, sm_clock_mhz, idle_power_w, voltage_mv, source) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (device, sm_clock_mhz) DO UPDATE SET idle_power_w = excluded.idle_power_w, "
        "voltage_mv = excluded.voltage_mv, source = excluded.source");
    for (const IdlePoint& point : idle) {
        if (!(point.sm_clock_mhz > 0) || !(point.power_w > 0) || point.voltage_mv <= 0)
            throw Error("idle power of " + device + ": clocks, powers and voltages are positive");
        insert.bind(1, device)
            .bind(2, point.sm_clock_mhz)
            .bind(3, point.power_w)
            .bind(4, clock_field(point.voltage_mv))
            .bind(5, source)
            .run();
    }
}

std::vector<IdlePoint> Dataset::idle_points(const std::string& device) const {
    auto select = connection_->sql.prepare(
        "SELECT sm_clock_mhz, idle_power_w, voltage_mv FROM idle_points WHERE device = ? ORDER BY sm_clock_mhz");
    select.bind(1, device);
    std::vector<IdlePoint> points;
    while (select.step()) {
        IdlePoint& point = points.emplace_back();
        point.sm_clock_mhz = select.real(0);
        point.power_w = select.real(1);
        if (!select.is_null(2)) point.voltage_mv = select.real(2);
    }
    return points;
}

std::int64_t Dataset::insert(const Measurement& measurement, const Provenance& provenance) {
    return connection_->insert_row(OperationRow{0, measurement, mode(measurement.operation), provenance});
}

std::int64_t Dataset::insert(const NetworkMeasurement& measurement, const Provenance& provenance) {
    return connection_->insert_row(NetworkRow{0, measurement, provenance});
}

Measurement Dataset::judged(const Measurement& measurement) const {
    return joulecast::judged(measurement, connection_->device(measurement.asked.device));
}

NetworkMeasurement Dataset::judged(const NetworkMeasurement& measurement) const {
    return joulecast::judged(measurement, connection_->device(measurement.asked.device));
}

std::int64_t Dataset::insert(const ReferenceRow& row) {
    return connection_->insert_row(row);
}

std::int64_t Dataset::replace(std::int64_t id, const Measurement& measurement, const Provenance& provenance) {
    return connection_->replace_row(OperationRow{id, measurement, mode(measurement.operation), provenance});
}

std::int64_t Dataset::replace(std::int64_t id, const NetworkMeasurement& measurement, const Provenance& provenance) {
    return connection_->replace_row(NetworkRow{id, measurement, provenance});
}

void Dataset::remark_operation(std::int64_t id, const std::string& remark) {
    connection_->remark("operations", id, remark);
}

void Dataset::remark_network(std::int64_t id, const std::string& remark) {
    connection_->remark("networks", id, remark);
}

bool Dataset::contains(const MeasurementKey& key) const {
    OperatingPoint asked;
    asked.device = key.device;
    asked.sm_clock_mhz = key.sm_clock_mhz;
    asked.memory_clock_mhz = key.memory_clock_mhz;
    asked.power_limit_w = key.power_limit_w;
    auto rows = connection_->sql.prepare(
        "SELECT r.session_id, r.real_memory_clock_mhz, r.real_power_limit_w FROM operations r "
        "JOIN sessions s ON s.id = r.session_id "
        "WHERE r.operation = ? AND r.device = ? AND r.mode = ? AND r.math = ? AND r.host = ? "
        "AND r.threads = ? AND r.asked_sm_clock_mhz IS ? AND s.method = ? "
        "AND r.asked_memory_clock_mhz IS ? AND r.asked_power_limit_w IS ? AND r.engine = ?");
    rows.bind(1, key.operation)
        .bind(2, key.device)
        .bind(3, std::string(name(key.mode)))
        .bind(4, std::string(name(key.math)))
        .bind(5, std::string(name(key.host)))
        .bind(6, std::int64_t{key.threads})
        .bind(7, clock_field(key.sm_clock_mhz))
        .bind(8, key.method)
        .bind(9, clock_field(key.memory_clock_mhz))
        .bind(10, clock_field(key.power_limit_w))
        .bind(11, key.engine);
    return connection_->holds_one_at(rows, asked, key.found);
}

bool Dataset::contains(const NetworkMeasurement& like, Method method, const FoundClocks& found) const {
    auto rows = connection_->sql.prepare(
        "SELECT r.session_id, r.real_memory_clock_mhz, r.real_power_limit_w FROM networks r "
        "JOIN sessions s ON s.id = r.session_id WHERE model = ? AND symbols = ? AND "
        "mode = ? AND precision = ? AND device = ? AND math = ? AND host = ? AND threads = ? AND "
        "asked_sm_clock_mhz IS ? AND asked_memory_clock_mhz IS ? AND asked_power_limit_w IS ? AND optimizer = ? "
        "AND s.method = ? AND engine = ?");
    rows.bind(1, like.model)
        .bind(2, symbols_text(like.symbols))
        .bind(3, std::string(name(like.mode)))
        .bind(4, like.precision)
        .bind(5, like.asked.device)
        .bind(6, std::string(name(like.asked.math)))
        .bind(7, std::string(name(like.asked.host)))
        .bind(8, std::int64_t{like.asked.threads})
        .bind(9, clock_field(like.asked.sm_clock_mhz))
        .bind(10, clock_field(like.asked.memory_clock_mhz))
        .bind(11, clock_field(like.asked.power_limit_w))
        .bind(12, std::string(name(like.optimizer)))
        .bind(13, std::string(name(method)))
        .bind(14, like.asked.engine);
    return connection_->holds_one_at(rows, like.asked, found);
}

std::int64_t Dataset::rows_without_clock(const std::string& device) const {
    std::int64_t without = 0, with = 0;
    for (const std::string table : {"operations", "networks"}) {
        auto select = connection_->sql.prepare(
            "SELECT total(clock IS NULL), total(clock IS NOT NULL) FROM "
            "(SELECT ifnull(r.real_sm_clock_mhz, r.asked_sm_clock_mhz) AS clock FROM " +
            table +
            " r JOIN devices d ON d.device = r.device WHERE r.device = ? AND d.device_kind = 'gpu' "
            "AND r.outcome IN ('ok', 'unstable'))");
        select.bind(1, device).step();
        without += static_cast<std::int64_t>(select.real(0));
        with += static_cast<std::int64_t>(select.real(1));
    }
    return with > 0 ? without : 0;
}

bool Dataset::has_operations(const std::optional<std::string>& device) const {
    auto select = connection_->sql.prepare("SELECT 1 FROM operations WHERE ?1 IS NULL OR device = ?1 LIMIT 1");
    if (device) select.bind(1, *device);
    return select.step();
}

std::vector<Device> Dataset::devices() const {
    return connection_->devices();
}

std::vector<OperationRow> Dataset::operations(const std::optional<std::string>& device, bool with_blocks) const {
    return connection_->rows<OperationRow>(device, with_blocks);
}

std::vector<NetworkRow> Dataset::networks(const std::optional<std::string>& device, bool with_blocks) const {
    return connection_->rows<NetworkRow>(device, with_blocks);
}

std::vector<ReferenceRow> Dataset::references(const std::optional<std::string>& device) const {
    return connection_->rows<ReferenceRow>(device, false);
}

std::vector<RowGroup> Dataset::row_groups() const {
    std::vector<RowGroup> groups;
    for (const std::string kind : {"operation", "network"}) {
        auto select = connection_->sql.prepare(
            "SELECT r.device, r.mode, r.engine, r.host, r.outcome, s.worker, s.source, count(*), "
            "count(DISTINCT s.session), total(r.wall_s) FROM " +
            kind +
            "s r JOIN sessions s ON s.id = r.session_id GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1, 2, 3, 4, 5, 6, 7");
        while (select.step())
            groups.push_back({kind, select.text(0), select.text(1), select.text(2), select.text(3), select.text(4),
                              select.text(5), select.text(6), select.integer(7), select.integer(8), select.real(9)});
    }
    return groups;
}

std::optional<double> Dataset::mean_operation_wall_s(const std::string& device, Method method) const {
    auto select = connection_->sql.prepare(
        "SELECT avg(wall_s) FROM operations r JOIN sessions s ON s.id = r.session_id WHERE device = ? AND method = ? "
        "AND outcome IN ('ok', 'unstable') AND wall_s > 0");
    select.bind(1, device).bind(2, std::string(name(method))).step();
    if (select.is_null(0)) return {};
    return select.real(0);
}

std::int64_t Dataset::schema_version() const {
    return connection_->sql.integer("PRAGMA user_version");
}

std::vector<NetworkOperationRow> Dataset::network_operations() const {
    return connection_->network_operations(nullptr);
}

std::optional<Graph> Dataset::listed_network(const NetworkMeasurement& network) const {
    const auto lines = connection_->network_operations(&network);
    if (lines.empty()) return {};
    Graph graph;
    graph.name = network.model;
    graph.mode = network.mode;
    graph.has_edges = false;
    for (const auto& [symbol, value] : network.symbols) graph.symbols[symbol] = {value, value, value};
    for (const NetworkOperationRow& line : lines) {
        Node node;
        node.operation = line.operation;
        node.count = line.count;
        graph.nodes.push_back(std::move(node));
    }
    return graph;
}

std::int64_t Dataset::insert_missing(const std::vector<Device>& devices, const std::vector<OperationRow>& operations,
                                     const std::vector<NetworkRow>& networks,
                                     const std::vector<ReferenceRow>& references) {
    Insertion insertion(*this);
    std::int64_t added = 0;
    for (const Device& device : devices) insertion.add(device);
    for (const OperationRow& row : operations) added += insertion.add(row) ? 1 : 0;
    for (const NetworkRow& row : networks) added += insertion.add(row) ? 1 : 0;
    for (const ReferenceRow& row : references) added += insertion.add(row) ? 1 : 0;
    insertion.commit();
    return added;
}

/// What this one has stays.
void Dataset::merge_idle_points(const Dataset& other) {
    auto select = other.connection_->sql.prepare(
        "SELECT device, sm_clock_mhz, idle_power_w, voltage_mv, source FROM idle_points ORDER BY device, sm_clock_mhz");
    auto insert = connection_->sql.prepare(
        "INSERT OR IGNORE INTO idle_points (device, sm_clock_mhz, idle_power_w, voltage_mv, source) "
        "VALUES (?, ?, ?, ?, ?)");
    while (select.step()) {
        for (int column = 0; column < 5; ++column) insert.bind(column + 1, select.field(column));
        insert.run();
    }
}

std::int64_t Dataset::merge(const Dataset& other, const RowsToMerge& wanted) {
    Insertion insertion(*this);
    std::int64_t added = 0;
    for (const Device& device : other.devices()) insertion.add(device);
    const auto add = [&](const auto& row) { added += insertion.add(row) ? 1 : 0; };
    // Row by row: raw blocks of a whole database may not fit into memory.
    other.connection_->for_each<OperationRow>({}, true, [&](const OperationRow& row) {
        if (wanted.operation(row)) add(row);
    });
    other.connection_->for_each<NetworkRow>({}, true, [&](const NetworkRow& row) {
        if (wanted.network(row)) add(row);
    });
    other.connection_->for_each<ReferenceRow>({}, false, add);
    for (const NetworkOperationRow& row : other.network_operations()) add(row);
    merge_idle_points(other);
    insertion.commit();
    return added;
}

}  // namespace joulecast
