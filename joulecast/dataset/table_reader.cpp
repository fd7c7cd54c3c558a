#include "joulecast/dataset/table_reader.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "joulecast/units/printable.h"

namespace joulecast {
namespace {

constexpr std::int64_t most_whole = std::int64_t{1} << 40;

std::string in_quotes(const std::string& text) {
    return "'" + printable(text, 40) + "'";
}

std::string field_name(std::string_view column) {
    return std::string(column) + " ";
}

}  // namespace

TableReader::TableReader(std::istream& input, const std::string& name) : reader_(input, name) {
    auto header = reader_.next();
    if (!header) fail("the file is empty");
    columns_ = *std::move(header);
    for (std::size_t i = 0; i < columns_.size(); ++i)
        if (!places_.emplace(columns_[i], i).second) fail("column " + in_quotes(columns_[i]) + " occurs twice");
}

bool TableReader::next() {
    auto fields = reader_.next();
    if (!fields) return false;
    if (fields->size() != places_.size())
        fail("has " + std::to_string(fields->size()) + " fields, the header " + std::to_string(places_.size()));
    fields_ = std::move(*fields);
    return true;
}

const std::string& TableReader::text(std::string_view column) const {
    static const std::string none;
    const auto place = places_.find(column);
    return place == places_.end() ? none : fields_[place->second];
}

double TableReader::number(std::string_view column) const {
    const std::string& field = text(column);
    if (field.empty()) return std::numeric_limits<double>::quiet_NaN();
    double value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || !std::isfinite(value))
        fail(field_name(column) + in_quotes(field) + " is no finite number");
    return value;
}

double TableReader::positive(std::string_view column) const {
    if (text(column).empty()) fail(field_name(column) + "is empty");
    const double value = number(column);
    if (value <= 0) fail(field_name(column) + in_quotes(text(column)) + " is not above zero");
    return value;
}

std::optional<double> TableReader::optional_positive(std::string_view column) const {
    if (text(column).empty()) return {};
    return positive(column);
}

std::int64_t TableReader::whole(std::string_view column, std::int64_t least) const {
    const std::string& field = text(column);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error != std::errc() || end != field.data() + field.size() || value < least || value > most_whole)
        fail(field_name(column) + in_quotes(field) + " is no whole number from " + std::to_string(least) + " to 2^40");
    return value;
}

}  // namespace joulecast
