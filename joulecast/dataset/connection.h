#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/plausible.h"
#include "joulecast/dataset/sqlite.h"
#include "joulecast/error.h"

/// For the .cpp files of this room: how rows go into their tables and come out.
namespace joulecast {
namespace stored {

template <class Row>
std::string names_of(const std::vector<StoredColumn<Row>>& columns, const std::string& prefix = "") {
    std::string joined;
    for (const auto& column : columns) joined += (joined.empty() ? "" : ", ") + prefix + column.name;
    return joined;
}

inline std::string placeholders(std::size_t count) {
    std::string joined = "?";
    for (std::size_t i = 1; i < count; ++i) joined += ", ?";
    return joined;
}

template <class Row>
std::string insert_into(const std::string& table, const std::vector<StoredColumn<Row>>& columns,
                        const std::string& rest = "") {
    return "INSERT INTO " + table + " (" + names_of(columns) + ") VALUES (" + placeholders(columns.size()) + ")" + rest;
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
            throw FormatError("database '" + statement.file().string() + "' is damaged: " + column.name + " of row " +
                              std::to_string(statement.integer(0)) + " " + error.what() + ".");
        }
    }
}

/// Which table a row stands in, and by which columns.
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

/// References have no raw blocks.
template <class Row>
constexpr bool has_blocks = requires { Table<Row>::blocks; };

inline const std::string& device_of(const auto& row) {
    return row.measurement.asked.device;
}
inline const std::string& device_of(const ReferenceRow& row) {
    return row.asked.device;
}

inline std::optional<std::string> impossible_row(const auto& row) {
    return impossible(row.measurement);
}
inline std::optional<std::string> impossible_row(const ReferenceRow& row) {
    return impossible(row);
}

}  // namespace stored

class Dataset::Connection {
  public:
    Connection(const std::filesystem::path& path, Access access);

    /// What is remembered of earlier rows does not outlive the transaction that stored them: it may be rolled back.
    void begin_rows() {
        highest_clocks_.clear();
        devices_.clear();
        sessions_.clear();
        lists_.clear();
    }

    void add_device(const Device& device) {
        auto& insert = prepared(stored::insert_into("devices", device_columns(), " ON CONFLICT DO NOTHING"));
        stored::bind_row(insert, device_columns(), device, 1);
        insert.run();
    }

    /// What the database knows of it. Throws Error where it is not there.
    const Device& device(const std::string& id);

    /// Ordered as they came.
    std::vector<Device> devices() const;

    /// The new row's id; 0 when its key is there already. What cannot be right is stored as suspect.
    template <class Row>
    std::int64_t add_row(const Row& row) {
        const Device& device = this->device(stored::device_of(row));
        if (const auto why = stored::impossible_row(row)) throw Error("this is no measurement: " + *why + ".");
        if constexpr (stored::has_blocks<Row>) {
            if (const auto why = implausible(row.measurement, device)) {
                Row suspect = row;
                suspect.measurement = suspected(std::move(suspect.measurement), *why);
                return store_row(suspect);
            }
        }
        return store_row(row);
    }

    /// As it is.
    template <class Row>
    std::int64_t store_row(const Row& row) {
        using stored::Table;
        const auto& columns = Table<Row>::columns();
        static const std::string text = "INSERT INTO " + std::string(Table<Row>::name) + " (session_id, " +
                                        stored::names_of(columns) + ") VALUES (" +
                                        stored::placeholders(columns.size() + 1) + ") ON CONFLICT DO NOTHING";
        auto& insert = prepared(text);
        insert.bind(1, session_id(row.provenance));
        stored::bind_row(insert, columns, row, 2);
        insert.run();
        if (sql.changes() == 0) return 0;
        const std::int64_t id = sql.last_insert_id();
        if constexpr (stored::has_blocks<Row>) {
            if (row.measurement.block_s.empty()) return id;
            auto& blocks = prepared("INSERT INTO " + std::string(Table<Row>::blocks) + " VALUES (?, ?)");
            blocks.bind(1, id).bind_doubles(2, row.measurement.block_s);
            blocks.run();
        }
        return id;
    }

