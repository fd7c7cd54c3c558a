#include "joulecast/dataset/connection.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "joulecast/dataset/schema.h"

namespace joulecast {
namespace {

/// Readers know the newest version alone, and nobody should have to find a command that writes.
void raise_for_reading(const std::filesystem::path& path) {
    try {
        sqlite::Connection writing(path, sqlite::Connection::Access::read_write);
        migrate(writing, dataset_migrations());
    } catch (const Error& error) {
        throw Error("database '" + path.string() +
                    "' was written by an older joulecast and cannot be upgraded in place: " + error.what() +
                    " Copy it to where you may write, and open the copy.");
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
        if (!needs_migration(connection, dataset_migrations())) return connection;
        raise_for_reading(path);
        return {path, sqlite::Connection::Access::read_only};
    }
    // A row costs about a second to measure: the milliseconds of a sync are well spent.
    connection.execute("PRAGMA synchronous = FULL");
    migrate(connection, dataset_migrations());  // refuses a foreign file before anything is changed in it
    connection.use_write_ahead_log();
    return connection;
}

/// What makes a network the same, as the index over the lists has it.
constexpr const char* same_network = " WHERE model = ? AND symbols = ? AND mode = ? AND precision = ?";

template <class Network>
void bind_network(sqlite::Statement& statement, const Network& network) {
    statement.bind(1, network.model)
        .bind(2, symbols_text(network.symbols))
        .bind(3, std::string(name(network.mode)))
        .bind(4, network.precision);
}

}  // namespace

Dataset::Connection::Connection(const std::filesystem::path& path, Access access) : sql(opened(path, access)) {}

sqlite::Statement& Dataset::Connection::prepared(const std::string& text) {
    const auto found = statements_.find(text);
    return found != statements_.end() ? found->second : statements_.emplace(text, sql.prepare(text)).first->second;
}

std::vector<Device> Dataset::Connection::devices() const {
    auto select = sql.prepare("SELECT rowid, " + stored::names_of(device_columns()) + " FROM devices ORDER BY rowid");
    std::vector<Device> devices;
    while (select.step()) stored::read_row(select, device_columns(), devices.emplace_back(), 1);
    return devices;
}

const Device& Dataset::Connection::device(const std::string& id) {
    if (const auto known = devices_.find(id); known != devices_.end()) return known->second;
    auto select = sql.prepare("SELECT rowid, " + stored::names_of(device_columns()) + " FROM devices WHERE device = ?");
    if (!select.bind(1, id).step())
        throw Error("device '" + id + "' is not in database '" + sql.file().string() +
                    "': store its facts before its measurements.");
    Device read;
    stored::read_row(select, device_columns(), read, 1);
    return devices_[id] = std::move(read);
}

std::int64_t Dataset::Connection::session_id(const Provenance& provenance) {
    const auto& columns = session_columns();
    std::string key;
    for (const auto& column : columns) key += std::get<std::string>(column.get(provenance)) + '\x1f';
    if (const auto known = sessions_.find(key); known != sessions_.end()) return known->second;
    auto insert = sql.prepare(stored::insert_into("sessions", columns, " ON CONFLICT DO NOTHING"));
    stored::bind_row(insert, columns, provenance, 1);
    insert.run();
    std::string same;
    for (const auto& column : columns) same += (same.empty() ? "" : " AND ") + column.name + " = ?";
    auto find = sql.prepare("SELECT id FROM sessions WHERE " + same);
    stored::bind_row(find, columns, provenance, 1);
    find.step();
    return sessions_[key] = find.integer(0);
}

const std::map<std::int64_t, double>& Dataset::Connection::highest_clocks(const OperatingPoint& asked) {
    std::string key = asked.device;
    for (const double value : {asked.sm_clock_mhz, asked.memory_clock_mhz, asked.power_limit_w})
        key += '\x1f' + std::to_string(value);
    if (const auto known = highest_clocks_.find(key); known != highest_clocks_.end()) return known->second;
    std::map<std::int64_t, double> clocks;
    const auto field = [](double value) { return std::isnan(value) ? Field{} : Field{value}; };
    for (const std::string table : {"operations", "networks", "reference_runs"}) {
        auto select = sql.prepare("SELECT session_id, max(real_sm_clock_mhz) FROM " + table +
                                  " WHERE device = ? AND asked_sm_clock_mhz IS ? AND asked_memory_clock_mhz IS ? "
                                  "AND asked_power_limit_w IS ? AND real_sm_clock_mhz IS NOT NULL GROUP BY session_id");
        select.bind(1, asked.device)
            .bind(2, field(asked.sm_clock_mhz))
            .bind(3, field(asked.memory_clock_mhz))
            .bind(4, field(asked.power_limit_w));
        while (select.step()) {
            double& highest = clocks[select.integer(0)];
            highest = std::max(highest, select.real(1));
        }
    }
    return highest_clocks_[key] = std::move(clocks);
}

bool Dataset::Connection::holds_one_at(sqlite::Statement& rows, const OperatingPoint& asked, const FoundClocks& found) {
    constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
    while (rows.step()) {
        const std::int64_t session = rows.integer(0);
        const double memory_mhz = rows.is_null(1) ? unknown : rows.real(1);
        const double limit_w = rows.is_null(2) ? unknown : rows.real(2);
        double highest_mhz = unknown;
        if (std::isnan(asked.sm_clock_mhz) && !std::isnan(found.sm_clock_mhz)) {
            const auto& highest = highest_clocks(asked);
            if (const auto seen = highest.find(session); seen != highest.end()) highest_mhz = seen->second;
        }
        const bool memory_agrees =
            !std::isnan(asked.memory_clock_mhz) || same_held_clock(memory_mhz, found.memory_clock_mhz);
        const bool limit_agrees = !std::isnan(asked.power_limit_w) || same_power_limit(limit_w, found.power_limit_w);
        if (memory_agrees && limit_agrees && same_found_clock(highest_mhz, found.sm_clock_mhz)) return true;
    }
    return false;
}

bool Dataset::Connection::add_row(const NetworkOperationRow& row) {
    if (const auto why = impossible(row)) throw Error("this is no part of a network: " + *why + ".");
    const std::string network =
        row.model + '\x1f' + symbols_text(row.symbols) + '\x1f' + std::string(name(row.mode)) + '\x1f' + row.precision;
    const auto [place, is_new] = lists_.try_emplace(network, true);
    if (is_new) {
        auto find = sql.prepare("SELECT 1 FROM network_operations" + std::string(same_network));
        bind_network(find, row);
        place->second = !find.step();
    }
    if (!place->second) return false;
    const auto& columns = network_operation_columns();
    auto& insert = prepared(stored::insert_into("network_operations", columns, " ON CONFLICT DO NOTHING"));
    stored::bind_row(insert, columns, row, 1);
    insert.run();
    return sql.changes() > 0;
}

std::vector<NetworkOperationRow> Dataset::Connection::network_operations(const NetworkMeasurement* network) const {
    const auto& columns = network_operation_columns();
    auto select = sql.prepare("SELECT id, " + stored::names_of(columns) + " FROM network_operations" +
                              (network != nullptr ? same_network : "") + " ORDER BY id");
    if (network != nullptr) bind_network(select, *network);
    std::vector<NetworkOperationRow> rows;
    while (select.step()) {
        rows.emplace_back().id = select.integer(0);
        stored::read_row(select, columns, rows.back(), 1);
    }
    return rows;
}

}  // namespace joulecast
