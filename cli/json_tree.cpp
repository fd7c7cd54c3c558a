#include "cli/json_tree.h"

#include "joulecast/units/bounded_json.h"

namespace joulecast::cli {

using Json = nlohmann::ordered_json;

namespace {

Json value_json(const Cell& cell) {
    if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
    if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
    if (const auto* number = std::get_if<double>(&cell)) return number_or_null(*number);
    if (const auto* text = std::get_if<std::string>(&cell)) return *text;
    return nullptr;
}

}  // namespace

Json number_or_null(double value) {
    return joulecast::number_or_null(value);
}

Json interval_json(double value, double low, double high) {
    return {{"value", number_or_null(value)}, {"low", number_or_null(low)}, {"high", number_or_null(high)}};
}

Json rows_json(const Table& table) {
    Json rows = Json::array();
    for (const auto& row : table.rows) {
        Json& object = rows.emplace_back(Json::object());
        for (std::size_t c = 0; c < table.heads.size(); ++c) object[table.heads[c].key] = value_json(row.at(c));
    }
    return rows;
}

std::string printed(const Json& json) {
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace joulecast::cli
