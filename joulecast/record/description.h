#pragma once

#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

namespace joulecast::record {

// What is stored or sent of a struct is described once, by a specialisation of Description; the protocol of workers
// (joulecast/worker/described_json.h), the database and its CSV (joulecast/dataset/described_columns.h) are visitors of
// it. A member that is added to a description is sent, stored once a migration has its column, and exported.

/// Who has a member: JSON of workers, the database with its CSV, or both.
enum class Where { both, json, database };

/// What may be read for a number. Without it: a double of which NaN (null, nothing) says that it is not known, or an
/// integer of zero or more.
struct Range {
    double low = 0;
    double high = std::numeric_limits<double>::max();
    bool operator==(const Range&) const = default;
};

/// Nothing there: refused, or the member stays as it is made.
enum class Absent { keep, refuse };

struct Rules {
    /// Of a number that is always known; missing, it stays as it is made.
    Range range{0, -1};
    Absent absent = Absent::keep;  ///< of texts, words and structs
    /// The database's column where it has another name. Of a struct, or a struct that may be absent: what the columns
    /// of its members begin with.
    const char* column = nullptr;
    Where where = Where::both;
    /// Older databases and exports lack it: then it stays as it is made.
    bool is_later = false;
};

template <class Struct, class Member>
struct Field {
    const char* name;  ///< unit in the name: "mean_s"
    Member Struct::* member;
    Rules rules{};

    constexpr bool is_always_known() const { return rules.range.low <= rules.range.high; }
    constexpr const char* column() const { return rules.column == nullptr ? name : rules.column; }
};

template <class Struct, class Member>
Field(const char*, Member Struct::*) -> Field<Struct, Member>;
template <class Struct, class Member>
Field(const char*, Member Struct::*, Rules) -> Field<Struct, Member>;

/// Specialised for each described struct: `static constexpr auto fields` is a tuple of Field.
template <class Struct>
struct Description;

template <class Struct>
concept Described = requires { Description<Struct>::fields; };

/// Specialised for each enumeration with words: `parse` finds the value of a word, `kind` is what an error calls it.
template <class Enum>
struct Words;

/// Calls the visitor with each Field, in order.
template <Described Struct, class Visitor>
void visit_fields(Visitor&& visitor) {
    std::apply([&](const auto&... field) { (visitor(field), ...); }, Description<Struct>::fields);
}

}  // namespace joulecast::record
