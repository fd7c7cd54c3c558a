#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_ops.h"
#include "joulecast/graph/readers/onnx_tensor.h"
#include "joulecast/units/checked.h"

/// The arithmetic of sizes: what Shape begins and Reshape ends.
namespace joulecast::onnx {

namespace {

using Result = std::optional<std::vector<Constant>>;
using Positions = std::vector<std::size_t>;

/// Number of elements, or nothing when there are more than are kept.
std::optional<std::size_t> small_count(Dtype dtype, const Sizes& sizes) {
    const std::int64_t count = element_count(tensor_type(dtype, sizes));
    if (count > (is_floating(dtype) ? most_reals : most_integers)) return std::nullopt;
    return static_cast<std::size_t>(count);
}

Constant integers_of(Sizes numbers) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    return {Dtype::i64, {count}, std::move(numbers), {}};
}

/// The elements of `source` at `positions`, in another shape.
Result picked(const Constant& source, Sizes sizes, const Positions& positions) {
    Constant result{source.dtype, std::move(sizes), {}, {}};
    for (const std::size_t position : positions) {
        if (source.is_real()) {
            result.reals.push_back(source.reals.at(position));
        } else {
            result.integers.push_back(source.integers.at(position));
        }
    }
    return std::vector{std::move(result)};
}

Result reshaped(const Constant& source, Sizes sizes) {
    Constant result = source;
    result.sizes = std::move(sizes);
    const auto count = small_count(result.dtype, result.sizes);
    if (!count || *count != result.count()) throw FormatError("the number of elements does not fit");
    return std::vector{std::move(result)};
}

/// Visits every index of `sizes` in row-major order.
template <class Visit>
void each_index(const Sizes& sizes, Visit visit) {
    if (std::ranges::find(sizes, 0) != sizes.end()) return;
    Sizes index(sizes.size(), 0);
    while (true) {
        visit(index);
        std::size_t d = sizes.size();
        while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
        if (d == 0) return;
    }
}

/// Position of an index in a tensor that broadcasts to it.
std::size_t position_of(const Sizes& index, const Sizes& sizes) {
    std::int64_t position = 0;
    const std::size_t offset = index.size() - sizes.size();
    for (std::size_t d = 0; d < sizes.size(); ++d)
        position = position * sizes[d] + (sizes[d] == 1 ? 0 : index[offset + d]);
    return static_cast<std::size_t>(position);
}

Sizes broadcast(const Sizes& a, const Sizes& b) {
    Sizes result = a.size() < b.size() ? b : a;
    const Sizes& shorter = a.size() < b.size() ? a : b;
    const std::size_t offset = result.size() - shorter.size();
    for (std::size_t i = 0; i < shorter.size(); ++i) {
        std::int64_t& size = result[offset + i];
        if (size != shorter[i] && size != 1 && shorter[i] != 1) throw FormatError("sizes do not broadcast");
        if (size == 1) size = shorter[i];
    }
    return result;
}

constexpr const char* overflow = "the computation of a size overflows 64 bits";

std::int64_t checked_add(std::int64_t a, std::int64_t b) {
    return checked_sum(a, b, overflow);
}
std::int64_t checked_subtract(std::int64_t a, std::int64_t b) {
    return checked_difference(a, b, overflow);
}
std::int64_t checked_multiply(std::int64_t a, std::int64_t b) {
    return checked_product(a, b, overflow);
}
void check_divisor(std::int64_t a, std::int64_t b) {
    if (b == 0) throw FormatError("the computation of a size divides by zero");
    if (a == INT64_MIN && b == -1) throw FormatError(overflow);
}
/// Towards zero, as ONNX' Div.
std::int64_t checked_divide(std::int64_t a, std::int64_t b) {
    check_divisor(a, b);
    return a / b;
}
/// With the divisor's sign, as ONNX' Mod without fmod.
std::int64_t checked_modulo(std::int64_t a, std::int64_t b) {
    check_divisor(a, b);
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
std::int64_t checked_power(std::int64_t base, std::int64_t exponent) {
    constexpr std::int64_t largest_exponent = 64;
    if (exponent < 0 || exponent > largest_exponent) throw FormatError("the computation of a size has a large power");
    std::int64_t result = 1;
    for (std::int64_t i = 0; i < exponent; ++i) result = checked_multiply(result, base);
    return result;
}

struct Binary {
    std::string_view op_type;
    std::int64_t (*integers)(std::int64_t, std::int64_t);
    double (*reals)(double, double);
    bool is_comparison = false;
};

constexpr std::array<Binary, 16> binaries{{
    {"Add", &checked_add, [](double a, double b) { return a + b; }},
    {"Sub", &checked_subtract, [](double a, double b) { return a - b; }},
    {"Mul", &checked_multiply, [](double a, double b) { return a * b; }},
    {"Div", &checked_divide, [](double a, double b) { return a / b; }},
    {"Mod", &checked_modulo, [](double a, double b) { return std::fmod(a, b); }},
    {"Pow", &checked_power, [](double a, double b) { return std::pow(a, b); }},
    {"Max", [](std::int64_t a, std::int64_t b) { return std::max(a, b); },
     [](double a, double b) { return std::max(a, b); }},
    {"Min", [](std::int64_t a, std::int64_t b) { return std::min(a, b); },
     [](double a, double b) { return std::min(a, b); }},
    {"Equal", [](std::int64_t a, std::int64_t b) { return std::int64_t{a == b}; },
     [](double a, double b) { return a == b ? 1.0 : 0.0; }, true},
    {"Greater", [](std::int64_t a, std::int64_t b) { return std::int64_t{a > b}; },
     [](double a, double b) { return a > b ? 1.0 : 0.0; }, true},
    {"Less", [](std::int64_t a, std::int64_t b) { return std::int64_t{a < b}; },
     [](double a, double b) { return a < b ? 1.0 : 0.0; }, true},
    {"GreaterOrEqual", [](std::int64_t a, std::int64_t b) { return std::int64_t{a >= b}; },
     [](double a, double b) { return a >= b ? 1.0 : 0.0; }, true},
    {"LessOrEqual", [](std::int64_t a, std::int64_t b) { return std::int64_t{a <= b}; },
     [](double a, double b) { return a <= b ? 1.0 : 0.0; }, true},
    {"And", [](std::int64_t a, std::int64_t b) { return std::int64_t{a != 0 && b != 0}; }, nullptr, true},
    {"Or", [](std::int64_t a, std::int64_t b) { return std::int64_t{a != 0 || b != 0}; }, nullptr, true},
    {"Xor", [](std::int64_t a, std::int64_t b) { return std::int64_t{(a != 0) != (b != 0)}; }, nullptr, true},
}};

std::optional<Constant> combined(const Binary& binary, const Constant& a, const Constant& b) {
    const Sizes sizes = broadcast(a.sizes, b.sizes);
    const Dtype dtype = binary.is_comparison ? Dtype::boolean : a.dtype;
    if (!small_count(dtype, sizes) || a.is_real() != b.is_real()) return std::nullopt;
    if (a.is_real() && binary.reals == nullptr) return std::nullopt;
    Constant result{dtype, sizes, {}, {}};
    each_index(sizes, [&](const Sizes& index) {
        const std::size_t at_a = position_of(index, a.sizes);
        const std::size_t at_b = position_of(index, b.sizes);
        if (!a.is_real()) {
            result.integers.push_back(binary.integers(a.integers[at_a], b.integers[at_b]));
        } else if (binary.is_comparison) {
            result.integers.push_back(binary.reals(a.reals[at_a], b.reals[at_b]) != 0 ? 1 : 0);
        } else {
            result.reals.push_back(binary.reals(a.reals[at_a], b.reals[at_b]));
        }
    });
    return result;
}

/// Two inputs, or any number for Max and Min.
Result evaluate_binary(const Binary& binary, const Call& call) {
    if (call.known(0) == nullptr) return std::nullopt;
    Constant result = *call.known(0);
    for (std::size_t i = 1; i < call.input_count(); ++i) {
        if (call.known(i) == nullptr) return std::nullopt;
        auto next = combined(binary, result, *call.known(i));
        if (!next) return std::nullopt;
        result = *std::move(next);
    }
    return std::vector{std::move(result)};
}

struct Unary {
    std::string_view op_type;
    std::int64_t (*integers)(std::int64_t);
    double (*reals)(double);
};

constexpr std::array<Unary, 10> unaries{{
    {"Relu", [](std::int64_t a) { return std::max(a, std::int64_t{0}); }, [](double a) { return std::max(a, 0.0); }},
    {"Neg", [](std::int64_t a) { return checked_subtract(0, a); }, [](double a) { return -a; }},
    {"Abs", [](std::int64_t a) { return a < 0 ? checked_subtract(0, a) : a; }, [](double a) { return std::fabs(a); }},
    {"Sign", [](std::int64_t a) { return std::int64_t{a > 0} - std::int64_t{a < 0}; },
     [](double a) { return a > 0   ? 1.0
                           : a < 0 ? -1.0
                                   : 0.0; }},
    {"Not", [](std::int64_t a) { return std::int64_t{a == 0}; }, nullptr},
    {"Floor", nullptr, [](double a) { return std::floor(a); }},
    {"Ceil", nullptr, [](double a) { return std::ceil(a); }},
    {"Round", nullptr, [](double a) { return std::nearbyint(a); }},
    {"Sqrt", nullptr, [](double a) { return std::sqrt(a); }},
    {"Reciprocal", nullptr, [](double a) { return 1.0 / a; }},
}};

Result evaluate_unary(const Unary& unary, const Call& call) {
    const Constant* input = call.known(0);
    if (input == nullptr || (input->is_real() ? unary.reals == nullptr : unary.integers == nullptr))
        return std::nullopt;
    Constant result = *input;
    for (double& number : result.reals) number = unary.reals(number);
    for (std::int64_t& number : result.integers) number = unary.integers(number);
    return std::vector{std::move(result)};
}

Result shape(const Call& call) {
    const Sizes& sizes = call.type(0).sizes;
    const auto rank = static_cast<std::int64_t>(sizes.size());
    const auto bounded = [&](std::int64_t at) { return std::clamp(at < 0 ? at + rank : at, std::int64_t{0}, rank); };
    const std::int64_t start = bounded(std::clamp(call.integer("start", 0), -rank, rank));
    const std::int64_t end = bounded(std::clamp(call.integer("end", rank), -rank, rank));
    return std::vector{integers_of(start < end ? Sizes(sizes.begin() + start, sizes.begin() + end) : Sizes{})};
}

Result size(const Call& call) {
    return std::vector{Constant{Dtype::i64, {}, {element_count(call.type(0))}, {}}};
}

Result constant(const Call& call) {
    if (const Attribute* value = call.attribute("value"); value != nullptr && value->tensor)
        return value->tensor->values ? Result(std::vector{*value->tensor->values}) : std::nullopt;
    if (const Attribute* value = call.attribute("value_int"); value != nullptr && value->integer)
        return std::vector{Constant{Dtype::i64, {}, {*value->integer}, {}}};
    if (const Attribute* value = call.attribute("value_float"); value != nullptr && value->real)
        return std::vector{Constant{Dtype::f32, {}, {}, {*value->real}}};
    if (const auto values = call.optional_list("value_ints"); values && std::ssize(*values) <= most_integers)
        return std::vector{integers_of(*values)};
    if (const Attribute* value = call.attribute("value_floats");
        value != nullptr && std::ssize(value->reals) <= most_reals)
        return std::vector{Constant{Dtype::f32, {std::ssize(value->reals)}, {}, value->reals}};
    return std::nullopt;
}

Result constant_of_shape(const Call& call) {
    const Constant* sizes = call.known(0);
    if (sizes == nullptr || sizes->is_real()) return std::nullopt;
    Constant result{Dtype::f32, sizes->integers, {}, {}};
    const Attribute* value = call.attribute("value");
    std::optional<Constant> fill = Constant{Dtype::f32, {1}, {}, {0.0}};
    if (value != nullptr && value->tensor) fill = value->tensor->values;
    if (!fill || fill->count() != 1) return std::nullopt;
    result.dtype = fill->dtype;
    const auto count = small_count(result.dtype, result.sizes);
    if (!count) return std::nullopt;
    if (result.is_real()) {
        result.reals.assign(*count, fill->reals[0]);
    } else {
        result.integers.assign(*count, fill->integers[0]);
    }
    return std::vector{std::move(result)};
}

Result cast(const Call& call) {
    const Constant* input = call.known(0);
    if (input == nullptr) return std::nullopt;
    const Dtype dtype = required_dtype(call.integer("to", 0));
    Constant result{dtype, input->sizes, {}, {}};
    if (!small_count(dtype, input->sizes)) return std::nullopt;
    for (std::size_t i = 0; i < input->count(); ++i) {
        const double number = input->number(i);
        constexpr double largest = 9.2e18;  // within 64 bits
        if (result.is_real()) {
            result.reals.push_back(number);
        } else if (dtype == Dtype::boolean) {
            result.integers.push_back(number != 0 ? 1 : 0);
        } else if (!input->is_real()) {
            result.integers.push_back(input->integers[i]);
        } else if (std::isnan(number) || std::fabs(number) > largest) {
            return std::nullopt;
        } else {
            result.integers.push_back(static_cast<std::int64_t>(number));
        }
    }
    return std::vector{std::move(result)};
}

/// An index that may count from the end.
std::int64_t wrapped(std::int64_t index, std::int64_t size) {
    if (index < -size || index >= size) throw FormatError("there is no element " + std::to_string(index));
    return index < 0 ? index + size : index;
}

Result gather(const Call& call) {
    const Constant* source = call.known(0);
    const Constant* indices = call.known(1);
    if (source == nullptr || indices == nullptr || indices->is_real()) return std::nullopt;
    const auto rank = std::ssize(source->sizes);
    const auto axis = static_cast<std::ptrdiff_t>(call.axis(call.integer("axis", 0), rank));
    Sizes sizes(source->sizes.begin(), source->sizes.begin() + axis);
    sizes.insert(sizes.end(), indices->sizes.begin(), indices->sizes.end());
    sizes.insert(sizes.end(), source->sizes.begin() + axis + 1, source->sizes.end());
    if (!small_count(source->dtype, sizes)) return std::nullopt;
    Positions positions;
    const auto index_rank = std::ssize(indices->sizes);
    each_index(sizes, [&](const Sizes& index) {
        Sizes from(index.begin(), index.begin() + axis);
        const Sizes which(index.begin() + axis, index.begin() + axis + index_rank);
        from.push_back(wrapped(indices->integers.at(position_of(which, indices->sizes)),
                               source->sizes[static_cast<std::size_t>(axis)]));
        from.insert(from.end(), index.begin() + axis + index_rank, index.end());
        positions.push_back(position_of(from, source->sizes));
    });
    return picked(*source, sizes, positions);
}

Result concat(const Call& call) {
    if (call.known(0) == nullptr) return std::nullopt;
    Constant result = *call.known(0);
    const auto axis = static_cast<std::size_t>(call.axis(call.integer("axis", 0), std::ssize(result.sizes)));
    // Sizes are joined in vectors; anything else has one part before the axis too, or is no size.
    if (axis != 0) return std::nullopt;
    for (std::size_t i = 1; i < call.input_count(); ++i) {
        const Constant* part = call.known(i);
        if (part == nullptr || part->sizes.size() != result.sizes.size() || part->is_real() != result.is_real())
            return std::nullopt;
        result.sizes[0] = checked_add(result.sizes[0], part->sizes[0]);
        result.integers.insert(result.integers.end(), part->integers.begin(), part->integers.end());
        result.reals.insert(result.reals.end(), part->reals.begin(), part->reals.end());
        if (!small_count(result.dtype, result.sizes)) return std::nullopt;
    }
    return std::vector{std::move(result)};
}

Result slice(const Call& call) {
    const Constant* source = call.known(0);
    const bool by_inputs = call.opset() >= 10;
    for (std::size_t i = 1; by_inputs && i < call.input_count(); ++i)
        if (call.has(i) && call.known(i) == nullptr) return std::nullopt;
    if (source == nullptr) return std::nullopt;
    const auto [starts, ends, axes, steps] = slice_range(call);
    Sizes sizes = source->sizes;
    Sizes first(sizes.size(), 0);
    Sizes step(sizes.size(), 1);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const auto d = static_cast<std::size_t>(call.axis(axes[i], std::ssize(sizes)));
        const std::int64_t size = source->sizes[d];
        if (steps[i] == 0) throw FormatError("a step is zero");
        const bool forward = steps[i] > 0;
        const auto bounded = [&](std::int64_t at) {
            const std::int64_t wrapped_at = at < 0 && at >= -size ? at + size : at;
            return std::clamp(wrapped_at, forward ? std::int64_t{0} : std::int64_t{-1}, forward ? size : size - 1);
        };
        first[d] = bounded(starts[i]);
        const std::int64_t last = bounded(ends[i]);
        step[d] = std::clamp(steps[i], -most_integers, most_integers);
        const std::int64_t span = forward ? last - first[d] : first[d] - last;
        const std::int64_t stride = forward ? step[d] : -step[d];
        sizes[d] = span <= 0 ? 0 : (span + stride - 1) / stride;
    }
    Positions positions;
    each_index(sizes, [&](Sizes index) {
        for (std::size_t d = 0; d < index.size(); ++d) index[d] = first[d] + index[d] * step[d];
        // Not position_of(): a size of one in the source is no broadcast here.
        std::int64_t position = 0;
        for (std::size_t d = 0; d < index.size(); ++d) position = position * source->sizes[d] + index[d];
        positions.push_back(static_cast<std::size_t>(position));
    });
    return picked(*source, sizes, positions);
}

Result range(const Call& call) {
    const Constant* start = call.known(0);
    const Constant* limit = call.known(1);
    const Constant* delta = call.known(2);
    if (start == nullptr || limit == nullptr || delta == nullptr) return std::nullopt;
    if (start->is_real() || limit->is_real() || delta->is_real()) return std::nullopt;
    if (start->count() != 1 || limit->count() != 1 || delta->count() != 1 || delta->integers[0] == 0)
        throw FormatError("start, limit and delta of a range must be single numbers, delta not zero");
    Constant result{start->dtype, {0}, {}, {}};
    const std::int64_t step = delta->integers[0];
    for (std::int64_t at = start->integers[0]; step > 0 ? at < limit->integers[0] : at > limit->integers[0];
         at = checked_add(at, step)) {
        if (std::ssize(result.integers) == most_integers) return std::nullopt;
        result.integers.push_back(at);
    }
    result.sizes[0] = std::ssize(result.integers);
    return std::vector{std::move(result)};
}

Result where(const Call& call) {
    const Constant* condition = call.known(0);
    const Constant* a = call.known(1);
    const Constant* b = call.known(2);
    if (condition == nullptr || a == nullptr || b == nullptr || a->is_real() != b->is_real()) return std::nullopt;
    const Sizes sizes = broadcast(condition->sizes, broadcast(a->sizes, b->sizes));
    if (!small_count(a->dtype, sizes)) return std::nullopt;
    Constant result{a->dtype, sizes, {}, {}};
    each_index(sizes, [&](const Sizes& index) {
        const bool is_first = condition->number(position_of(index, condition->sizes)) != 0;
        const Constant& from = is_first ? *a : *b;
        const std::size_t at = position_of(index, from.sizes);
        if (from.is_real()) {
            result.reals.push_back(from.reals[at]);
        } else {
            result.integers.push_back(from.integers[at]);
        }
    });
    return std::vector{std::move(result)};
}

Result expand(const Call& call) {
    const Constant* source = call.known(0);
    if (source == nullptr || call.known(1) == nullptr) return std::nullopt;
    const Sizes sizes = broadcast(source->sizes, call.integers(1));
    if (!small_count(source->dtype, sizes)) return std::nullopt;
    Positions positions;
    each_index(sizes, [&](const Sizes& index) { positions.push_back(position_of(index, source->sizes)); });
    return picked(*source, sizes, positions);
}

Result unsqueeze(const Call& call) {
    const Constant* source = call.known(0);
    if (source == nullptr || (call.has(1) && call.known(1) == nullptr)) return std::nullopt;
    Sizes axes = call.list_or_input("axes", 1).value_or(Sizes{});
    const auto rank = std::ssize(source->sizes) + std::ssize(axes);
    for (std::int64_t& axis : axes) axis = call.axis(axis, rank);
    std::ranges::sort(axes);
    Sizes sizes = source->sizes;
    for (const std::int64_t axis : axes) {
        if (axis > std::ssize(sizes)) throw FormatError("an axis is given twice");
        sizes.insert(sizes.begin() + axis, 1);
    }
    return reshaped(*source, sizes);
}

Result squeeze(const Call& call) {
    const Constant* source = call.known(0);
    if (source == nullptr || (call.has(1) && call.known(1) == nullptr)) return std::nullopt;
    const auto axes = call.list_or_input("axes", 1);
    std::vector<bool> goes(source->sizes.size(), !axes);
    for (const std::int64_t axis : axes.value_or(Sizes{}))
        goes[static_cast<std::size_t>(call.axis(axis, std::ssize(goes)))] = true;
    Sizes sizes;
    for (std::size_t d = 0; d < goes.size(); ++d)
        if (!goes[d] || source->sizes[d] != 1) sizes.push_back(source->sizes[d]);
    return reshaped(*source, sizes);
}

Result reshape(const Call& call) {
    const Constant* source = call.known(0);
    if (source == nullptr || call.known(1) == nullptr) return std::nullopt;
    Sizes sizes = call.integers(1);
    std::int64_t rest = static_cast<std::int64_t>(source->count());
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        if (sizes[d] == 0 && d < source->sizes.size() && call.integer("allowzero", 0) == 0) sizes[d] = source->sizes[d];
        if (sizes[d] > 0) rest /= sizes[d];
    }
    std::ranges::replace(sizes, std::int64_t{-1}, rest);
    return reshaped(*source, sizes);
}

