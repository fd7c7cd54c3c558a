#include "joulecast/dataset/csv_reader.h"

#include <cstddef>
#include <utility>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Longest field and most fields of a record that are believed: a signature may have 1 MB, raw blocks a few.
constexpr std::size_t max_field_bytes = std::size_t{16} << 20;
constexpr std::size_t max_fields = 1024;

}  // namespace

CsvReader::CsvReader(std::istream& input, std::string name) : input_(input), name_(std::move(name)) {}

void CsvReader::fail(const std::string& what) const {
    throw FormatError(name_ + ":" + std::to_string(record_line_) + ": " + what + ".");
}

/// After the opening quote; returns when the closing one was read.
bool CsvReader::quoted_field(std::string& field) {
    for (int c = input_.get(); c != std::istream::traits_type::eof(); c = input_.get()) {
        if (c == '\n') ++line_;
        if (c == '"') {
            if (input_.peek() != '"') return true;
            input_.get();
        }
        if (field.size() >= max_field_bytes) fail("a field is longer than 16 MB");
        field += static_cast<char>(c);
    }
    return false;
}

std::optional<std::vector<std::string>> CsvReader::next() {
    while (input_.peek() == '\n' || input_.peek() == '\r')
        if (input_.get() == '\n') ++line_;
    record_line_ = line_;
    if (input_.peek() == std::istream::traits_type::eof()) {
        if (input_.bad()) throw Error("cannot read all of '" + name_ + "'. Check the disk.");
        return {};
    }
    std::vector<std::string> fields(1);
    for (int c = input_.get(); c != std::istream::traits_type::eof() && c != '\n'; c = input_.get()) {
        std::string& field = fields.back();
        if (c == '"' && field.empty()) {
            if (!quoted_field(field)) fail("a quoted field is not closed");
            const int after = input_.peek();
            if (after != ',' && after != '\n' && after != '\r' && after != std::istream::traits_type::eof())
                fail("text follows a closing quote");
        } else if (c == ',') {
            if (fields.size() == max_fields) fail("has more than 1024 fields");
            fields.emplace_back();
        } else if (c == '\r' && (input_.peek() == '\n' || input_.peek() == std::istream::traits_type::eof())) {
            continue;
        } else if (c == '"') {
            fail("a quote stands inside a field that is not quoted");
        } else {
            if (field.size() >= max_field_bytes) fail("a field is longer than 16 MB");
            field += static_cast<char>(c);
        }
    }
    ++line_;
    return fields;
}

}  // namespace joulecast
