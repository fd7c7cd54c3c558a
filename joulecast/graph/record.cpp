#include "joulecast/graph/record.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <mutex>

#include "joulecast/error.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/operands.h"
#include "joulecast/graph/schema.h"

namespace joulecast {

namespace {

// In the order of enum Family.
constexpr std::array<std::string_view, 15> family_names{
    "convolution", "matmul",   "attention", "normalization", "softmax", "elementwise", "pooling", "reduction",
    "copy",        "indexing", "creation",  "loss",          "view",    "symbolic",    "other"};
static_assert(static_cast<std::size_t>(Family::other) + 1 == family_names.size());

/// Of names that begin with "aten::", by their lengths, letters behind that and last letters: a forecast looks some
/// hundred thousand up.
std::uint64_t hash_of(std::string_view target) {
    constexpr std::size_t word = sizeof(std::uint64_t), begin = std::string_view("aten::").size();
    std::uint64_t first = 0, last = 0;
    if (target.size() >= begin + word) {
        std::memcpy(&first, target.data() + begin, word);
        std::memcpy(&last, target.data() + target.size() - word, word);
    } else {
        char letters[begin + word] = {};
        target.copy(letters, sizeof letters);
        std::memcpy(&first, letters, word);
        std::memcpy(&last, letters + begin, word);
    }
    constexpr std::uint64_t odd = 0x9E3779B97F4A7C15ULL;  // the golden ratio's digits
    const std::uint64_t mixed = (first ^ (last * odd) ^ target.size()) * odd;
    return mixed ^ (mixed >> 32);
}

/// Records with the parameters they point to, by name, in slots one of which nearly always tells: a map's chains took
/// four times as long. A schema is read when it is first asked for: a network has some dozens
/// of the thousand targets.
class RecordTable {
  public:
    RecordTable() {
        using namespace records;
        for (const auto rows :
             {algebra_rows(),    arithmetic_rows(), attention_rows(),  contraction_rows(),   convolution_rows(),
              copy_rows(),       creation_rows(),   decomposed_rows(), elementwise_rows(),   fourier_rows(),
              functions_rows(),  gradients_rows(),  indexing_rows(),   joining_rows(),       likeness_rows(),
              loss_rows(),       margins_rows(),    matmul_rows(),     normalization_rows(), part_rows(),
              placing_rows(),    pooling_rows(),    quantized_rows(),  random_rows(),        recurrent_rows(),
              reduction_rows(),  resize_rows(),     softmax_rows(),    sorting_rows(),       detection_rows(),
              statistics_rows(), symbolic_rows(),   view_rows()}) {
            for (const Row& row : rows) add(row);
        }
    }

    /// nullptr for an unknown target.
    const Record* find(std::string_view target) const {
        const Entry* entry = find_entry(target);
        return entry ? &entry->record : nullptr;
    }
    const records::Schema* schema(std::string_view target) const {
        const Entry* entry = find_entry(target);
        return entry ? &entry->schema : nullptr;
    }

    std::vector<const Record*> sorted() const {
        std::vector<const Record*> records;
        for (const Entry& entry : entries_) records.push_back(find(entry.target));
        std::sort(records.begin(), records.end(),
                  [](const Record* a, const Record* b) { return a->target < b->target; });
        return records;
    }

  private:
    struct Entry {
        Entry(const records::Row& its_row, std::string_view its_target) : row(its_row), target(its_target) {}

        const records::Row& row;
        std::string_view target;
        std::once_flag read_once;           ///< of all below
        std::atomic<bool> is_read = false;  ///< asked before it, for it takes longer than to find the entry
        records::Schema schema;
        std::vector<Parameter> parameters;
        Record record;
    };

    void add(const records::Row& row) {
        const std::string_view target = records::schema_target(row.schema);
        const std::uint64_t hash = hash_of(target);
        Slot& slot = slots_[slot_of(target, hash)];
        if (slot.entry) throw Error("two records for " + std::string(target));
        if (2 * entries_.size() >= slots) throw Error("more records than the table of them is made for");
        slot = {hash, &entries_.emplace_back(row, target)};
    }

    const Entry* find_entry(std::string_view target) const {
        const std::uint64_t hash = hash_of(target);
        Entry* const entry = slots_[slot_of(target, hash)].entry;
        if (!entry) return nullptr;
        if (!entry->is_read.load(std::memory_order_acquire)) std::call_once(entry->read_once, [&] { read(*entry); });
        return entry;
    }

