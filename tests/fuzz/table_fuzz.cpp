// What stands below all importers: gzip or plain text, and a table of named columns. Nothing but FormatError may come
// of them, nothing that unpacks without bounds, and a record reads the same after it was written again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/csv_reader.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/dataset/unpack.h"
#include "joulecast/error.h"

namespace {

constexpr joulecast::UnpackLimits limits{std::size_t{1} << 20U, 200.0, std::size_t{1} << 16U};

void require(bool holds) {
    if (!holds) std::abort();
}

/// Every field of every row, as each of the kinds that importers ask for.
void read_table(const std::string& text) {
    std::istringstream input(text);
    joulecast::TableReader table(input, "fuzz");
    while (table.next()) {
        for (const std::string& column : table.columns()) {
            try {
                const double number = table.number(column);
                require(table.text(column).empty() ? std::isnan(number) : std::isfinite(number));
                require(table.positive(column) > 0);
                require(table.whole(column) <= std::int64_t{1} << 40U);
            } catch (const joulecast::FormatError&) {
                continue;
            }
        }
    }
}

void read_records(const std::string& text) {
    std::istringstream input(text);
    joulecast::CsvReader reader(input, "fuzz");
    while (const auto fields = reader.next()) {
        std::string record;
        for (const std::string& field : *fields) {
            if (!record.empty() || &field != &fields->front()) record += ',';
            record += joulecast::csv_field(field);
        }
        if (record.empty()) continue;  // a record of one empty field reads as an empty line
        std::istringstream written(record + "\r\n");
        require(joulecast::CsvReader(written, "again").next() == fields);
    }
}

template <class Read>
void read(Read part, const std::string& text) {
    try {
        part(text);
    } catch (const joulecast::FormatError&) {
        return;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string bytes(reinterpret_cast<const char*>(data), size);
    std::istringstream packed(bytes);
    std::string text;
    try {
        text = joulecast::read_unpacked(packed, "fuzz", limits);
    } catch (const joulecast::FormatError&) {
        return 0;
    }
    require(text.size() <= limits.most_bytes);
    require(bytes.starts_with("\x1f\x8b") || text == bytes);
    read(read_table, text);
    read(read_records, text);
    return 0;
}
