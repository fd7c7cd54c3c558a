#pragma once

#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace joulecast {

/// Reads RFC 4180 records: quoted fields may hold commas, quotes ("") and line ends; LF and CRLF both end a record.
class CsvReader {
  public:
    /// `name` stands in messages: "name:12: ...".
    CsvReader(std::istream& input, std::string name);

    /// The next record, empty lines skipped; absent at the end. Throws FormatError with file and line,
    /// and Error where the stream breaks off.
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

}  // namespace joulecast
