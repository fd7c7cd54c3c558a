#include "joulecast/dataset/columns.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>

#include "joulecast/dataset/kernels_text.h"
#include "joulecast/device/figures.h"
#include "joulecast/error.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/record/measurement.h"
#include "joulecast/units/digits.h"

namespace joulecast {
namespace {

template <class T>
const T& expect(const Field& field) {
    if (const T* value = std::get_if<T>(&field)) return *value;
    throw FormatError(std::holds_alternative<std::monostate>(field) ? "is empty" : "is of the wrong type");
}

/// `access` returns a reference to the member, of a const row and of one that can be written.
template <class Row, class Access>
StoredColumn<Row> real(std::string name, Access access) {
    return {std::move(name), StoredColumn<Row>::Type::real,
            [access](const Row& row) { return std::isnan(access(row)) ? Field{} : Field{access(row)}; },
            [access](Row& row, const Field& field) {
                const bool missing = std::holds_alternative<std::monostate>(field);
                access(row) = missing ? std::numeric_limits<double>::quiet_NaN() : expect<double>(field);
            }};
}

template <class Row, class Access>
StoredColumn<Row> integer(std::string name, Access access) {
    return {std::move(name), StoredColumn<Row>::Type::integer,
            [access](const Row& row) { return Field{static_cast<std::int64_t>(access(row))}; },
            [access](Row& row, const Field& field) {
                using Number = std::remove_reference_t<decltype(access(row))>;
                const std::int64_t value = expect<std::int64_t>(field);
                if (value < 0 ||
                    static_cast<std::uint64_t>(value) > static_cast<std::uint64_t>(std::numeric_limits<Number>::max()))
                    throw FormatError("is out of range");
                access(row) = static_cast<Number>(value);
            }};
}

template <class Row, class Access>
StoredColumn<Row> text(std::string name, Access access) {
    return {std::move(name), StoredColumn<Row>::Type::text, [access](const Row& row) { return Field{access(row)}; },
            [access](Row& row, const Field& field) {
                const bool missing = std::holds_alternative<std::monostate>(field);
                access(row) = missing ? std::string() : expect<std::string>(field);
            }};
}

/// NULL when empty, so that a device told again by a worker that knows less loses nothing.
template <class Row, class Access>
StoredColumn<Row> optional_text(std::string name, Access access) {
    auto column = text<Row>(std::move(name), access);
    column.get = [access](const Row& row) { return access(row).empty() ? Field{} : Field{access(row)}; };
    return column;
}

/// A text with few possible words, which `parse` knows.
template <class Row, class Access, class Parse>
StoredColumn<Row> word(std::string column, Access access, Parse parse) {
    return {std::move(column), StoredColumn<Row>::Type::text,
            [access](const Row& row) { return Field{std::string(name(access(row)))}; },
            [access, parse](Row& row, const Field& field) {
                const auto value = parse(expect<std::string>(field));
                if (!value) throw FormatError("'" + std::get<std::string>(field) + "' is no known word");
                access(row) = *value;
            }};
}

/// The operation in its text form.
template <class Row, class Access>
StoredColumn<Row> operation_column(Access access) {
    return {"operation", StoredColumn<Row>::Type::text,
            [access](const Row& row) { return Field{signature(access(row))}; },
            [access](Row& row, const Field& field) { access(row) = parse_operation(expect<std::string>(field)); }};
}

template <class Row, class Access>
StoredColumn<Row> symbols_column(Access access) {
    return {"symbols", StoredColumn<Row>::Type::text,
            [access](const Row& row) { return Field{symbols_text(access(row))}; },
            [access](Row& row, const Field& field) {
                const bool missing = std::holds_alternative<std::monostate>(field);
                access(row) = parse_symbols(missing ? "" : expect<std::string>(field));
            }};
}

/// NULL where the engine did not say.
template <class Row, class Access>
StoredColumn<Row> kernels_column(Access access) {
    return {"kernels", StoredColumn<Row>::Type::text,
            [access](const Row& row) { return access(row).empty() ? Field{} : Field{kernels_text(access(row))}; },
            [access](Row& row, const Field& field) { access(row) = parse_kernels(expect<std::string>(field)); }};
}

std::vector<double> parse_clocks(const std::string& text) {
    constexpr std::size_t most_clocks = 4096;
    std::vector<double> clocks;
    const char* const end = text.data() + text.size();
    for (const char* at = text.data(); at < end;) {
        double clock = 0;
        const auto read = std::from_chars(at, end, clock);
        const bool ends_well = read.ec == std::errc() && (read.ptr == end || (*read.ptr == ';' && read.ptr + 1 < end));
        if (!ends_well || !std::isfinite(clock) || clock <= (clocks.empty() ? 0 : clocks.back()) ||
            clocks.size() == most_clocks)
            throw FormatError("'" + text.substr(0, 80) + "' is no ascending list of clocks (600;615;630)");
        clocks.push_back(clock);
        at = read.ptr == end ? end : read.ptr + 1;
    }
    return clocks;
}

/// A column that older exports lack: nothing there leaves the member as it is made.
template <class Row>
StoredColumn<Row> added_later(StoredColumn<Row> column) {
    column.set = [set = column.set](Row& row, const Field& field) {
        if (!std::holds_alternative<std::monostate>(field)) set(row, field);
    };
    return column;
}

/// Absent part: all its columns are NULL. A present one always has its counts.
template <class Part>
const Part* present(const Part& part) {
    return &part;
}
template <class Part>
const Part* present(const std::optional<Part>& part) {
    return part ? &*part : nullptr;
}
template <class Part>
Part& make(Part& part) {
    return part;
}
template <class Part>
Part& make(std::optional<Part>& part) {
    return part ? *part : part.emplace();
}

/// The columns of a member, optional or not, under names that start with `prefix`.
template <class Row, class Part, class Access>
void append_part(std::vector<StoredColumn<Row>>& columns, const std::string& prefix,
                 const std::vector<StoredColumn<Part>>& parts, Access access) {
    for (const auto& part : parts) {
        columns.push_back({prefix + part.name, static_cast<typename StoredColumn<Row>::Type>(part.type),
                           [access, get = part.get](const Row& row) {
                               const Part* value = present(access(row));
                               return value == nullptr ? Field{} : get(*value);
                           },
                           [access, set = part.set](Row& row, const Field& field) {
                               constexpr bool required =
                                   std::is_same_v<std::remove_reference_t<decltype(access(row))>, Part>;
                               if (!required && std::holds_alternative<std::monostate>(field)) return;
                               set(make(access(row)), field);
                           }});
    }
}

/// asked and real share device, math, engine and host; where they differ both are stored.
template <class Row>
void append_point(std::vector<StoredColumn<Row>>& columns) {
    auto both = [](auto column, auto copy) {
        auto set = column.set;
        column.set = [set, copy](Row& row, const Field& field) {
            set(row, field);
            copy(row.asked, row.real);
        };
        return column;
    };
    columns.push_back(both(text<Row>("device", [](auto& r) -> auto& { return r.asked.device; }),
                           [](auto& asked, auto& real_point) { real_point.device = asked.device; }));
    columns.push_back(both(word<Row>(
                               "math", [](auto& r) -> auto& { return r.asked.math; }, parse_math),
                           [](auto& asked, auto& real_point) { real_point.math = asked.math; }));
    columns.push_back(both(added_later(text<Row>("engine", [](auto& r) -> auto& { return r.asked.engine; })),
                           [](auto& asked, auto& real_point) { real_point.engine = asked.engine; }));
    columns.push_back(both(word<Row>(
                               "host", [](auto& r) -> auto& { return r.asked.host; }, parse_stored_host),
                           [](auto& asked, auto& real_point) { real_point.host = asked.host; }));
    columns.push_back(both(text<Row>("host_cpu", [](auto& r) -> auto& { return r.real.host_cpu; }),
                           [](auto& asked, auto& real_point) { asked.host_cpu = real_point.host_cpu; }));
    columns.push_back(integer<Row>("threads", [](auto& r) -> auto& { return r.asked.threads; }));
    columns.push_back(integer<Row>("real_threads", [](auto& r) -> auto& { return r.real.threads; }));
    const auto append_clocks = [&columns](const std::string& prefix, auto point) {
        columns.push_back(
            real<Row>(prefix + "sm_clock_mhz", [point](auto& r) -> auto& { return point(r).sm_clock_mhz; }));
        columns.push_back(
            real<Row>(prefix + "memory_clock_mhz", [point](auto& r) -> auto& { return point(r).memory_clock_mhz; }));
        columns.push_back(
            real<Row>(prefix + "power_limit_w", [point](auto& r) -> auto& { return point(r).power_limit_w; }));
    };
    append_clocks("asked_", [](auto& r) -> auto& { return r.asked; });
    append_clocks("real_", [](auto& r) -> auto& { return r.real; });
}

template <class Value>
struct IsOptional : std::false_type {};
template <class Value>
struct IsOptional<std::optional<Value>> : std::true_type {};

template <record::Described Part>
std::vector<StoredColumn<Part>> described_columns();

/// The columns of a described member of `Row`.
template <class Row, class Member>
void append_member(std::vector<StoredColumn<Row>>& columns, const record::Field<Row, Member>& field) {
    const auto access = [member = field.member](auto& row) -> auto& { return row.*member; };
    const std::string column = field.column();
    const auto append = [&](StoredColumn<Row> stored) {
        columns.push_back(field.rules.is_later ? added_later(std::move(stored)) : std::move(stored));
    };
    if constexpr (std::is_same_v<Member, OperatingPoint>) {
        if (column == "asked_") append_point(columns);  // with the real one
    } else if constexpr (IsOptional<Member>::value) {
        append_part(columns, column, described_columns<typename Member::value_type>(), access);
    } else if constexpr (record::Described<Member>) {
        append_part(columns, column, described_columns<Member>(), access);
    } else if constexpr (std::is_same_v<Member, Operation>) {
        append(operation_column<Row>(access));
    } else if constexpr (std::is_same_v<Member, std::map<std::string, std::int64_t>>) {
        append(symbols_column<Row>(access));
    } else if constexpr (std::is_same_v<Member, std::vector<NetworkKernel>>) {
        append(kernels_column<Row>(access));
    } else if constexpr (std::is_same_v<Member, double>) {
        append(real<Row>(column, access));
    } else if constexpr (std::is_integral_v<Member>) {
        append(integer<Row>(column, access));
    } else if constexpr (std::is_enum_v<Member>) {
        append(word<Row>(column, access, record::Words<Member>::parse));
    } else {
        append(text<Row>(column, access));
    }
}

template <record::Described Part>
std::vector<StoredColumn<Part>> described_columns() {
    std::vector<StoredColumn<Part>> columns;
    record::visit_fields<Part>([&columns]<class Member>(const record::Field<Part, Member>& field) {
        if constexpr (!std::is_same_v<Member, std::vector<double>>) {
            if (field.rules.where != record::Where::json) append_member(columns, field);
        }
    });
    return columns;
}

/// "600;615;630": NULL where the driver's clocks are not told.
StoredColumn<Device> clocks_column() {
    return {"core_clocks_mhz", StoredColumn<Device>::Type::text,
            [](const Device& device) {
                std::string text;
                for (const double clock : device.core_clocks_mhz) {
                    if (!text.empty()) text += ';';
                    text += digits(clock);
                }
                return text.empty() ? Field{} : Field{text};
            },
            [](Device& device, const Field& field) {
                device.core_clocks_mhz.clear();
                if (!std::holds_alternative<std::monostate>(field))
                    device.core_clocks_mhz = parse_clocks(expect<std::string>(field));
            }};
}

/// Above idle-active power: noise may push a small one below zero. A drift is a slope, a card may stand in the cold.
bool may_be_negative(const std::string& column) {
    return column == "dynamic_energy_j" || column == "energy_drift_per_s" || column == "temperature_c";
}

/// Known numbers are finite and, but for few, not negative.
template <class Row>
std::optional<std::string> wrong_number(const std::vector<StoredColumn<Row>>& columns, const Row& row) {
    for (const auto& column : columns) {
        const Field field = column.get(row);
        const double* value = std::get_if<double>(&field);
        if (value == nullptr) continue;
        if (std::isinf(*value)) return column.name + " is infinite";
        if (*value < 0 && !may_be_negative(column.name)) return column.name + " is negative";
    }
    return {};
}

template <class Row>
std::optional<std::string> impossible_number(const std::vector<StoredColumn<Row>>& columns, const Row& row) {
    if (auto why = wrong_number(columns, row)) return why;
    const Outcome outcome = row.measurement.outcome;
    const bool timed = is_timed(outcome);
    if (timed && !(row.measurement.time.mean_s > 0))
        return "time_mean_s is not above zero though the outcome is " + std::string(name(outcome));
    return {};
}

/// Every row is read with the texts of its session: what is long once would be there a thousand times.
constexpr std::size_t longest_session_text = 4096;

void bound_text(StoredColumn<Provenance>& column) {
    const auto is_too_long = [](const Field& field) {
        const auto* text = std::get_if<std::string>(&field);
        return text != nullptr && text->size() > longest_session_text;
    };
    column.get = [is_too_long, name = column.name, get = std::move(column.get)](const Provenance& session) {
        Field field = get(session);
        if (is_too_long(field)) throw FormatError(name + " of a session is longer than 4096 bytes.");
        return field;
    };
    column.set = [is_too_long, set = std::move(column.set)](Provenance& session, const Field& field) {
        if (is_too_long(field)) throw FormatError("is longer than 4096 bytes");
        set(session, field);
    };
}

}  // namespace

std::string symbols_text(const std::map<std::string, std::int64_t>& symbols) {
    return values_text(symbols, ";");
}

std::map<std::string, std::int64_t> parse_symbols(const std::string& text) {
    std::map<std::string, std::int64_t> symbols;
    std::size_t start = 0;
    while (start < text.size()) {
        const std::size_t end = std::min(text.find(';', start), text.size());
        const std::size_t equals = text.find('=', start);
        std::int64_t value = 0;
        const char* last = text.data() + end;
        const bool found = equals != std::string::npos && equals > start && equals < end;
        const auto parsed = found ? std::from_chars(text.data() + equals + 1, last, value) : std::from_chars_result{};
        if (!found || parsed.ec != std::errc() || parsed.ptr != last)
            throw FormatError("'" + text + "' is no list of symbols (batch=8;seq=128)");
        symbols[text.substr(start, equals - start)] = value;
        start = end + 1;
    }
    return symbols;
}

const std::vector<StoredColumn<OperationRow>>& operation_columns() {
    using Row = OperationRow;
    static const std::vector<StoredColumn<Row>> columns = [] {
        std::vector<StoredColumn<Row>> list;
        append_part(list, "", described_columns<Measurement>(), [](auto& r) -> auto& { return r.measurement; });
        list.insert(list.begin() + 1, word<Row>("mode", [](auto& r) -> auto& { return r.mode; }, parse_mode));
        return list;
    }();
    return columns;
}

const std::vector<StoredColumn<NetworkRow>>& network_columns() {
    using Row = NetworkRow;
    static const std::vector<StoredColumn<Row>> columns = [] {
        std::vector<StoredColumn<Row>> list;
        append_part(list, "", described_columns<NetworkMeasurement>(), [](auto& r) -> auto& { return r.measurement; });
        return list;
    }();
    return columns;
}

const std::vector<StoredColumn<ReferenceRow>>& reference_columns() {
    using Row = ReferenceRow;
    static const std::vector<StoredColumn<Row>> columns = {
        {"operation", StoredColumn<Row>::Type::text, [](const Row& row) { return Field{row.operation}; },
         [](Row& row, const Field& field) { row.operation = signature(parse_operation(expect<std::string>(field))); }},
        {"device", StoredColumn<Row>::Type::text, [](const Row& row) { return Field{row.asked.device}; },
         [](Row& row, const Field& field) { row.asked.device = row.real.device = expect<std::string>(field); }},
        {"engine", StoredColumn<Row>::Type::text, [](const Row& row) { return Field{row.asked.engine}; },
         [](Row& row, const Field& field) {
             if (!std::holds_alternative<std::monostate>(field))
                 row.asked.engine = row.real.engine = expect<std::string>(field);
         }},
        text<Row>("started_at", [](auto& r) -> auto& { return r.started_at; }),
        real<Row>("asked_sm_clock_mhz", [](auto& r) -> auto& { return r.asked.sm_clock_mhz; }),
        real<Row>("asked_memory_clock_mhz", [](auto& r) -> auto& { return r.asked.memory_clock_mhz; }),
        real<Row>("asked_power_limit_w", [](auto& r) -> auto& { return r.asked.power_limit_w; }),
        real<Row>("real_sm_clock_mhz", [](auto& r) -> auto& { return r.real.sm_clock_mhz; }),
        real<Row>("time_mean_s", [](auto& r) -> auto& { return r.time_mean_s; }),
        real<Row>("time_half_width_s", [](auto& r) -> auto& { return r.time_half_width_s; }),
        real<Row>("temperature_c", [](auto& r) -> auto& { return r.temperature_c; }),
        integer<Row>("drifted", [](auto& r) -> auto& { return r.drifted; }),
    };
    return columns;
}

const std::vector<StoredColumn<NetworkOperationRow>>& network_operation_columns() {
    using Row = NetworkOperationRow;
    static const std::vector<StoredColumn<Row>> columns = {
        text<Row>("model", [](auto& r) -> auto& { return r.model; }),
        symbols_column<Row>([](auto& r) -> auto& { return r.symbols; }),
        word<Row>(
            "mode", [](auto& r) -> auto& { return r.mode; }, parse_mode),
        text<Row>("precision", [](auto& r) -> auto& { return r.precision; }),
        operation_column<Row>([](auto& r) -> auto& { return r.operation; }),
        integer<Row>("count", [](auto& r) -> auto& { return r.count; }),
        text<Row>("source", [](auto& r) -> auto& { return r.source; }),
    };
    return columns;
}

const std::vector<StoredColumn<Provenance>>& session_columns() {
    static const std::vector<StoredColumn<Provenance>> columns = [] {
        auto list = described_columns<Provenance>();
        for (auto& column : list) bound_text(column);
        return list;
    }();
    return columns;
}

const std::vector<StoredColumn<Device>>& device_columns() {
    using Row = Device;
    static const std::vector<StoredColumn<Row>> columns = [] {
        std::vector<StoredColumn<Row>> list = {
            text<Row>("device", [](auto& r) -> auto& { return r.id; }),
            text<Row>("display_name", [](auto& r) -> auto& { return r.display_name; }),
            {"device_kind", StoredColumn<Row>::Type::text,
             [](const Row& row) { return Field{std::string(name(row.kind))}; },
             [](Row& row, const Field& field) {
                 const auto kind = parse_device_kind(expect<std::string>(field));
                 if (!kind) throw FormatError("is neither cpu nor gpu");
                 row.kind = *kind;
             }},
            optional_text<Row>("device_vendor", [](auto& r) -> auto& { return r.vendor; }),
            optional_text<Row>("device_architecture", [](auto& r) -> auto& { return r.architecture; }),
            integer<Row>("device_units", [](auto& r) -> auto& { return r.units; }),
        };
        list.push_back(clocks_column());
        for (const Figure& figure : figures()) {
            list.push_back(
                real<Row>(std::string(figure.name), [value = figure.value](auto& r) -> auto& { return r.*value; }));
        }
        list.push_back(text<Row>("device_source", [](auto& r) -> auto& { return r.source; }));
        return list;
    }();
    return columns;
}

std::optional<std::string> impossible(const Measurement& measurement) {
    return impossible_number(operation_columns(), OperationRow{0, measurement, mode(measurement.operation), {}});
}

std::optional<std::string> impossible(const NetworkMeasurement& measurement) {
    if (auto why = wrong_kernels(measurement.kernels)) return why;
    return impossible_number(network_columns(), NetworkRow{0, measurement, {}});
}

std::optional<std::string> impossible(const ReferenceRow& row) {
    if (auto why = wrong_number(reference_columns(), row)) return why;
    if (!(row.time_mean_s > 0)) return "time_mean_s is not above zero";
    if (row.started_at.empty()) return "started_at is empty";
    return {};
}

std::optional<std::string> impossible(const NetworkOperationRow& row) {
    if (row.model.empty()) return "model is empty";
    if (row.count < 1) return "count is below 1";
    if (row.mode == Mode::inference && mode(row.operation) == Mode::training)
        return "a gradient flows in the operation though the mode is inference";
    return {};
}

}  // namespace joulecast
