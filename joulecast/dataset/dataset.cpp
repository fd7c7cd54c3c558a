#include "joulecast/dataset/dataset.h"

#include <cmath>
#include <string>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/schema.h"
#include "joulecast/dataset/sqlite.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

template <class Row>
std::string names_of(const std::vector<StoredColumn<Row>>& columns, const std::string& prefix = "") {
    std::string joined;
    for (const auto& column : columns) joined += (joined.empty() ? "" : ", ") + prefix + column.name;
    return joined;
}

std::string placeholders(std::size_t count) {
    std::string joined = "?";
    for (std::size_t i = 1; i < count; ++i) joined += ", ?";
    return joined;
}

template <class Row>
void bind_row(sqlite::Statement& statement, const std::vector<StoredColumn<Row>>& columns, const Row& row, int first) {
    for (const auto& column : columns) statement.bind(first++, column.get(row));
}

template <class Row>
void read_row(const sqlite::Statement& statement, const std::vector<StoredColumn<Row>>& columns, Row& row, int first) {
    for (const auto& column : columns) {
        try {
            column.set(row, statement.field(first++));
        } catch (const FormatError& error) {
            throw FormatError("the database is damaged: " + column.name + " of row " +
                              std::to_string(statement.integer(0)) + " " + error.what() + ".");
        }
    }
}

sqlite::Connection opened(const std::filesystem::path& path, Dataset::Access access) {
    const bool reading = access == Dataset::Access::read_only;
    std::error_code ignored;
    if (reading && !std::filesystem::exists(path, ignored))
        throw Error("there is no database '" + path.string() + "'. Write one with: joulecast profile MODEL --db " +
                    path.string());
    sqlite::Connection connection(
        path, reading ? sqlite::Connection::Access::read_only : sqlite::Connection::Access::read_write);
    if (reading) {
        require_current(connection, dataset_migrations());
        return connection;
    }
    // A row costs about a second to measure: the milliseconds of a sync are well spent.
    connection.execute("PRAGMA synchronous = FULL");
    migrate(connection, dataset_migrations());  // refuses a foreign file before anything is changed in it
    connection.use_write_ahead_log();
    return connection;
}

/// A clock or limit: NULL where none was asked for.
Field clock_field(double value) {
    return std::isnan(value) ? Field{} : Field{value};
}

template <class Row>
struct Table;

template <>
struct Table<OperationRow> {
    static constexpr const char* name = "operations";
    static constexpr const char* blocks = "operation_blocks";
    static const auto& columns() { return operation_columns(); }
};

template <>
struct Table<NetworkRow> {
    static constexpr const char* name = "networks";
    static constexpr const char* blocks = "network_blocks";
    static const auto& columns() { return network_columns(); }
};

template <>
struct Table<ReferenceRow> {
    static constexpr const char* name = "reference_runs";
    static const auto& columns() { return reference_columns(); }
};

const std::string& device_of(const auto& row) {
    return row.measurement.asked.device;
}
const std::string& device_of(const ReferenceRow& row) {
    return row.asked.device;
}

std::optional<std::string> impossible_row(const auto& row) {
    return impossible(row.measurement);
}
std::optional<std::string> impossible_row(const ReferenceRow& row) {
    return impossible(row);
}

/// References have no raw blocks.
template <class Row>
constexpr bool has_blocks = requires { Table<Row>::blocks; };

}  // namespace

class Dataset::Connection {
  public:
    Connection(const std::filesystem::path& path, Access access) : sql(opened(path, access)) {}

    bool has_device(const std::string& device) const {
        return sql.prepare("SELECT 1 FROM devices WHERE device = ?").bind(1, device).step();
    }

    void add_device(const Device& device) {
        auto insert = sql.prepare("INSERT OR IGNORE INTO devices (" + names_of(device_columns()) + ") VALUES (" +
                                  placeholders(device_columns().size()) + ")");
        bind_row(insert, device_columns(), device, 1);
        insert.run();
    }

    std::int64_t session_id(const Provenance& provenance) {
        const auto& columns = session_columns();
        auto insert = sql.prepare("INSERT OR IGNORE INTO sessions (" + names_of(columns) + ") VALUES (" +
                                  placeholders(columns.size()) + ")");
        bind_row(insert, columns, provenance, 1);
        insert.run();
        std::string same;
        for (const auto& column : columns) same += (same.empty() ? "" : " AND ") + column.name + " = ?";
        auto find = sql.prepare("SELECT id FROM sessions WHERE " + same);
        bind_row(find, columns, provenance, 1);
        find.step();
        return find.integer(0);
    }

