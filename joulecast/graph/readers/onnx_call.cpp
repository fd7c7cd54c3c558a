#include "joulecast/graph/readers/onnx_call.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_tensor.h"
#include "joulecast/graph/readers/onnx_translation.h"

namespace joulecast::onnx {

TensorType tensor_type(Dtype dtype, Sizes sizes) {
    TensorType type;
    type.dtype = dtype;
    type.sizes = std::move(sizes);
    return type;
}

Given::Given(std::string given_name, Value value) : name(std::move(given_name)), item(std::move(value)) {}

Call::Call(Translation& translation, const Node& node, Frame& frame, std::vector<HeldPointer> inputs,
           std::vector<HeldPointer> outputs)
    : translation_(translation), node_(node), frame_(frame), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {}

std::int64_t Call::opset() const {
    const auto found = frame_.opsets->find(node_.domain);
    return found == frame_.opsets->end() ? 1 : found->second;
}

void Call::refuse(const std::string& why) const {
    throw FormatError(why);
}

Held& Call::held(std::size_t input) const {
    if (!has(input)) refuse("input number " + std::to_string(input) + " is missing");
    return *inputs_[input];
}

Operand Call::tensor(std::size_t input) {
    return translation_.operand(held(input));
}

Operand Call::tensor(const HeldPointer& element) {
    return translation_.operand(*element);
}

std::optional<Operand> Call::optional_tensor(std::size_t input) {
    return has(input) ? std::optional(tensor(input)) : std::nullopt;
}

Operand Call::transposed(std::size_t input) {
    return translation_.transposed(held(input), node_, frame_);
}

const Constant* Call::known(std::size_t input) const {
    return has(input) && inputs_[input]->known ? &*inputs_[input]->known : nullptr;
}

Sizes Call::integers(std::size_t input) const {
    const Constant* numbers = known(input);
    if (numbers == nullptr || numbers->is_real()) refuse_unknown(input, "the integers");
    return numbers->integers;
}

void Call::refuse_unknown(std::size_t input, const std::string& what) const {
    const std::string settable = translation_.settable_numbers();
    refuse(what + " of its input number " + std::to_string(input) + " (\"" + held(input).name +
           "\") are only known when the network runs, so its sizes are not. Export it with fixed sizes there" +
           (settable.empty() ? "" : "; " + settable));
}

std::optional<Sizes> Call::sizes_in_file(std::size_t output) const {
    const ValueInfo* info = info_in_file(output);
    if (info == nullptr || !info->shape) return std::nullopt;
    Sizes sizes;
    for (const Dimension& dimension : *info->shape) {
        const auto size = translation_.size_of(dimension);
        if (!size) return std::nullopt;
        sizes.push_back(*size);
    }
    return sizes;
}

Sizes Call::sizes_by_input(std::size_t input) const {
    if (const Constant* numbers = known(input); numbers == nullptr || numbers->is_real())
        if (const auto in_file = sizes_in_file(0)) return *in_file;
    return integers(input);
}

std::optional<Sizes> Call::optional_integers(std::size_t input) const {
    return has(input) ? std::optional(integers(input)) : std::nullopt;
}

std::optional<double> Call::scalar(std::size_t input) const {
    const Constant* numbers = known(input);
    if (numbers == nullptr || numbers->count() != 1) return std::nullopt;
    return numbers->number(0);
}

bool Call::is_weight(std::size_t input) const {
    return has(input) && inputs_[input]->is_stored && inputs_[input]->kind == GraphInput::Kind::parameter;
}

void Call::mark_buffer(std::size_t input) {
    if (!is_weight(input)) return;
    Held& weight = inputs_[input]->same != nullptr ? *inputs_[input]->same : *inputs_[input];
    weight.kind = GraphInput::Kind::buffer;
}

const Attribute* Call::attribute(std::string_view name) const {
    const Attribute* own = node_.find(name);
    if (own == nullptr || own->reference.empty()) return own;
    // A branch within a function sees the attributes of the function's call.
    for (const Frame* frame = &frame_; frame != nullptr; frame = frame->parent)
        if (const auto found = frame->attributes.find(own->reference); found != frame->attributes.end())
            return found->second;
    return nullptr;
}

std::int64_t Call::integer(std::string_view name, std::int64_t missing) const {
    const Attribute* found = attribute(name);
    return found == nullptr ? missing : found->integer.value_or(missing);
}

double Call::real(std::string_view name, double missing) const {
    const Attribute* found = attribute(name);
    return found == nullptr ? missing : found->real.value_or(missing);
}

std::string Call::text(std::string_view name, std::string missing) const {
    const Attribute* found = attribute(name);
    return found == nullptr ? missing : found->text.value_or(std::move(missing));
}

Dtype Call::dtype(std::string_view name, Dtype missing) const {
    const std::int64_t number = integer(name, 0);
    return number == 0 ? missing : required_dtype(number);
}

std::optional<Sizes> Call::optional_list(std::string_view name) const {
    const Attribute* found = attribute(name);
    return found == nullptr ? std::nullopt : std::optional(found->integers);
}

Sizes Call::list(std::string_view name, Sizes missing) const {
    return optional_list(name).value_or(std::move(missing));
}

std::optional<Sizes> Call::list_or_input(std::string_view name, std::size_t input) const {
    if (has(input)) return integers(input);
    return optional_list(name);
}

SliceRange slice_range(const Call& call) {
    const bool by_inputs = call.opset() >= 10;
    SliceRange range;
    range.starts = by_inputs ? call.integers(1) : call.list("starts", {});
    range.ends = by_inputs ? call.integers(2) : call.list("ends", {});
    range.axes.resize(range.starts.size());
    std::iota(range.axes.begin(), range.axes.end(), std::int64_t{0});
    if (const auto given = by_inputs ? call.optional_integers(3) : call.optional_list("axes")) range.axes = *given;
    range.steps.assign(range.starts.size(), 1);
    if (by_inputs && call.has(4)) range.steps = call.integers(4);
    for (const Sizes* list : {&range.ends, &range.axes, &range.steps})
        if (list->size() != range.starts.size()) call.refuse("starts, ends, axes and steps have different lengths");
    return range;
}

std::int64_t Call::axis(std::int64_t axis, std::int64_t rank) const {
    if (axis < -rank || axis >= rank)
        refuse("there is no axis " + std::to_string(axis) + " in " + std::to_string(rank) + " dimensions");
    return axis < 0 ? axis + rank : axis;
}

std::vector<Operand> Call::emit_all(const std::string& target, std::vector<Given> given) {
    return translation_.emit(node_, frame_, target, std::move(given), nullptr);
}

Operand Call::emit(const std::string& target, std::vector<Given> given) {
    return emit_all(target, std::move(given)).at(0);
}

std::vector<Operand> Call::emit_unknown(const std::string& target, std::vector<Given> given,
                                        const std::vector<TensorType>& outputs) {
    return translation_.emit(node_, frame_, target, std::move(given), &outputs);
}

namespace {

/// Letters, digits, '_' and '.', as the text form of an operation asks for.
std::string plain_name(std::string name) {
    constexpr std::size_t longest = 200;
    if (name.size() > longest) name.resize(longest);
    for (char& c : name) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
        if (!is_plain) c = '_';
    }
    return name;
}

}  // namespace

