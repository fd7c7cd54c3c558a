#include "joulecast/dataset/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "joulecast/dataset/columns.h"
#include "joulecast/dataset/insertion.h"
#include "joulecast/dataset/repeat_spread.h"
#include "joulecast/dataset/suspect_rows.h"
#include "joulecast/dataset/traced_names.h"
#include "joulecast/error.h"
#include "joulecast/units/digits.h"

namespace joulecast {
namespace {

enum class Type { integer, real, text };

/// Follows from the rows of kind reference: written for readers, not read back.
constexpr const char* sigma_column = "sigma_between";

/// Name and type of every column, in file order; the same name means the same thing in each kind of row.
const std::vector<std::pair<std::string, Type>>& csv_columns() {
    static const auto columns_in_order = [] {
        std::vector<std::pair<std::string, Type>> list = {{"schema", Type::text}, {"kind", Type::text}};
        std::set<std::string> seen;
        const auto append = [&](const auto& columns) {
            for (const auto& column : columns)
                if (seen.insert(column.name).second) list.emplace_back(column.name, static_cast<Type>(column.type));
        };
        append(operation_columns());
        append(network_columns());
        append(reference_columns());
        append(session_columns());
        append(device_columns());
        append(network_operation_columns());
        list.emplace_back("block_s", Type::text);
        list.emplace_back(sigma_column, Type::real);
        return list;
    }();
    return columns_in_order;
}

std::string field_text(const Field& field) {
    if (const auto* integer = std::get_if<std::int64_t>(&field)) return std::to_string(*integer);
    if (const auto* real = std::get_if<double>(&field)) return digits(*real);
    if (const auto* text = std::get_if<std::string>(&field)) return *text;
    return {};
}

double parse_real(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        throw FormatError("'" + std::string(text.substr(0, 40)) + "' is no finite number");
    return value;
}

Field parse_field(Type type, const std::string& text) {
    if (text.empty()) return {};
    if (type == Type::text) return text;
    if (type == Type::real) return parse_real(text);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
        throw FormatError("'" + text.substr(0, 40) + "' is no whole number");
    return value;
}

std::string blocks_text(const std::vector<double>& blocks) {
    std::string joined;
    for (const double block : blocks) {
        if (!joined.empty()) joined += ' ';
        joined += digits(block);
    }
    return joined;
}

std::vector<double> parse_blocks(std::string_view text) {
    std::vector<double> blocks;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        blocks.push_back(parse_real(text.substr(0, end)));
        if (blocks.back() < 0) throw FormatError("has a negative time");
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return blocks;
}

/// One record as column -> text; writes and reads itself by the column lists.
using Cells = std::map<std::string, std::string>;

template <class Row>
void write_cells(Cells& cells, const std::vector<StoredColumn<Row>>& columns, const Row& row) {
    for (const auto& column : columns) cells[column.name] = field_text(column.get(row));
}

/// Takes the cells it knows out, so that what remains does not belong to this kind of row.
template <class Row>
void take_cells(Cells& cells, const std::vector<StoredColumn<Row>>& columns, Row& row) {
    for (const auto& column : columns) {
        const auto cell = cells.find(column.name);
        try {
            column.set(row, cell == cells.end() ? Field{} : parse_field(static_cast<Type>(column.type), cell->second));
        } catch (const FormatError& error) {
            throw FormatError(column.name + " " + error.what());
        }
        if (cell != cells.end()) cells.erase(cell);
    }
}

void write_record(std::ostream& output, const Cells& cells) {
    std::string record;
    for (const auto& [name, type] : csv_columns()) {
        const auto cell = cells.find(name);
        if (name != "schema") record += ',';
        if (cell != cells.end()) record += csv_field(harmless_field(cell->second));
    }
    output << record << "\r\n";
}

template <class Row>
Cells row_cells(const std::vector<StoredColumn<Row>>& columns, const Row& row, const std::string& kind) {
    Cells cells = {{"schema", csv_schema}, {"kind", kind}};
    write_cells(cells, columns, row);
    write_cells(cells, session_columns(), row.provenance);
    return cells;
}

template <class Row>
void write_measurement(std::ostream& output, Cells cells, const Row& row, const RepeatSpread& spread) {
    cells["block_s"] = blocks_text(row.measurement.block_s);
    const double sigma = spread.of(row.measurement.asked.device, row.provenance.session);
    if (!std::isnan(sigma)) cells[sigma_column] = digits(sigma);
    write_record(output, cells);
}

/// What makes a measurement the same: two rows of one file must differ in it.
std::string key_of(const std::string& kind, const Cells& cells) {
    std::string key = kind;
    for (const char* name : {"operation",
                             "model",
                             "symbols",
                             "mode",
                             "precision",
                             "device",
                             "math",
                             "engine",
                             "host",
                             "threads",
                             "asked_sm_clock_mhz",
                             "asked_memory_clock_mhz",
                             "asked_power_limit_w",
                             "optimizer",
                             "session",
                             "started",
                             "worker",
                             "framework",
                             "machine",
                             "governor",
                             "method",
                             "settings",
                             "source"}) {
        const auto cell = cells.find(name);
        key += '\x1f' + (cell == cells.end() ? std::string() : cell->second);
    }
    // The same reference is measured again and again.
    const auto started_at = cells.find("started_at");
    if (kind == "reference" && started_at != cells.end()) key += '\x1f' + started_at->second;
    return key;
}

/// The content of a file, checked line by line before the database sees any of it.
class CsvContent {
  public:
    CsvContent(const CsvReader& reader, std::set<std::string> known_devices)
        : reader_(reader), known_devices_(std::move(known_devices)) {}

