#include "joulecast/graph/operands.h"

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/units/checked.h"

namespace joulecast::records {

void refuse(const Operation& operation, const std::string& why) {
    throw FormatError(why + " in " + signature(operation));
}

namespace {

/// False where a size is negative or the sizes, zeros left out, multiply to more than 2^50.
bool is_sound(const Sizes& sizes) {
    constexpr std::int64_t most_elements = std::int64_t{1} << 50;
    std::int64_t count = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0) return false;
        if (size > 0 && (__builtin_mul_overflow(count, size, &count) || count > most_elements)) return false;
    }
    return true;
}

void check(const Operation& operation, const TensorType& type) {
    if (!is_sound(type.sizes)) refuse(operation, "a size is negative, or a tensor has more than 2^50 elements");
    if (!type.strides.empty()) span(type);  // throws for strides that cannot be
}

}  // namespace

const TensorType* optional_tensor(const Operation& operation, std::string_view name) {
    const Value* value = find_argument(operation, name);
    if (value == nullptr || std::holds_alternative<None>(*value)) return nullptr;
    const auto* found = std::get_if<TensorType>(value);
    if (found == nullptr) refuse(operation, "argument " + std::string(name) + " is not a tensor");
    check(operation, *found);
    return found;
}

const TensorType& tensor(const Operation& operation, std::string_view name) {
    const TensorType* found = optional_tensor(operation, name);
    if (found == nullptr) refuse(operation, "there is no tensor " + std::string(name));
    return *found;
}

std::vector<const TensorType*> tensor_list(const Operation& operation, std::string_view name) {
    const Value* value = find_argument(operation, name);
    std::vector<const TensorType*> found;
    if (value == nullptr) return found;
    const auto* list = std::get_if<TensorList>(value);
    if (list == nullptr) refuse(operation, "argument " + std::string(name) + " is not a list of tensors");
    found.reserve(list->size());
    for (const auto& item : *list) {
        if (!item) continue;
        check(operation, *item);
        found.push_back(&*item);
    }
    return found;
}

std::optional<Sizes> optional_integers(const Operation& operation, std::string_view name) {
    const Value* given = find_argument(operation, name);
    if (given != nullptr && std::holds_alternative<Sizes>(*given)) return std::get<Sizes>(*given);
    Value value = argument_or_default<Value>(operation, name);
    if (std::holds_alternative<None>(value)) return std::nullopt;
    if (auto* list = std::get_if<Sizes>(&value)) return std::move(*list);
    if (const auto* single = std::get_if<std::int64_t>(&value)) return Sizes{*single};
    refuse(operation, "argument " + std::string(name) + " is not a list of integers");
}

Sizes integers(const Operation& operation, std::string_view name) {
    auto list = optional_integers(operation, name);
    if (!list) refuse(operation, "argument " + std::string(name) + " is none");
    return *std::move(list);
}

Sizes spread(const Operation& operation, std::string_view name, std::size_t length) {
    Sizes list = integers(operation, name);
    if (list.size() == 1) list.assign(length, list.front());
    if (list.size() != length) {
        refuse(operation, "argument " + std::string(name) + " has not " + std::to_string(length) + " items");
    }
    return list;
}

std::optional<std::int64_t> optional_integer(const Operation& operation, std::string_view name) {
    const Value value = argument_or_default<Value>(operation, name);
    if (std::holds_alternative<None>(value)) return std::nullopt;
    if (const auto* single = std::get_if<std::int64_t>(&value)) return *single;
    refuse(operation, "argument " + std::string(name) + " is not an integer");
}

std::optional<Dtype> optional_dtype(const Operation& operation, std::string_view name) {
    const Value value = argument_or_default<Value>(operation, name);
    if (const auto* dtype = std::get_if<Dtype>(&value)) return *dtype;
    if (std::holds_alternative<None>(value)) return std::nullopt;
    refuse(operation, "argument " + std::string(name) + " is not a dtype");
}

bool has_parameter(const Operation& operation, std::string_view name) {
    const auto parameters = find_record(operation.target)->parameters;
    return std::any_of(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == name; });
}

Dtype dtype_or(const Operation& operation, Dtype otherwise) {
    return has_parameter(operation, "dtype") ? optional_dtype(operation, "dtype").value_or(otherwise) : otherwise;
}

bool is_reduced_loss(const Operation& operation) {
    const std::int64_t reduction = integer(operation, "reduction");
    if (reduction < 0 || reduction > 2) refuse(operation, "unknown reduction");
    return reduction != 0;
}

