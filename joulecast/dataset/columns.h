#pragma once

#include <functional>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/sqlite.h"

namespace joulecast {

using sqlite::Field;

/// One stored number or text: the same line serves the table, its queries, and the CSV file.
template <class Row>
struct StoredColumn {
    enum class Type { integer, real, text };

    std::string name;  ///< SQL column and CSV header, unit in the name
    Type type = Type::text;
    std::function<Field(const Row&)> get;
    /// Throws FormatError (without the column's name) for a value that cannot be.
    std::function<void(Row&, const Field&)> set;
};

/// Without id, session and raw blocks, which every table has in its own way.
const std::vector<StoredColumn<OperationRow>>& operation_columns();
const std::vector<StoredColumn<NetworkRow>>& network_columns();
const std::vector<StoredColumn<ReferenceRow>>& reference_columns();
const std::vector<StoredColumn<NetworkOperationRow>>& network_operation_columns();
const std::vector<StoredColumn<Provenance>>& session_columns();
const std::vector<StoredColumn<Device>>& device_columns();

/// "batch=8;seq=128", as symbols stand in the database and in CSV; throws FormatError.
std::string symbols_text(const std::map<std::string, std::int64_t>& symbols);
std::map<std::string, std::int64_t> parse_symbols(const std::string& text);

/// Why these numbers cannot be a measurement ("time_mean_s is negative"); absent when they can.
std::optional<std::string> impossible(const Measurement& measurement);
std::optional<std::string> impossible(const NetworkMeasurement& measurement);
std::optional<std::string> impossible(const ReferenceRow& row);
std::optional<std::string> impossible(const NetworkOperationRow& row);

}  // namespace joulecast