    void header(const std::vector<std::string>& names) {
        std::set<std::string> known;
        for (const auto& [name, type] : csv_columns()) known.insert(name);
        std::set<std::string> seen;
        for (const std::string& name : names) {
            if (!known.contains(name)) reader_.fail("unknown column '" + name + "'");
            if (!seen.insert(name).second) reader_.fail("column '" + name + "' occurs twice");
        }
        if (!seen.contains("schema") || !seen.contains("kind"))
            reader_.fail("this is not an export of joulecast: the header has no columns schema and kind");
        header_ = names;
    }

    void record(const std::vector<std::string>& fields) {
        if (fields.size() != header_.size())
            reader_.fail("has " + std::to_string(fields.size()) + " fields, the header " +
                         std::to_string(header_.size()));
        Cells cells;
        for (std::size_t i = 0; i < fields.size(); ++i)
            if (!fields[i].empty()) cells[header_[i]] = field_before(fields[i]);
        const std::string schema = take(cells, "schema");
        if (schema != csv_schema && schema != first_csv_schema)
            reader_.fail("schema is '" + schema + "', expected " + csv_schema);
        const std::string kind = take(cells, "kind");
        if (kind != "device" && kind != "operation" && kind != "network" && kind != "reference" &&
            kind != "network_operation")
            reader_.fail("kind is '" + kind + "', expected device, operation, network, network_operation or reference");
        if (const auto model = cells.find("model");
            kind == "network" && schema == first_csv_schema && model != cells.end())
            model->second = name_of_traced(model->second);
        if (kind != "device" && !keys_.insert(key_of(kind, cells)).second)
            reader_.fail("this " + kind + " occurs twice in the file");
        try {
            if (kind == "device") add_device(cells);
            if (kind == "operation") add(cells, operation_columns(), operations);
            if (kind == "network") add(cells, network_columns(), networks);
            if (kind == "reference") add_reference(cells);
            if (kind == "network_operation") add_network_operation(cells);
        } catch (const FormatError& error) {
            reader_.fail(error.what());
        }
        if (!cells.empty())
            reader_.fail("column " + cells.begin()->first + " does not belong to a row of kind " + kind);
    }

    std::vector<Device> devices;
    std::vector<OperationRow> operations;
    std::vector<NetworkRow> networks;
    std::vector<ReferenceRow> references;
    std::vector<NetworkOperationRow> network_operations;

  private:
    static std::string take(Cells& cells, const std::string& name) {
        const auto cell = cells.find(name);
        if (cell == cells.end()) return {};
        return std::exchange(cells.extract(cell).mapped(), {});
    }

    /// Exports of before there were engines do not say it.
    template <class AskedAndReal>
    static void set_engine(AskedAndReal& of, bool is_said, const Provenance& provenance) {
        if (!is_said) of.asked.engine = of.real.engine = engine_of(provenance.framework);
        if (!is_engine(of.asked.engine)) throw FormatError("engine '" + of.asked.engine + "' is no name of one");
    }

    void add_device(Cells& cells) {
        Device device;
        take_cells(cells, device_columns(), device);
        if (device.id.empty()) throw FormatError("device is empty");
        known_devices_.insert(device.id);
        devices.push_back(std::move(device));
    }

    template <class Row>
    void add(Cells& cells, const std::vector<StoredColumn<Row>>& columns, std::vector<Row>& rows) {
        Row row;
        const bool says_engine = cells.contains("engine");
        take_cells(cells, columns, row);
        take_cells(cells, session_columns(), row.provenance);
        set_engine(row.measurement, says_engine, row.provenance);
        row.measurement.block_s = parse_blocks(take(cells, "block_s"));
        take(cells, sigma_column);
        if (const auto why = impossible(row.measurement)) throw FormatError(*why);
        if (row.provenance.session.empty()) throw FormatError("session is empty");
        if constexpr (std::is_same_v<Row, OperationRow>)
            if (row.mode != mode(row.measurement.operation))
                throw FormatError("mode does not fit the operation, which requires gradients only in training");
        require_device(row.measurement.asked.device);
        rows.push_back(std::move(row));
    }