namespace {

const TensorType* first_or_null(const Operation& operation) {
    for (const Argument& argument : operation.arguments) {
        if (const auto* single = std::get_if<TensorType>(&argument.value)) return single;
        if (const auto* list = std::get_if<TensorList>(&argument.value)) {
            for (const auto& item : *list) {
                if (item) return &*item;
            }
        }
    }
    return nullptr;
}

}  // namespace

const TensorType& first(const Operation& operation) {
    const TensorType* found = first_or_null(operation);
    if (found == nullptr) refuse(operation, "there is no tensor");
    check(operation, *found);
    return *found;
}

std::size_t dimension(const Operation& operation, std::int64_t dim, std::size_t rank, std::size_t extra) {
    // A scalar tensor may be addressed as if it had one dimension.
    const auto count = static_cast<std::int64_t>(std::max<std::size_t>(rank + extra, 1));
    if (dim < -count || dim >= count) refuse(operation, "there is no dimension " + std::to_string(dim));
    return static_cast<std::size_t>(dim < 0 ? dim + count : dim);
}

std::size_t dimension_argument(const Operation& operation, const TensorType& type, std::string_view name) {
    const std::size_t found = dimension(operation, integer(operation, name), rank(type));
    if (found >= rank(type)) refuse(operation, "a scalar has no dimension");
    return found;
}

Sizes broadcast(const Operation& operation, const Sizes& a, const Sizes& b) {
    const Sizes& longer = a.size() < b.size() ? b : a;
    const Sizes& shorter = a.size() < b.size() ? a : b;
    Sizes result = longer;
    const std::size_t offset = longer.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        std::int64_t& size = result[offset + i];
        if (size != shorter[i] && size != 1 && shorter[i] != 1) refuse(operation, "sizes do not broadcast");
        if (size == 1) size = shorter[i];
    }
    return result;
}

std::int64_t checked(const Operation& operation, std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result) || result > (std::int64_t{1} << 60)) {
        refuse(operation, "sizes multiply to more than 2^60");
    }
    return result;
}

std::int64_t added(std::int64_t a, std::int64_t b) {
    return checked_sum(a, b, "sizes add up to more than 64 bits hold");
}

std::int64_t product(const Operation& operation, const Sizes& sizes) {
    std::int64_t result = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0) refuse(operation, "there is a negative size");
        result = checked(operation, result, size);
    }
    return result;
}

TensorType make(Dtype dtype, Sizes sizes) {
    if (!is_sound(sizes)) throw FormatError("an output has a negative size or more than 2^50 elements");
    return {dtype, std::move(sizes), {}, false};
}

TensorType formatted(Dtype dtype, Sizes sizes, bool wants_channels_last) {
    const bool possible = sizes.size() == 4 || sizes.size() == 5;
    TensorType type = make(dtype, std::move(sizes));
    return wants_channels_last && possible ? channels_last(dtype, std::move(type.sizes)) : type;
}

TensorType viewed(const Operation& operation, const TensorType& self, Sizes sizes) {
    auto view = view_of(self, make(self.dtype, std::move(sizes)).sizes);
    if (!view) refuse(operation, "the strides do not allow a view of these sizes");
    return *std::move(view);
}

TensorType in_memory_format(const Operation& operation, Dtype dtype) {
    const TensorType& self = first(operation);
    const Value value = argument_or_default<Value>(operation, "memory_format");
    const auto* text = std::get_if<std::string>(&value);
    const std::string_view given = text == nullptr ? std::string_view("preserve_format") : *text;
    constexpr std::string_view prefix = "torch.";
    const std::string_view format = given.starts_with(prefix) ? given.substr(prefix.size()) : given;
    if (format == "preserve_format") return like(self, dtype);
    if (format == "contiguous_format") return make(dtype, self.sizes);
    const std::size_t dimensions = format == "channels_last" ? 4 : format == "channels_last_3d" ? 5 : 0;
    if (dimensions != rank(self)) refuse(operation, "the memory format does not fit");
    return channels_last(dtype, self.sizes);
}

TensorType iterated(const Operation& operation, Dtype dtype, const Sizes& sizes) {
    return iterated(dtype, make(dtype, sizes).sizes, tensors(operation));
}