void Call::refuse_unknown_sizes() const {
    const std::string settable = translation_.settable_numbers();
    refuse(
        "joulecast has no translation of this operator, and the file does not tell the sizes of its outputs. Run "
        "onnx.shape_inference.infer_shapes on the file, or export it with value_info" +
        (settable.empty() ? "" : "; " + settable));
}

void Call::emit_named(std::optional<std::vector<TensorType>> outputs) {
    if (!outputs) {
        outputs.emplace();
        for (std::size_t i = 0; i < outputs_.size(); ++i) {
            auto type = type_in_file(i);
            if (!type && wants(i)) refuse_unknown_sizes();
            outputs->push_back(type ? *type : tensor_type(Dtype::u8, {0}));
        }
    }
    Operands operands;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (has(i)) translation_.append_operands(*inputs_[i], operands);
    for (const HeldPointer& held : translation_.captured(node_, frame_)) translation_.append_operands(*held, operands);
    std::vector<Given> given;
    if (!operands.empty()) given.emplace_back("inputs", std::move(operands));
    for (const Attribute& candidate : node_.attributes) {
        const Attribute* found = attribute(candidate.name);
        if (found == nullptr) continue;
        const std::string name = plain_name(candidate.name);
        if (found->integer) given.emplace_back(name, Value(*found->integer));
        if (found->real) given.emplace_back(name, Value(*found->real));
        constexpr std::size_t longest_list = 64;
        if (!found->integers.empty() && found->integers.size() <= longest_list)
            given.emplace_back(name, Value(found->integers));
    }
    const std::string domain = node_.domain.empty() ? "" : node_.domain + ".";
    const auto results = emit_unknown("onnx::" + plain_name(domain + node_.op_type), std::move(given), *outputs);
    for (std::size_t i = 0; i < results.size(); ++i) output(i, results[i]);
}

