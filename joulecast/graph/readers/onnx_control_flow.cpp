// If, Loop and Scan, as far as it is known before the network runs which branch is taken and how many turns there are.
#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_translation.h"

namespace joulecast::onnx {

namespace {

/// Turns that are written out; loops with more keep their name.
constexpr std::int64_t most_turns = 4096;

HeldPointer known_value(Constant numbers) {
    auto held = std::make_shared<Held>();
    held->type = tensor_type(numbers.dtype, numbers.sizes);
    held->known = std::move(numbers);
    return held;
}

/// True when the body hands the condition on that it is given, or says a constant.
bool keeps_condition(const Body& body) {
    if (body.outputs.empty() || body.inputs.size() < 2) return false;
    std::string name = body.outputs[0].name;
    constexpr int longest_chain = 8;
    for (int i = 0; i < longest_chain; ++i) {
        if (name == body.inputs[1].name) return true;
        for (const Tensor& tensor : body.initializers)
            if (tensor.name == name) return true;
        const Node* maker = nullptr;
        for (const Node& node : body.nodes)
            for (const std::string& output : node.outputs)
                if (output == name) maker = &node;
        if (maker == nullptr || !maker->domain.empty()) return false;
        if (maker->op_type == "Constant") return true;
        if ((maker->op_type != "Identity" && maker->op_type != "Cast") || maker->inputs.empty()) return false;
        name = maker->inputs[0];
    }
    return false;
}

const Body* body_of(const Call& call) {
    const Attribute* body = call.attribute("body");
    return body == nullptr ? nullptr : body->body.get();
}

}  // namespace

Frame& Translation::inner_frame(const Body& body, Frame& frame) {
    Frame& inner = frames_.emplace_back();
    inner.parent = &frame;
    inner.opsets = frame.opsets;
    inner.value_infos = &body.value_infos;
    inner.caller = frame.caller;
    add_initializers(body, inner);
    return inner;
}

HeldPointer Translation::output_of(const Body& body, std::size_t output, Frame& inner) {
    if (output >= body.outputs.size()) throw FormatError("the branch or body has fewer outputs");
    HeldPointer held = find(body.outputs[output].name, &inner);
    if (held == nullptr)
        throw FormatError("the branch or body does not make its output \"" + body.outputs[output].name + "\"");
    return held;
}

bool Translation::run_branch(const Node& node, Frame& frame) {
    const std::vector<HeldPointer> inputs = inputs_of(node, frame);
    const Call call(*this, node, frame, inputs, {});
    const auto condition = call.scalar(0);
    if (!condition) return false;
    const Attribute* branch = call.attribute(*condition != 0 ? "then_branch" : "else_branch");
    if (branch == nullptr || branch->body == nullptr) throw FormatError("it has no branch for its condition");
    Frame& inner = inner_frame(*branch->body, frame);
    run(branch->body->nodes, inner);
    for (std::size_t i = 0; i < node.outputs.size(); ++i)
        if (!node.outputs[i].empty()) frame.values[node.outputs[i]] = output_of(*branch->body, i, inner);
    return true;
}

HeldPointer Translation::stacked(const Node& node, Frame& frame, const std::vector<HeldPointer>& turns,
                                 std::int64_t axis) {
    Operands parts;
    for (const HeldPointer& turn : turns) parts.emplace_back(operand(*turn));
    return Call::held_of(emit(node, frame, "aten::stack", {{"tensors", parts}, {"dim", Value(axis)}}, nullptr).at(0));
}

/// Inputs: most turns, condition, carried values. Outputs: those, then what every turn adds to.
bool Translation::run_loop(const Node& node, Frame& frame) {
    const std::vector<HeldPointer> inputs = inputs_of(node, frame);
    const Call call(*this, node, frame, inputs, {});
    const Body* body = body_of(call);
    const auto turns = call.scalar(0);
    if (body == nullptr || inputs.size() < 2 || !turns || !(*turns >= 0.0 && *turns <= most_turns)) return false;
    const std::size_t carried = inputs.size() - 2;
    if (body->inputs.size() != carried + 2 || body->outputs.size() < carried + 1) return false;
    const auto condition = call.scalar(1);
    if ((call.has(1) && !condition) || !keeps_condition(*body)) return false;
    const std::size_t added = body->outputs.size() - 1 - carried;
    // Without a turn there is nothing to tell the sizes of what turns add.
    if (added > 0 && (*turns < 1.0 || condition.value_or(1.0) == 0.0)) return false;

    std::vector<HeldPointer> state(inputs.begin() + 2, inputs.end());
    HeldPointer goes_on = known_value({Dtype::boolean, {}, {condition.value_or(1.0) != 0.0 ? 1 : 0}, {}});
    std::vector<std::vector<HeldPointer>> results(added);
    for (std::int64_t turn = 0; turn < static_cast<std::int64_t>(*turns); ++turn) {
        if (goes_on->known && goes_on->known->count() == 1 && goes_on->known->number(0) == 0.0) break;
        count_steps(1 + body->outputs.size() / 64);
        Frame& inner = inner_frame(*body, frame);
        inner.values[body->inputs[0].name] = known_value({Dtype::i64, {}, {turn}, {}});
        inner.values[body->inputs[1].name] = goes_on;
        for (std::size_t i = 0; i < carried; ++i) inner.values[body->inputs[i + 2].name] = state[i];
        run(body->nodes, inner);
        goes_on = output_of(*body, 0, inner);
        for (std::size_t i = 0; i < carried; ++i) state[i] = output_of(*body, i + 1, inner);
        for (std::size_t i = 0; i < added; ++i) results[i].push_back(output_of(*body, carried + 1 + i, inner));
    }
    for (const auto& parts : results) state.push_back(stacked(node, frame, parts, 0));
    for (std::size_t i = 0; i < node.outputs.size() && i < state.size(); ++i)
        if (!node.outputs[i].empty()) frame.values[node.outputs[i]] = state[i];
    return true;
}

/// Carried values, then what each turn sees a slice of; the set before 9 had batches in front, and keeps its name.
bool Translation::run_scan(const Node& node, Frame& frame) {
    const std::vector<HeldPointer> inputs = inputs_of(node, frame);
    const Call call(*this, node, frame, inputs, {});
    const Body* body = body_of(call);
    const std::int64_t scanned = call.integer("num_scan_inputs", 0);
    if (body == nullptr || call.opset() < 9 || scanned < 1 || scanned > std::ssize(inputs)) return false;
    const std::size_t carried = inputs.size() - static_cast<std::size_t>(scanned);
    if (body->inputs.size() != inputs.size() || body->outputs.size() < carried) return false;
    const std::size_t added = body->outputs.size() - carried;
    const auto list = [&](const char* name, std::size_t count) {
        const Sizes given = call.list(name, Sizes(count, 0));
        if (given.size() != count) throw FormatError(std::string(name) + " does not fit its inputs or outputs");
        return given;
    };
    const Sizes axes = list("scan_input_axes", static_cast<std::size_t>(scanned));
    const Sizes output_axes = list("scan_output_axes", added);
    const Sizes directions = list("scan_input_directions", static_cast<std::size_t>(scanned));
    const std::int64_t first = call.axis(axes[0], call.rank(carried));
    const std::int64_t turns = call.type(carried).sizes[static_cast<std::size_t>(first)];
    if (turns < 1 || turns > most_turns) return false;

    std::vector<HeldPointer> state(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(carried));
    std::vector<std::vector<HeldPointer>> results(added);
    for (std::int64_t turn = 0; turn < turns; ++turn) {
        count_steps(1 + (body->inputs.size() + body->outputs.size()) / 64);
        Frame& inner = inner_frame(*body, frame);
        for (std::size_t i = 0; i < carried; ++i) inner.values[body->inputs[i].name] = state[i];
        for (std::size_t i = 0; i < axes.size(); ++i) {
            const std::int64_t axis = call.axis(axes[i], call.rank(carried + i));
            const std::int64_t place = directions[i] != 0 ? turns - 1 - turn : turn;
            const auto slice =
                emit(node, frame, "aten::select.int",
                     {{"self", operand(*inputs[carried + i])}, {"dim", Value(axis)}, {"index", Value(place)}}, nullptr);
            inner.values[body->inputs[carried + i].name] = Call::held_of(slice.at(0));
        }
        run(body->nodes, inner);
        for (std::size_t i = 0; i < carried; ++i) state[i] = output_of(*body, i, inner);
        for (std::size_t i = 0; i < added; ++i) results[i].push_back(output_of(*body, carried + i, inner));
    }
    for (std::size_t i = 0; i < added; ++i) state.push_back(stacked(node, frame, results[i], output_axes[i]));
    for (std::size_t i = 0; i < node.outputs.size() && i < state.size(); ++i)
        if (!node.outputs[i].empty()) frame.values[node.outputs[i]] = state[i];
    return true;
}

}  // namespace joulecast::onnx
