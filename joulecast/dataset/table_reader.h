#pragma once

#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/dataset/csv_reader.h"

namespace joulecast {

/// A CSV table of others, read by the names in its header. All that is wrong throws FormatError "name:line: what".
class TableReader {
  public:
    /// Reads the header.
    TableReader(std::istream& input, const std::string& name);

    bool has(std::string_view column) const { return places_.contains(column); }
    /// Their names, in file order.
    const std::vector<std::string>& columns() const { return columns_; }

    /// Goes to the next row; false behind the last one.
    bool next();

    /// Empty where the table has no such column.
    const std::string& text(std::string_view column) const;
    /// Finite; NaN where the field is empty or the table has no such column.
    double number(std::string_view column) const;
    /// Finite and above zero.
    double positive(std::string_view column) const;
    /// Absent where the field is empty or the table has no such column; else finite and above zero.
    std::optional<double> optional_positive(std::string_view column) const;
    /// A whole number from `least` to 2^40.
    std::int64_t whole(std::string_view column, std::int64_t least = 1) const;

    [[noreturn]] void fail(const std::string& what) const { reader_.fail(what); }

  private:
    CsvReader reader_;
    std::vector<std::string> columns_;
    std::map<std::string, std::size_t, std::less<>> places_;
    std::vector<std::string> fields_;
};

}  // namespace joulecast
