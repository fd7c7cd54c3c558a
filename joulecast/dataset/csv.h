#pragma once

#include <cstdint>
#include <istream>
#include <ostream>
#include <string>

#include "joulecast/dataset/csv_reader.h"
#include "joulecast/dataset/dataset.h"

namespace joulecast {

/// Value of the column `schema`, in every row; docs/dataset.md lists the columns.
inline constexpr const char* csv_schema = "joulecast.csv/2";
/// Of earlier exports, which have the same columns; name_of_traced() tells what their networks are called now.
inline constexpr const char* first_csv_schema = "joulecast.csv/1";

/// The field as it stands in a file: quoted only where RFC 4180 asks for it.
std::string csv_field(const std::string& text);

/// The same text for a spreadsheet, which would take what begins with = + - @ for a formula: with a ' in front. Numbers
/// stay as they are.
std::string harmless_field(const std::string& text);
/// What harmless_field() was given.
std::string field_before(const std::string& harmless);

/// Devices, references, operations, networks and networks' lists of the whole database. Loses nothing but raw block
/// times, which come along when asked for (about 2 KB a row). Returns what suspect_rows() says of it. Throws Error
/// where the stream does not take it all.
std::string export_csv(const Dataset& dataset, std::ostream& output, bool with_blocks = false);

struct CsvImport {
    std::int64_t rows = 0;   ///< measurements in the file, references and lines of networks' lists among them
    std::int64_t added = 0;  ///< of these, new to the database
};

/// Reads what export_csv wrote, in either version. All of the file or, on the first wrong line, nothing: FormatError
/// "name:line: what".
CsvImport import_csv(Dataset& dataset, std::istream& input, const std::string& name);

}  // namespace joulecast