    static void read(Entry& entry) {
        const records::Row& row = entry.row;
        entry.schema = records::parse_schema(row.schema);
        for (const auto& parameter : entry.schema.parameters) entry.parameters.push_back(parameter.parameter);
        entry.record = {entry.schema.target, row.family,   entry.parameters, row.outputs,
                        row.forward,         row.backward, row.saved,        row.hidden_bytes,
                        row.product,         row.waits,    row.kept_on_cpu,  row.autocast};
        entry.is_read.store(true, std::memory_order_release);
    }

    struct Slot {
        std::uint64_t hash = 0;
        Entry* entry = nullptr;
    };

    /// Of the target, or the empty one where it belongs.
    std::size_t slot_of(std::string_view target, std::uint64_t hash) const {
        std::size_t at = hash % slots;
        while (slots_[at].entry && (slots_[at].hash != hash || slots_[at].entry->target != target))
            at = (at + 1) % slots;
        return at;
    }

    static constexpr std::size_t slots = 4096;  // of which a quarter is used

    std::deque<Entry> entries_;  // entries stay where they are, so that the spans into them stay valid
    std::vector<Slot> slots_ = std::vector<Slot>(slots);
};

const RecordTable& table() {
    static const RecordTable instance;
    return instance;
}

const Value* argument_value(const Operation& operation, std::string_view name) {
    if (const Value* given = find_argument(operation, name)) return given;
    if (const Record* record = find_record(operation.target)) {
        for (const Parameter& parameter : record->parameters) {
            if (parameter.name == name && parameter.default_value) return &*parameter.default_value;
        }
    }
    return nullptr;
}

template <class T>
std::optional<T> converted(const Value& value) {
    if constexpr (std::is_same_v<T, Value>) {
        return value;
    } else if (const T* exact = std::get_if<T>(&value)) {
        return *exact;
    }
    if constexpr (std::is_same_v<T, double>) {
        if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    }
    if constexpr (std::is_same_v<T, std::vector<double>>) {
        if (const auto* integers = std::get_if<Integers>(&value)) {
            return T(integers->begin(), integers->end());
        }
    }
    // The text form cannot tell the kind of an empty list.
    if constexpr (std::is_same_v<T, TensorList> || std::is_same_v<T, std::vector<bool>>) {
        if (const auto* integers = std::get_if<Integers>(&value); integers && integers->empty()) {
            return T{};
        }
    }
    return std::nullopt;
}

}  // namespace

std::string_view name(Family family) {
    return family_names[static_cast<std::size_t>(family)];
}

std::optional<Family> parse_family(std::string_view text) {
    const auto* const found = std::find(family_names.begin(), family_names.end(), text);
    if (found == family_names.end()) return std::nullopt;
    return static_cast<Family>(found - family_names.begin());
}

Counts operator+(const Counts& a, const Counts& b) {
    using records::added;
    return {added(a.flop, b.flop), added(a.other_flop, b.other_flop), added(a.bytes_read, b.bytes_read),
            added(a.bytes_written, b.bytes_written)};
}

const Record* find_record(std::string_view target) {
    return table().find(target);
}

std::vector<const Record*> all_records() {
    return table().sorted();
}

std::optional<MatrixProduct> matrix_product(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record && record->product ? std::optional(record->product(operation)) : std::nullopt;
}

bool waits_for_device(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record && record->waits && record->waits(operation);
}

std::optional<KeptTensors> kept_on_cpu(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (!record || !record->kept_on_cpu || mode(operation) != Mode::training) return std::nullopt;
    return record->kept_on_cpu(operation);
}

Family recorded_family(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record == nullptr ? Family::other : record->family;
}

Family family(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (record == nullptr) return Family::other;
    const bool may_be_free = record->family == Family::copy || record->family == Family::view ||
                             operation.target.starts_with("aten::dropout");
    if (!may_be_free) return record->family;
    const auto moves_bytes = [](const Counts& counts) { return counts.bytes_read != 0 || counts.bytes_written != 0; };
    if (!moves_bytes(forward_counts(operation)) && !moves_bytes(backward_counts(operation))) return Family::view;
    return record->family == Family::view ? Family::copy : record->family;
}

Counts forward_counts(const Operation& operation) {
    if (const Record* record = find_record(operation.target)) return record->forward(operation);
    Counts counts;
    counts.bytes_read = records::input_bytes(operation);
    return counts;
}

Counts backward_counts(const Operation& operation) {
    if (mode(operation) == Mode::inference) return {};
    const Record* record = find_record(operation.target);
    if (record != nullptr) return record->backward == nullptr ? Counts{} : record->backward(operation);
    Counts counts;
    counts.bytes_read = records::input_bytes(operation);
    counts.bytes_written = records::gradient_bytes(operation);
    return counts;
}

Counts total_counts(const Operation& operation) {
    return forward_counts(operation) + backward_counts(operation);
}

template <class T>
T argument_or_default(const Operation& operation, std::string_view name) {
    const Value* value = argument_value(operation, name);
    if (value == nullptr) {
        throw FormatError(operation.target + " needs an argument " + std::string(name) + ": " + signature(operation));
    }
    if (auto typed = converted<T>(*value)) return *std::move(typed);
    throw FormatError("argument " + std::string(name) + " of " + operation.target +
                      " is of the wrong kind: " + signature(operation));
}

template bool argument_or_default<bool>(const Operation&, std::string_view);
template std::int64_t argument_or_default<std::int64_t>(const Operation&, std::string_view);
template double argument_or_default<double>(const Operation&, std::string_view);
template std::string argument_or_default<std::string>(const Operation&, std::string_view);
template Dtype argument_or_default<Dtype>(const Operation&, std::string_view);
template TensorType argument_or_default<TensorType>(const Operation&, std::string_view);
template TensorList argument_or_default<TensorList>(const Operation&, std::string_view);
template std::vector<bool> argument_or_default<std::vector<bool>>(const Operation&, std::string_view);
template Integers argument_or_default<Integers>(const Operation&, std::string_view);
template std::vector<double> argument_or_default<std::vector<double>>(const Operation&, std::string_view);
template Value argument_or_default<Value>(const Operation&, std::string_view);

namespace {

/// ScalarType, Layout and Device are strings or Dtype here; only those that can change a cost stay.
bool decides_nothing(std::string_view type, std::string_view name, const Value& value) {
    if (type.substr(0, 6) == "Device") return true;
    const auto* text = std::get_if<std::string>(&value);
    if (type.substr(0, 6) == "Layout") return text != nullptr && (*text == "strided" || *text == "torch.strided");
    const auto* flag = std::get_if<bool>(&value);
    return (name == "pin_memory" || name == "non_blocking") && flag != nullptr && !*flag;
}

/// The kind the schema asks for: integers where it wants floats, [2] where it wants [2,2].
Value coerced(std::string_view type, Value value, const std::optional<Value>& default_value) {
    if (type.substr(0, 5) == "float") {
        if (auto real = converted<double>(value)) return *real;
        if (auto reals = converted<std::vector<double>>(value)) return *std::move(reals);
    }
    auto* list = std::get_if<Integers>(&value);
    if (list != nullptr && list->size() == 1 && default_value) {
        if (const auto* full = std::get_if<Integers>(&*default_value); full && full->size() > 1) {
            list->assign(full->size(), list->front());
        }
    }
    return value;
}

}  // namespace

Operation canonical(Operation operation) {
    const records::Schema* schema = table().schema(operation.target);
    if (schema == nullptr) return operation;
    Operation result;
    result.target = operation.target;
    for (const auto& [type, parameter] : schema->parameters) {
        const auto given =
            std::find_if(operation.arguments.begin(), operation.arguments.end(),
                         [&, wanted = parameter.name](const Argument& argument) { return argument.name == wanted; });
        if (given == operation.arguments.end()) continue;
        Value value = coerced(type, std::move(given->value), parameter.default_value);
        const bool is_default = parameter.default_value && value == *parameter.default_value;
        if (!is_default && !decides_nothing(type, parameter.name, value)) {
            result.arguments.push_back({given->name, std::move(value)});
        }
        operation.arguments.erase(given);
    }
    if (!operation.arguments.empty()) {
        throw FormatError(operation.target + " has no parameter " + operation.arguments.front().name);
    }
    return result;
}

}  // namespace joulecast