    /// The new row's id; 0 when its key is there already.
    template <class Row>
    std::int64_t add_row(const Row& row) {
        const std::string& device = device_of(row);
        if (!has_device(device))
            throw Error("device '" + device + "' is not in database '" + sql.file().string() +
                        "': store its facts before its measurements.");
        if (const auto why = impossible_row(row)) throw Error("this is no measurement: " + *why + ".");
        const auto& columns = Table<Row>::columns();
        auto insert =
            sql.prepare("INSERT INTO " + std::string(Table<Row>::name) + " (session_id, " + names_of(columns) +
                        ") VALUES (" + placeholders(columns.size() + 1) + ") ON CONFLICT DO NOTHING");
        insert.bind(1, session_id(row.provenance));
        bind_row(insert, columns, row, 2);
        insert.run();
        if (sql.changes() == 0) return 0;
        const std::int64_t id = sql.last_insert_id();
        if constexpr (has_blocks<Row>) {
            if (row.measurement.block_s.empty()) return id;
            auto blocks = sql.prepare("INSERT INTO " + std::string(Table<Row>::blocks) + " VALUES (?, ?)");
            blocks.bind(1, id).bind_doubles(2, row.measurement.block_s);
            blocks.run();
        }
        return id;
    }

    /// In place of `row.id`.
    template <class Row>
    std::int64_t replace_row(const Row& row) {
        sqlite::Transaction transaction(sql);
        sql.prepare("DELETE FROM " + std::string(Table<Row>::name) + " WHERE id = ?").bind(1, row.id).run();
        const std::int64_t id = add_row(row);
        if (id == 0) throw Error("session " + row.provenance.session + " has stored this measurement already.");
        transaction.commit();
        return id;
    }

    void remark(const std::string& table, std::int64_t id, const std::string& remark) {
        sql.prepare("UPDATE " + table + " SET message = message || iif(message = '', '', '; ') || ? WHERE id = ?")
            .bind(1, remark)
            .bind(2, id)
            .run();
    }

    template <class Row>
    std::int64_t insert_row(const Row& row) {
        sqlite::Transaction transaction(sql);
        const std::int64_t id = add_row(row);
        if (id == 0) throw Error("session " + row.provenance.session + " has stored this measurement already.");
        transaction.commit();
        return id;
    }

    /// Calls `use(row)` for every row, ordered by id.
    template <class Row, class Use>
    void for_each(const std::optional<std::string>& device, [[maybe_unused]] bool with_blocks, Use use) const {
        const auto& columns = Table<Row>::columns();
        const auto& session = session_columns();
        const std::string table = Table<Row>::name;
        std::string query = "SELECT r.id, " + names_of(columns, "r.") + ", " + names_of(session, "s.");
        if (with_blocks) query += ", b.block_s";
        query += " FROM " + table + " r JOIN sessions s ON s.id = r.session_id";
        if constexpr (has_blocks<Row>)
            if (with_blocks) query += " LEFT JOIN " + std::string(Table<Row>::blocks) + " b ON b.id = r.id";
        if (device) query += " WHERE r.device = ?";
        auto select = sql.prepare(query + " ORDER BY r.id");
        if (device) select.bind(1, *device);
        const int first_of_session = 1 + static_cast<int>(columns.size());
        while (select.step()) {
            Row row;
            row.id = select.integer(0);
            read_row(select, columns, row, 1);
            read_row(select, session, row.provenance, first_of_session);
            if constexpr (has_blocks<Row>)
                if (with_blocks)
                    row.measurement.block_s = select.doubles(first_of_session + static_cast<int>(session.size()));
            use(std::move(row));
        }
    }

    template <class Row>
    std::vector<Row> rows(const std::optional<std::string>& device, bool with_blocks) const {
        std::vector<Row> all;
        for_each<Row>(device, with_blocks, [&all](Row row) { all.push_back(std::move(row)); });
        return all;
    }

