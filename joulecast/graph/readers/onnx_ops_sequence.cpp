// Sequences and optionals: what goes in and out of them is known while the file is read, and costs nothing.
#include <array>

#include "joulecast/graph/readers/onnx_ops.h"

namespace joulecast::onnx {

namespace {

using Elements = std::vector<HeldPointer>;

/// A place in a sequence, counted from the end where it is negative. Up to `last`.
std::size_t place(const Call& call, std::size_t input, std::size_t last) {
    const Sizes given = call.integers(input);
    const auto size = static_cast<std::int64_t>(call.elements(0).size());
    if (given.size() != 1) call.refuse("a place in a sequence is one number");
    const std::int64_t at = given[0] < 0 ? given[0] + size : given[0];
    if (at < 0 || at > static_cast<std::int64_t>(last))
        call.refuse("there is no place " + std::to_string(given[0]) + " in a sequence of " + std::to_string(size));
    return static_cast<std::size_t>(at);
}

std::size_t existing_place(const Call& call, std::size_t input) {
    if (call.elements(0).empty()) call.refuse("its sequence is empty");
    return call.has(input) ? place(call, input, call.elements(0).size() - 1) : call.elements(0).size() - 1;
}

void sequence_construct(Call& call) {
    Elements elements;
    for (std::size_t i = 0; i < call.input_count(); ++i) elements.push_back(call.value(i));
    call.put_elements(0, std::move(elements));
}

void sequence_empty(Call& call) {
    call.put_elements(0, {});
}

void sequence_insert(Call& call) {
    constexpr std::size_t most_elements = 65536;
    Elements elements = call.elements(0);
    if (elements.size() >= most_elements) call.refuse("its sequence has more than 65536 elements");
    const std::size_t at = call.has(2) ? place(call, 2, elements.size()) : elements.size();
    elements.insert(elements.begin() + static_cast<std::ptrdiff_t>(at), call.value(1));
    call.put_elements(0, std::move(elements));
}

void sequence_erase(Call& call) {
    Elements elements = call.elements(0);
    elements.erase(elements.begin() + static_cast<std::ptrdiff_t>(existing_place(call, 1)));
    call.put_elements(0, std::move(elements));
}

void sequence_at(Call& call) {
    call.forward(0, call.elements(0)[existing_place(call, 1)]);
}

void sequence_length(Call& call) {
    call.put_numbers(0, {Dtype::i64, {}, {static_cast<std::int64_t>(call.elements(0).size())}, {}});
}

void concat_from_sequence(Call& call) {
    Operands parts;
    for (const HeldPointer& element : call.elements(0)) parts.emplace_back(call.tensor(element));
    if (parts.empty()) call.refuse("its sequence is empty");
    const bool is_new = call.integer("new_axis", 0) != 0;
    const std::int64_t axis = call.integer("axis", 0);
    call.output(0, call.emit(is_new ? "aten::stack" : "aten::cat", {{"tensors", parts}, {"dim", Value(axis)}}));
}

/// In parts of one without `split`; keepdims counts then only.
void split_to_sequence(Call& call) {
    const std::int64_t axis = call.axis(call.integer("axis", 0), call.rank(0));
    const std::int64_t size = call.type(0).sizes[static_cast<std::size_t>(axis)];
    constexpr std::int64_t most_elements = 65536;
    Sizes parts;
    if (call.has(1) && call.rank(1) == 1) {
        parts = call.integers(1);
    } else {
        const std::int64_t each = call.has(1) ? call.integers(1).at(0) : 1;
        if (each < 1 || size / each >= most_elements) call.refuse("it splits into parts of no size, or too many");
        for (std::int64_t at = 0; at < size; at += each) parts.push_back(std::min(each, size - at));
    }
    const auto pieces = call.emit_all("aten::split_with_sizes",
                                      {{"self", call.tensor(0)}, {"split_sizes", Value(parts)}, {"dim", Value(axis)}});
    const bool is_squeezed = !call.has(1) && call.integer("keepdims", 1) == 0;
    Elements elements;
    for (const Operand& piece : pieces)
        elements.push_back(Call::held_of(
            is_squeezed ? call.emit("aten::squeeze.dim", {{"self", piece}, {"dim", Value(axis)}}) : piece));
    call.put_elements(0, std::move(elements));
}

/// Without an input it is empty, as a sequence without elements.
void optional(Call& call) {
    if (call.has(0)) return call.forward(0, 0);
    call.put_elements(0, {});
}

void optional_has_element(Call& call) {
    const bool has = call.has(0) && !(call.value(0)->elements && call.value(0)->elements->empty());
    call.put_numbers(0, {Dtype::boolean, {}, {has ? 1 : 0}, {}});
}

void optional_get_element(Call& call) {
    call.forward(0, 0);
}

}  // namespace

std::span<const Row> sequence_rows() {
    static constexpr std::array rows{
        Row{"SequenceConstruct", 11, &sequence_construct},
        Row{"SequenceEmpty", 11, &sequence_empty},
        Row{"SequenceInsert", 11, &sequence_insert},
        Row{"SequenceErase", 11, &sequence_erase},
        Row{"SequenceAt", 11, &sequence_at},
        Row{"SequenceLength", 11, &sequence_length},
        Row{"ConcatFromSequence", 11, &concat_from_sequence},
        Row{"SplitToSequence", 11, &split_to_sequence},
        Row{"Optional", 15, &optional},
        Row{"OptionalHasElement", 15, &optional_has_element},
        Row{"OptionalGetElement", 15, &optional_get_element},
    };
    return rows;
}

}  // namespace joulecast::onnx
