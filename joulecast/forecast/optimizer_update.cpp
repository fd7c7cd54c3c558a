#include "joulecast/forecast/optimizer_update.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "joulecast/graph/record.h"
#include "joulecast/graph/strides.h"

namespace joulecast {
namespace {

constexpr double learning_rate = 0.001;
constexpr double momentum = 0.9;
constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;

/// Of MultiTensorApply.cuh: a block takes a chunk, a launch so many tensors of each list and so many blocks.
constexpr double chunk_elements = 65536;
constexpr std::int64_t most_blocks = 2240;
constexpr std::int64_t tensors_of_all_lists = 1008;  // 448 of two lists, 336 of three, 252 of four; 770 of one

/// One element-wise call of an update: its target, the tensors it takes beside the first, and a number.
struct Elementwise {
    const char* target;
    std::vector<const char*> others;
    const char* number_name = nullptr;
    double number = 0;
};

Operation call_on(const Elementwise& elementwise, const TensorType& type) {
    Operation operation{elementwise.target, {{"self", type}}};
    for (const char* other : elementwise.others) operation.arguments.push_back({other, type});
    if (elementwise.number_name) operation.arguments.push_back({elementwise.number_name, elementwise.number});
    return canonical(std::move(operation));
}

/// What is called for a parameter or a list of them, first to last. Lists divide in place.
std::vector<Elementwise> update_of(Optimizer optimizer, bool in_lists) {
    const Elementwise subtract{"aten::add_.Tensor", {"other"}, "alpha", -learning_rate};
    if (optimizer == Optimizer::sgd) return {subtract};
    if (optimizer == Optimizer::momentum)
        return {{"aten::mul_.Scalar", {}, "other", momentum}, {"aten::add_.Tensor", {"other"}}, subtract};
    std::vector<Elementwise> steps;
    if (optimizer == Optimizer::adamw) steps.push_back({"aten::mul_.Scalar", {}, "other", 1 - learning_rate * 0.01});
    steps.insert(steps.end(), {{"aten::lerp_.Scalar", {"end"}, "weight", 0.1},
                               {"aten::mul_.Scalar", {}, "other", beta2},
                               {"aten::addcmul_", {"tensor1", "tensor2"}, "value", 1 - beta2},
                               {"aten::sqrt", {}},
                               {in_lists ? "aten::div_.Scalar" : "aten::div.Scalar", {}, "other", std::sqrt(1 - beta2)},
                               {"aten::add_.Scalar", {}, "other", epsilon},
                               {"aten::addcdiv_", {"tensor1", "tensor2"}, "value", -learning_rate}});
    return steps;
}

bool is_adam(Optimizer optimizer) {
    return optimizer == Optimizer::adam || optimizer == Optimizer::adamw;
}

CallKind kind_of(Operation operation) {
    CallKind kind;
    kind.operation = std::move(operation);
    kind.count = 1;
    kind.part = StepPart::update;
    return kind;
}

void append(UpdateCalls& calls, CallKind kind) {
    calls.order.push_back(static_cast<std::uint32_t>(calls.kinds.size()));
    calls.kinds.push_back(std::move(kind));
}

/// Parameters of one type share their kinds of calls.
UpdateCalls loop(std::span<const TensorType> parameters, Optimizer optimizer) {
    UpdateCalls calls;
    const auto each = update_of(optimizer, false);
    std::map<std::tuple<Dtype, Sizes, Strides>, std::vector<std::uint32_t>> places;
    // Adam counts its steps in a tensor on the CPU, whose value it reads: no wait for a device.
    std::vector<std::uint32_t> counting;
    for (const TensorType& parameter : parameters) {
        const auto repeat = [&calls](const std::vector<std::uint32_t>& kinds) {
            for (const std::uint32_t kind : kinds) {
                ++calls.kinds[kind].count;
                calls.order.push_back(kind);
            }
        };
        if (is_adam(optimizer)) {
            repeat(counting);
            if (counting.empty()) {
                append(calls, kind_of(call_on({"aten::add_.Scalar", {}, "other", 1}, {Dtype::f32, {}})));
                counting.push_back(calls.order.back());
            }
        }
        const auto [found, is_new] = places.try_emplace({parameter.dtype, parameter.sizes, parameter.strides});
        repeat(found->second);
        if (!is_new) continue;
        for (const Elementwise& elementwise : each) {
            append(calls, kind_of(call_on(elementwise, parameter)));
            found->second.push_back(calls.order.back());
        }
    }
    return calls;
}

/// "aten::add_.Tensor" -> "aten::_foreach_add_"
std::string foreach_of(const std::string& target) {
    const std::size_t start = std::string("aten::").size();
    return "aten::_foreach_" + target.substr(start, target.find('.') - start);
}

/// Parameters of one type together: what a flat tensor of all their elements is, and how many they are.
struct ParameterList {
    TensorType flat;
    std::int64_t tensors = 0;
    std::int64_t chunks = 0;
};

std::vector<ParameterList> lists_by_type(std::span<const TensorType> parameters) {
    std::map<Dtype, ParameterList> by_type;
    for (const TensorType& parameter : parameters) {
        ParameterList& list = by_type[parameter.dtype];
        const std::int64_t elements = element_count(parameter);
        if (list.tensors == 0) list.flat = {parameter.dtype, {0}};
        list.flat.sizes.front() += elements;
        list.tensors += 1;
        list.chunks += static_cast<std::int64_t>(std::ceil(static_cast<double>(elements) / chunk_elements));
    }
    std::vector<ParameterList> lists;
    for (auto& [type, list] : by_type) lists.push_back(std::move(list));
    return lists;
}

double launches_of(const ParameterList& list, std::int64_t lists) {
    const std::int64_t most_tensors = lists == 1 ? 770 : std::min<std::int64_t>(448, tensors_of_all_lists / lists);
    const auto parts = [](std::int64_t count, std::int64_t most) { return (count + most - 1) / most; };
    return static_cast<double>(
        std::max<std::int64_t>(1, std::max(parts(list.tensors, most_tensors), parts(list.chunks, most_blocks))));
}

UpdateCalls foreach_on_gpu(std::span<const TensorType> parameters, Optimizer optimizer) {
    UpdateCalls calls;
    for (const ParameterList& list : lists_by_type(parameters)) {
        for (const Elementwise& elementwise : update_of(optimizer, true)) {
            CallKind kind = kind_of(call_on(elementwise, list.flat));
            kind.called = foreach_of(kind.operation.target);
            const bool in_new_memory = kind.called.back() != '_';
            kind.launches =
                launches_of(list, static_cast<std::int64_t>(elementwise.others.size()) + (in_new_memory ? 2 : 1));
            append(calls, std::move(kind));
        }
    }
    return calls;
}

/// One pass over parameter, gradient and state. An addition in place moves three values an element: it reads two and
/// writes one. SGD moves as many; with momentum it reads and writes a buffer, too; Adam reads four and writes three.
UpdateCalls fused(std::span<const TensorType> parameters, Optimizer optimizer) {
    UpdateCalls calls;
    for (const ParameterList& list : lists_by_type(parameters)) {
        CallKind kind = kind_of(call_on({"aten::add_.Tensor", {"other"}}, list.flat));
        const bool has_buffer = optimizer == Optimizer::momentum;
        const double moved = is_adam(optimizer) ? 7 : has_buffer ? 5 : 3;
        kind.work = moved / 3;
        kind.called = optimizer == Optimizer::adam    ? "aten::_fused_adam_"
                      : optimizer == Optimizer::adamw ? "aten::_fused_adamw_"
                                                      : "aten::_fused_sgd_";
        kind.launches = launches_of(list, is_adam(optimizer) ? 4 : has_buffer ? 3 : 2);
        append(calls, std::move(kind));
    }
    return calls;
}

}  // namespace

UpdateCalls update_calls(std::span<const TensorType> parameters, const TrainingSetup& training, Device::Kind kind) {
    if (training.optimizer == Optimizer::none) return {};
    const UpdateForm form = training.form.value_or(default_form(kind));
    if (form == UpdateForm::fused) return fused(parameters, training.optimizer);
    if (form == UpdateForm::foreach && kind == Device::Kind::gpu) return foreach_on_gpu(parameters, training.optimizer);
    return loop(parameters, training.optimizer);
}

}  // namespace joulecast
