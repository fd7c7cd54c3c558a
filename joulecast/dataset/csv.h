#pragma once

#include <cstddef>
#include <cstdint>
#include <istream>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// Value of the column `schema`, in every row; docs/dataset.md lists the columns.
inline constexpr const char* csv_schema = "joulecast.csv/1";

/// Reads RFC 4180 records: quoted fields may hold commas, quotes ("") and line ends; LF and CRLF both end a record.
class CsvReader {
  public:
    /// `name` stands in messages: "name:12: ...".
    CsvReader(std::istream& input, std::string name);

    /// The next record, empty lines skipped; absent at the end. Throws FormatError with file and line.
    std::optional<std::vector<std::string>> next();
    /// Line on which the latest record started, from 1.
    std::int64_t line() const { return record_line_; }
    /// Throws FormatError "name:line: what".
    [[noreturn]] void fail(const std::string& what) const;

  private:
    bool quoted_field(std::string& field);

    std::istream& input_;
    std::string name_;
    std::int64_t line_ = 1;
    std::int64_t record_line_ = 1;
};

/// The field as it stands in a file: quoted only where RFC 4180 asks for it.
std::string csv_field(const std::string& text);

/// Devices, references, operations and networks of the whole database. Loses nothing but raw block times, which come
/// along when asked for (about 2 KB a row).
void export_csv(const Dataset& dataset, std::ostream& output, bool with_blocks = false);

struct CsvImport {
    std::int64_t rows = 0;   ///< measurements in the file, references among them
    std::int64_t added = 0;  ///< of these, new to the database
};

/// Reads what export_csv wrote. All of the file or, on the first wrong line, nothing: FormatError "name:line: what".
CsvImport import_csv(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