Result transpose(const Call& call) {
    const Constant* source = call.known(0);
    if (source == nullptr) return std::nullopt;
    Sizes order(source->sizes.size());
    std::iota(order.rbegin(), order.rend(), std::int64_t{0});
    order = call.list("perm", order);
    Sizes sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < sorted.size(); ++i)
        if (sorted[i] != static_cast<std::int64_t>(i) || sorted.size() != source->sizes.size())
            throw FormatError("perm is not a permutation");
    Sizes sizes;
    for (const std::int64_t from : order) sizes.push_back(source->sizes[static_cast<std::size_t>(from)]);
    Positions positions;
    each_index(sizes, [&](const Sizes& index) {
        Sizes from(index.size());
        for (std::size_t d = 0; d < index.size(); ++d) from[static_cast<std::size_t>(order[d])] = index[d];
        positions.push_back(position_of(from, source->sizes));
    });
    return picked(*source, sizes, positions);
}

/// Of vectors; other tensors are not sizes.
Result split(const Call& call) {
    const Constant* source = call.known(0);
    if (source == nullptr || source->sizes.size() != 1 || (call.has(1) && call.known(1) == nullptr))
        return std::nullopt;
    const auto count = std::ssize(call.node().outputs);
    Sizes parts = call.list_or_input("split", 1).value_or(Sizes{});
    const std::int64_t each = (source->sizes[0] + count - 1) / std::max<std::ptrdiff_t>(count, 1);
    if (parts.empty())
        for (std::int64_t i = 0, left = source->sizes[0]; i < count; ++i, left -= each)
            parts.push_back(std::clamp(left, std::int64_t{0}, each));
    std::vector<Constant> results;
    std::int64_t start = 0;
    for (const std::int64_t part : parts) {
        if (part < 0 || part > source->sizes[0] - start) throw FormatError("the parts of a split do not fit");
        Positions positions(static_cast<std::size_t>(part));
        std::iota(positions.begin(), positions.end(), static_cast<std::size_t>(start));
        results.push_back(picked(*source, {part}, positions)->front());
        start += part;
    }
    return results;
}