    sqlite::Connection sql;
};

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
    auto& sql = connection_->sql;
    auto insert =
        sql.prepare("INSERT INTO devices (" + names_of(device_columns()) + ") VALUES (" +
                    placeholders(device_columns().size()) + ") ON CONFLICT (device) DO UPDATE SET " + updates);
    bind_row(insert, device_columns(), device, 1);
    insert.run();
}

std::int64_t Dataset::insert(const Measurement& measurement, const Provenance& provenance) {
    return connection_->insert_row(OperationRow{0, measurement, mode(measurement.operation), provenance});
}

std::int64_t Dataset::insert(const NetworkMeasurement& measurement, const Provenance& provenance) {
    return connection_->insert_row(NetworkRow{0, measurement, provenance});
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
    return connection_->sql
        .prepare(
            "SELECT 1 FROM operations r JOIN sessions s ON s.id = r.session_id "
            "WHERE r.operation = ? AND r.device = ? AND r.mode = ? AND r.math = ? AND r.host = ? "
            "AND r.threads = ? AND r.asked_sm_clock_mhz IS ? AND s.method = ? "
            "AND r.asked_memory_clock_mhz IS ? AND r.asked_power_limit_w IS ?")
        .bind(1, key.operation)
        .bind(2, key.device)
        .bind(3, std::string(name(key.mode)))
        .bind(4, std::string(name(key.math)))
        .bind(5, std::string(name(key.host)))
        .bind(6, std::int64_t{key.threads})
        .bind(7, clock_field(key.sm_clock_mhz))
        .bind(8, key.method)
        .bind(9, clock_field(key.memory_clock_mhz))
        .bind(10, clock_field(key.power_limit_w))
        .step();
}

bool Dataset::contains(const NetworkMeasurement& like, Method method) const {
    return connection_->sql
        .prepare(
            "SELECT 1 FROM networks r JOIN sessions s ON s.id = r.session_id WHERE model = ? AND symbols = ? AND "
            "mode = ? AND precision = ? AND device = ? AND math = ? AND host = ? AND threads = ? AND "
            "asked_sm_clock_mhz IS ? AND asked_memory_clock_mhz IS ? AND asked_power_limit_w IS ? AND optimizer = ? "
            "AND s.method = ?")
        .bind(1, like.model)
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
        .step();
}

std::vector<Device> Dataset::devices() const {
    auto select =
        connection_->sql.prepare("SELECT rowid, " + names_of(device_columns()) + " FROM devices ORDER BY rowid");
    std::vector<Device> all;
    while (select.step()) read_row(select, device_columns(), all.emplace_back(), 1);
    return all;
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
            "SELECT r.device, r.mode, r.outcome, s.worker, s.source, count(*), count(DISTINCT s.session), "
            "total(r.wall_s) FROM " +
            kind + "s r JOIN sessions s ON s.id = r.session_id GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5");
        while (select.step())
            groups.push_back({kind, select.text(0), select.text(1), select.text(2), select.text(3), select.text(4),
                              select.integer(5), select.integer(6), select.real(7)});
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

std::int64_t Dataset::insert_missing(const std::vector<Device>& devices, const std::vector<OperationRow>& operations,
                                     const std::vector<NetworkRow>& networks,
                                     const std::vector<ReferenceRow>& references) {
    sqlite::Transaction transaction(connection_->sql);
    std::int64_t added = 0;
    for (const Device& device : devices) connection_->add_device(device);
    for (const OperationRow& row : operations) added += connection_->add_row(row) != 0 ? 1 : 0;
    for (const NetworkRow& row : networks) added += connection_->add_row(row) != 0 ? 1 : 0;
    for (const ReferenceRow& row : references) added += connection_->add_row(row) != 0 ? 1 : 0;
    transaction.commit();
    return added;
}

std::int64_t Dataset::merge(const Dataset& other) {
    sqlite::Transaction transaction(connection_->sql);
    std::int64_t added = 0;
    for (const Device& device : other.devices()) connection_->add_device(device);
    const auto add = [this, &added](const auto& row) { added += connection_->add_row(row) != 0 ? 1 : 0; };
    // Row by row: raw blocks of a whole database may not fit into memory.
    other.connection_->for_each<OperationRow>({}, true, add);
    other.connection_->for_each<NetworkRow>({}, true, add);
    other.connection_->for_each<ReferenceRow>({}, false, add);
    transaction.commit();
    return added;
}

}  // namespace joulecast