namespace {

enum class Category { none, boolean, integer, floating, complex };

Category category(Dtype dtype) {
    if (dtype == Dtype::boolean) return Category::boolean;
    if (dtype == Dtype::c64 || dtype == Dtype::c128) return Category::complex;
    return is_floating(dtype) ? Category::floating : Category::integer;
}

/// Within a category the wider one; of two equally wide f16 and bf16, f32; u8 with i8, i16.
Dtype wider(Dtype a, Dtype b) {
    if (a == b) return a;
    if (category(a) != category(b)) return category(a) < category(b) ? b : a;
    if (element_bytes(a) != element_bytes(b)) return element_bytes(a) < element_bytes(b) ? b : a;
    return category(a) == Category::floating ? Dtype::f32 : Dtype::i16;
}

/// What takes part in a promotion: tensors with dimensions, tensors without, and plain numbers, in falling priority.
struct Participants {
    std::optional<Dtype> dimensioned;
    std::optional<Dtype> zero_dimensional;
    std::optional<Dtype> number;

    static void add(std::optional<Dtype>& group, Dtype dtype) { group = group ? wider(*group, dtype) : dtype; }

    void add(const Value& value) {
        if (const auto* type = std::get_if<TensorType>(&value)) {
            add(type->sizes.empty() ? zero_dimensional : dimensioned, type->dtype);
        } else if (const auto* list = std::get_if<TensorList>(&value)) {
            for (const auto& item : *list) {
                if (item) add(item->sizes.empty() ? zero_dimensional : dimensioned, item->dtype);
            }
        } else if (std::holds_alternative<double>(value)) {
            add(number, Dtype::f32);
        } else if (std::holds_alternative<std::int64_t>(value)) {
            add(number, Dtype::i64);
        } else if (std::holds_alternative<bool>(value)) {
            add(number, Dtype::boolean);
        }
    }
};

/// A lower group changes the type only by being of a higher category.
std::optional<Dtype> combined(std::optional<Dtype> higher, std::optional<Dtype> lower) {
    if (!higher) return lower;
    if (!lower || category(*lower) <= category(*higher)) return higher;
    return lower;
}

}  // namespace

Dtype promoted(const Operation& operation, std::initializer_list<std::string_view> names) {
    Participants participants;
    for (const std::string_view name : names) {
        const Value* value = find_argument(operation, name);  // lists of tensors are long: not copied
        if (value != nullptr) {
            participants.add(*value);
        } else {
            participants.add(argument_or_default<Value>(operation, name));
        }
    }
    const auto result =
        combined(participants.dimensioned, combined(participants.zero_dimensional, participants.number));
    if (!result) refuse(operation, "there is nothing to take a dtype from");
    return *result;
}

Types same_as_first(const Operation& operation) {
    return {like(first(operation))};
}

Types floating_as_first(const Operation& operation) {
    const TensorType& type = first(operation);
    return {like(type, to_floating(type.dtype))};
}

Types boolean_as_first(const Operation& operation) {
    return {like(first(operation), Dtype::boolean)};
}

Types same_if_dense(const Operation& operation) {
    const TensorType& self = first(operation);
    return {is_dense(self) ? like(self) : make(self.dtype, self.sizes)};
}

TensorType unmarked(TensorType type) {
    type.requires_grad = false;
    return type;
}

Types first_itself(const Operation& operation) {
    return {unmarked(first(operation))};
}

Types no_outputs(const Operation& /*operation*/) {
    return {};
}

std::int64_t elements(const Types& outputs) {
    std::int64_t count = 0;
    for (const TensorType& output : outputs) count = added(count, element_count(output));
    return count;
}

std::int64_t bytes(const Types& outputs) {
    std::int64_t count = 0;
    for (const TensorType& output : outputs) count = added(count, byte_count(output));
    return count;
}

namespace {

template <class Visit>
void each_tensor(const Operation& operation, Visit visit) {
    for (const Argument& argument : operation.arguments) {
        if (const auto* single = std::get_if<TensorType>(&argument.value)) {
            visit(*single);
        } else if (const auto* list = std::get_if<TensorList>(&argument.value)) {
            for (const auto& item : *list) {
                if (item) visit(*item);
            }
        }
    }
}

}  // namespace

std::int64_t input_bytes(const Operation& operation) {
    std::int64_t count = 0;
    each_tensor(operation, [&](const TensorType& type) { count = added(count, distinct_bytes(type)); });
    return count;
}

std::int64_t gradient_bytes(const Operation& operation) {
    std::int64_t count = 0;
    each_tensor(operation, [&](const TensorType& type) { count = added(count, gradient_bytes(&type)); });
    return count;
}

Counts free_of_charge(const Operation& /*operation*/) {
    return {};
}

Indices saves_first(const Operation& /*operation*/) {
    return {0};
}

Indices saves_output(const Operation& operation) {
    std::int32_t count = 0;
    each_tensor(operation, [&](const TensorType&) { ++count; });
    return {count};
}

}  // namespace joulecast::records