    /// A line of a network's list. False where the network had a list before this transaction: that one stays whole.
    bool add_row(const NetworkOperationRow& row);

    /// In place of `row.id`.
    template <class Row>
    std::int64_t replace_row(const Row& row) {
        sqlite::Transaction transaction(sql);
        begin_rows();
        sql.prepare("DELETE FROM " + std::string(stored::Table<Row>::name) + " WHERE id = ?").bind(1, row.id).run();
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
        begin_rows();
        const std::int64_t id = add_row(row);
        if (id == 0) throw Error("session " + row.provenance.session + " has stored this measurement already.");
        transaction.commit();
        return id;
    }

    /// Calls `use(row)` for every row, ordered by id. What cannot be right comes as suspect, though an earlier version
    /// or another program has stored it as ok.
    template <class Row, class Use>
    void for_each(const std::optional<std::string>& device, [[maybe_unused]] bool with_blocks, Use use) const {
        using stored::Table;
        const auto& columns = Table<Row>::columns();
        const auto& session = session_columns();
        const std::string table = Table<Row>::name;
        std::string query = "SELECT r.id, " + stored::names_of(columns, "r.") + ", " + stored::names_of(session, "s.");
        if (with_blocks) query += ", b.block_s";
        query += " FROM " + table + " r JOIN sessions s ON s.id = r.session_id";
        if constexpr (stored::has_blocks<Row>)
            if (with_blocks) query += " LEFT JOIN " + std::string(Table<Row>::blocks) + " b ON b.id = r.id";
        if (device) query += " WHERE r.device = ?";
        auto select = sql.prepare(query + " ORDER BY r.id");
        if (device) select.bind(1, *device);
        const int first_of_session = 1 + static_cast<int>(columns.size());
        std::map<std::string, Device> known;
        if constexpr (stored::has_blocks<Row>)
            for (Device& known_device : devices()) known.emplace(known_device.id, std::move(known_device));
        while (select.step()) {
            Row row;
            row.id = select.integer(0);
            stored::read_row(select, columns, row, 1);
            stored::read_row(select, session, row.provenance, first_of_session);
            if constexpr (stored::has_blocks<Row>) {
                if (with_blocks)
                    row.measurement.block_s = select.doubles(first_of_session + static_cast<int>(session.size()));
                const auto of = known.find(stored::device_of(row));
                if (of != known.end()) row.measurement = joulecast::judged(std::move(row.measurement), of->second);
            }
            use(std::move(row));
        }
    }

    template <class Row>
    std::vector<Row> rows(const std::optional<std::string>& device, bool with_blocks) const {
        std::vector<Row> rows;
        for_each<Row>(device, with_blocks, [&rows](Row row) { rows.push_back(std::move(row)); });
        return rows;
    }

    /// The lines of all lists, or of one network's, ordered by id.
    std::vector<NetworkOperationRow> network_operations(const NetworkMeasurement* network) const;

    /// One of the rows (session id, real memory clock, real power limit), whose asked clocks are those of `asked`, was
    /// measured at what was found.
    bool holds_one_at(sqlite::Statement& rows, const OperatingPoint& asked, const FoundClocks& found);

    sqlite::Connection sql;

  private:
    /// The highest SM clock that each session saw on that device while that was asked for; sessions that saw none are
    /// not in it.
    const std::map<std::int64_t, double>& highest_clocks(const OperatingPoint& asked);

    /// Prepared once: preparing a row's statement takes longer than running it.
    sqlite::Statement& prepared(const std::string& text);
    std::int64_t session_id(const Provenance& provenance);

    std::unordered_map<std::string, sqlite::Statement> statements_;
    std::map<std::string, std::map<std::int64_t, double>> highest_clocks_;  ///< by device and what was asked for
    std::map<std::string, Device> devices_;
    std::unordered_map<std::string, std::int64_t> sessions_;
    std::unordered_map<std::string, bool> lists_;  ///< network -> whether this transaction may write its list
};

}  // namespace joulecast