/// Over all elements: the number of elements that a shape has.
template <std::int64_t (*combine)(std::int64_t, std::int64_t)>
Result reduced(const Call& call) {
    const Constant* source = call.known(0);
    if (source == nullptr || source->is_real() || source->sizes.size() > 1 || source->integers.empty())
        return std::nullopt;
    if (call.has(1) && call.known(1) == nullptr) return std::nullopt;
    const auto axes = call.list_or_input("axes", 1).value_or(Sizes{});
    if (axes.empty() && call.integer("noop_with_empty_axes", 0) != 0) return std::vector{*source};
    std::int64_t result = source->integers.front();
    for (std::size_t i = 1; i < source->integers.size(); ++i) result = combine(result, source->integers[i]);
    const bool keeps = call.integer("keepdims", 1) != 0;
    return std::vector{Constant{source->dtype, keeps ? Sizes(source->sizes.size(), 1) : Sizes{}, {result}, {}}};
}

std::int64_t larger(std::int64_t a, std::int64_t b) {
    return std::max(a, b);
}
std::int64_t smaller(std::int64_t a, std::int64_t b) {
    return std::min(a, b);
}

struct Evaluation {
    std::string_view op_type;
    Result (*evaluate)(const Call&);
};

constexpr std::array<Evaluation, 20> evaluations{{{"Shape", &shape},
                                                  {"Size", &size},
                                                  {"Constant", &constant},
                                                  {"ConstantOfShape", &constant_of_shape},
                                                  {"Cast", &cast},
                                                  {"Gather", &gather},
                                                  {"Concat", &concat},
                                                  {"Slice", &slice},
                                                  {"Range", &range},
                                                  {"Where", &where},
                                                  {"Expand", &expand},
                                                  {"Unsqueeze", &unsqueeze},
                                                  {"Squeeze", &squeeze},
                                                  {"Reshape", &reshape},
                                                  {"Transpose", &transpose},
                                                  {"Split", &split},
                                                  {"ReduceProd", &reduced<&checked_multiply>},
                                                  {"ReduceSum", &reduced<&checked_add>},
                                                  {"ReduceMax", &reduced<&larger>},
                                                  {"ReduceMin", &reduced<&smaller>}}};

}  // namespace

std::optional<std::vector<Constant>> evaluate(const Call& call) {
    if (!call.node().domain.empty()) return std::nullopt;
    const std::string_view op_type = call.node().op_type;
    if (const auto* row = std::ranges::find(evaluations, op_type, &Evaluation::op_type); row != evaluations.end())
        return row->evaluate(call);
    if (const auto* row = std::ranges::find(binaries, op_type, &Binary::op_type); row != binaries.end())
        return evaluate_binary(*row, call);
    if (const auto* row = std::ranges::find(unaries, op_type, &Unary::op_type); row != unaries.end())
        return evaluate_unary(*row, call);
    return std::nullopt;
}

}  // namespace joulecast::onnx