    void add_reference(Cells& cells) {
        ReferenceRow row;
        const bool says_engine = cells.contains("engine");
        take_cells(cells, reference_columns(), row);
        take_cells(cells, session_columns(), row.provenance);
        set_engine(row, says_engine, row.provenance);
        if (const auto why = impossible(row)) throw FormatError(*why);
        if (row.provenance.session.empty()) throw FormatError("session is empty");
        require_device(row.asked.device);
        references.push_back(std::move(row));
    }

    void add_network_operation(Cells& cells) {
        NetworkOperationRow row;
        take_cells(cells, network_operation_columns(), row);
        if (const auto why = impossible(row)) throw FormatError(*why);
        network_operations.push_back(std::move(row));
    }

    void require_device(const std::string& device) const {
        if (!known_devices_.contains(device))
            throw FormatError("device '" + device +
                              "' is neither in the database nor in an earlier row of kind device");
    }

    const CsvReader& reader_;
    std::set<std::string> known_devices_;
    std::vector<std::string> header_;
    std::set<std::string> keys_;
};

}  // namespace

namespace {

bool looks_like_formula(std::string_view text) {
    if (text.empty() || std::string_view("=+-@\t\r").find(text.front()) == std::string_view::npos) return false;
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + (text.front() == '+' ? 1 : 0), end, number);
    return read.ec != std::errc{} || read.ptr != end;
}

}  // namespace

std::string harmless_field(const std::string& text) {
    // One that was there before is doubled, so that both can be told apart again.
    const std::string_view rest = std::string_view(text).substr(std::min(text.find_first_not_of('\''), text.size()));
    return looks_like_formula(rest) ? "'" + text : text;
}

std::string field_before(const std::string& harmless) {
    if (!harmless.starts_with('\'')) return harmless;
    const std::string text = harmless.substr(1);
    return harmless_field(text) == harmless ? text : harmless;
}

std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string export_csv(const Dataset& dataset, std::ostream& output, bool with_blocks) {
    Cells header;
    for (const auto& [name, type] : csv_columns()) header[name] = name;
    write_record(output, header);
    for (const Device& device : dataset.devices()) {
        Cells cells = {{"schema", csv_schema}, {"kind", "device"}};
        write_cells(cells, device_columns(), device);
        write_record(output, cells);
    }
    const std::vector<ReferenceRow> references = dataset.references();
    const RepeatSpread spread(references);
    for (const ReferenceRow& row : references) write_record(output, row_cells(reference_columns(), row, "reference"));
    const std::vector<OperationRow> operations = dataset.operations({}, with_blocks);
    for (const OperationRow& row : operations)
        write_measurement(output, row_cells(operation_columns(), row, "operation"), row, spread);
    const std::vector<NetworkRow> networks = dataset.networks({}, with_blocks);
    for (const NetworkRow& row : networks)
        write_measurement(output, row_cells(network_columns(), row, "network"), row, spread);
    for (const NetworkOperationRow& row : dataset.network_operations()) {
        Cells cells = {{"schema", csv_schema}, {"kind", "network_operation"}};
        write_cells(cells, network_operation_columns(), row);
        write_record(output, cells);
    }
    // A stream in memory says in no other way that there was none left.
    if (!output) throw Error("the table could not be written to its end: no memory or no space is left.");
    return suspect_rows(operations, networks, references);
}

CsvImport import_csv(Dataset& dataset, std::istream& input, const std::string& name) {
    std::set<std::string> known_devices;
    for (const Device& device : dataset.devices()) known_devices.insert(device.id);
    CsvReader reader(input, name);
    CsvContent content(reader, std::move(known_devices));
    const auto header = reader.next();
    if (!header) reader.fail("the file is empty");
    content.header(*header);
    while (const auto fields = reader.next()) content.record(*fields);
    CsvImport counts;
    Insertion insertion(dataset);
    const auto add_all = [&](const auto& rows) {
        for (const auto& row : rows) counts.added += insertion.add(row) ? 1 : 0;
        counts.rows += static_cast<std::int64_t>(rows.size());
    };
    for (const Device& device : content.devices) insertion.add(device);
    add_all(content.operations);
    add_all(content.networks);
    add_all(content.references);
    add_all(content.network_operations);
    insertion.commit();
    return counts;
}

}  // namespace joulecast