void Call::output(std::size_t output, const Operand& operand) {
    if (!wants(output)) return;
    outputs_[output]->type = operand.type;
    outputs_[output]->ref = operand.ref;
}

Operand Call::constant(const std::string& name, const TensorType& type) {
    Held held;
    held.name = node_.name + "." + name;
    held.type = type;
    byte_count(type);
    return translation_.operand(held);
}

void Call::store(std::size_t output, const Tensor& tensor) {
    if (!wants(output)) return;
    Held& stored = *outputs_[output];
    stored.type = tensor_type(tensor.dtype, tensor.sizes);
    byte_count(stored.type);
    stored.known = tensor.values;
    stored.is_stored = true;
}

void Call::forward(std::size_t output, std::size_t input) {
    held(input);  // throws where it is missing
    forward(output, inputs_[input]);
}

void Call::forward(std::size_t output, const HeldPointer& value) {
    if (!wants(output)) return;
    Held& to = *outputs_[output];
    to.type = value->type;
    to.known = value->known;
    to.is_stored = value->is_stored;
    to.kind = value->kind;
    to.elements = value->elements;
    to.same = value->same != nullptr ? value->same : value;
}

const std::vector<HeldPointer>& Call::elements(std::size_t input) const {
    const Held& sequence = held(input);
    if (!sequence.elements)
        refuse("what its input number " + std::to_string(input) + " (\"" + sequence.name +
               "\") holds is only known when the network runs");
    return *sequence.elements;
}

void Call::put_elements(std::size_t output, std::vector<HeldPointer> elements) const {
    // Each change copies the sequence.
    translation_.count_steps(elements.size() / 64);
    if (wants(output)) outputs_[output]->elements = std::move(elements);
}

HeldPointer Call::held_of(const Operand& operand) {
    auto held = std::make_shared<Held>();
    held->type = operand.type;
    held->ref = operand.ref;
    return held;
}

void Call::put_numbers(std::size_t output, Constant numbers) {
    if (!wants(output)) return;
    Held& to = *outputs_[output];
    to.type = tensor_type(numbers.dtype, numbers.sizes);
    to.known = std::move(numbers);
}

const ValueInfo* Call::info_in_file(std::size_t output) const {
    if (!wants(output)) return nullptr;
    if (frame_.value_infos != nullptr) {
        const auto found = frame_.value_infos->find(outputs_[output]->name);
        if (found != frame_.value_infos->end() && found->second.shape) return &found->second;
    }
    // What a branch of If declares holds for If.
    const Attribute* branch = node_.op_type == "If" ? node_.find("then_branch") : nullptr;
    const bool declares = branch != nullptr && branch->body != nullptr && output < branch->body->outputs.size();
    return declares ? &branch->body->outputs[output] : nullptr;
}

std::optional<TensorType> Call::type_in_file(std::size_t output) const {
    const ValueInfo* info = info_in_file(output);
    if (info == nullptr) return std::nullopt;
    try {
        return translation_.type_of(*info);
    } catch (const Error& error) {
        // A size that the operator finds out at run time, and the file has a name for.
        refuse("the size of its output \"" + info->name + "\" is not known before the network runs: " + error.what());
    }
}

std::int64_t Call::size_at_run_time(std::size_t output, std::size_t dimension) const {
    if (!wants(output)) return 0;
    const std::string& name = outputs_[output]->name;
    const ValueInfo* info = info_in_file(output);
    if (info != nullptr && info->shape && dimension < info->shape->size())
        if (const auto size = translation_.size_of((*info->shape)[dimension])) return *size;
    const std::string symbol = name + "_dim_" + std::to_string(dimension);
    if (const auto size = translation_.size_at_run_time(symbol)) return *size;
    refuse("dimension " + std::to_string(dimension) + " of its output \"" + name +
           "\" depends on the data. Give it a value, for example --set " + symbol + "=8");
}

}  // namespace joulecast::onnx
