#include "workers/torch/optimizer_step.h"

#include <cmath>
#include <utility>

namespace joulecast::torch_worker {

namespace {

// Defaults of torch.optim.
constexpr double momentum = 0.9;
constexpr double beta1 = 0.9;
constexpr double beta2 = 0.999;
constexpr double epsilon = 1e-8;
constexpr double weight_decay = 0.01;  // AdamW

std::int64_t bytes_of(const at::Tensor& tensor) {
    return tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
}

}  // namespace

OptimizerStep::OptimizerStep(Optimizer kind, std::vector<at::Tensor> parameters, UpdateStyle style,
                             double learning_rate)
    : kind_(kind),
      style_(style),
      learning_rate_(learning_rate),
      parameters_(std::move(parameters)),
      states_(parameters_.size()) {}

std::map<at::ScalarType, OptimizerStep::Batch> OptimizerStep::batches() {
    std::map<at::ScalarType, Batch> result;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const at::Tensor& gradient = parameters_[i].grad();
        if (!gradient.defined()) continue;
        Batch& batch = result[parameters_[i].scalar_type()];
        batch.parameters.push_back(parameters_[i]);
        batch.gradients.push_back(gradient);
        batch.states.push_back(&states_[i]);
        const bool adam = kind_ == Optimizer::adam || kind_ == Optimizer::adamw;
        if (!adam || states_[i].average.defined()) continue;
        states_[i].average = at::zeros_like(parameters_[i]);
        states_[i].square = at::zeros_like(parameters_[i]);
        states_[i].steps = at::zeros({}, at::kFloat);
    }
    return result;
}

void OptimizerStep::step() {
    if (kind_ == Optimizer::none) return;
    const at::NoGradGuard no_grad;
    const bool loop = style_ == UpdateStyle::loop;
    for (const auto& [type, batch] : batches()) {
        if (kind_ == Optimizer::sgd || kind_ == Optimizer::momentum) {
            loop ? sgd_loop(batch) : sgd_foreach(batch);
        } else {
            loop ? adam_loop(batch) : adam_foreach(batch);
        }
    }
}

void OptimizerStep::sgd_loop(const Batch& batch) {
    for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
        at::Tensor update = batch.gradients[i];
        if (kind_ == Optimizer::momentum) {
            at::Tensor& buffer = batch.states[i]->momentum;
            if (!buffer.defined()) {
                buffer = update.detach().clone();
            } else {
                buffer.mul_(momentum).add_(update, 1);
            }
            update = buffer;
        }
        batch.parameters[i].add_(update, -learning_rate_);
    }
}

void OptimizerStep::sgd_foreach(const Batch& batch) {
    if (kind_ == Optimizer::sgd) {
        at::_foreach_add_(batch.parameters, batch.gradients, -learning_rate_);
        return;
    }
    std::vector<at::Tensor> buffers;
    bool have_momentum = true;
    for (const State* state : batch.states) have_momentum = have_momentum && state->momentum.defined();
    if (have_momentum) {
        for (const State* state : batch.states) buffers.push_back(state->momentum);
        at::_foreach_mul_(buffers, momentum);
        at::_foreach_add_(buffers, batch.gradients, 1);
    } else {
        for (std::size_t i = 0; i < batch.states.size(); ++i) {
            at::Tensor& buffer = batch.states[i]->momentum;
            if (!buffer.defined()) {
                buffer = batch.gradients[i].detach().clone();
            } else {
                buffer.mul_(momentum).add_(batch.gradients[i], 1);
            }
            buffers.push_back(buffer);
        }
    }
    at::_foreach_add_(batch.parameters, buffers, -learning_rate_);
}

void OptimizerStep::adam_loop(const Batch& batch) {
    for (std::size_t i = 0; i < batch.parameters.size(); ++i) {
        const at::Tensor& parameter = batch.parameters[i];
        const at::Tensor& gradient = batch.gradients[i];
        State& state = *batch.states[i];
        state.steps.add_(1);
        if (kind_ == Optimizer::adamw) parameter.mul_(1 - learning_rate_ * weight_decay);
        state.average.lerp_(gradient, 1 - beta1);
        state.square.mul_(beta2).addcmul_(gradient, gradient, 1 - beta2);
        const double step = state.steps.item<double>();
        const double step_size = learning_rate_ / (1 - std::pow(beta1, step));
        const double correction = std::sqrt(1 - std::pow(beta2, step));
        const at::Tensor denominator = (state.square.sqrt() / correction).add_(epsilon);
        parameter.addcdiv_(state.average, denominator, -step_size);
    }
}

void OptimizerStep::adam_foreach(const Batch& batch) {
    std::vector<at::Tensor> averages;
    std::vector<at::Tensor> squares;
    std::vector<at::Tensor> steps;
    for (const State* state : batch.states) {
        averages.push_back(state->average);
        squares.push_back(state->square);
        steps.push_back(state->steps);
    }
    at::_foreach_add_(steps, at::scalar_tensor(1.0, at::kFloat), 1.0);
    if (kind_ == Optimizer::adamw) at::_foreach_mul_(batch.parameters, 1 - learning_rate_ * weight_decay);
    at::_foreach_lerp_(averages, batch.gradients, 1 - beta1);
    at::_foreach_mul_(squares, beta2);
    at::_foreach_addcmul_(squares, batch.gradients, batch.gradients, 1 - beta2);
    std::vector<at::Scalar> step_sizes;
    std::vector<at::Scalar> corrections;
    for (const at::Tensor& taken : steps) {
        const double step = taken.item<double>();
        step_sizes.emplace_back(-learning_rate_ / (1 - std::pow(beta1, step)));
        corrections.emplace_back(std::sqrt(1 - std::pow(beta2, step)));
    }
    const std::vector<at::Tensor> roots = at::_foreach_sqrt(squares);
    at::_foreach_div_(roots, corrections);
    at::_foreach_add_(roots, epsilon);
    at::_foreach_addcdiv_(batch.parameters, averages, roots, step_sizes);
}

std::int64_t OptimizerStep::state_bytes() const {
    std::int64_t bytes = 0;
    for (const State& state : states_) {
        bytes += bytes_of(state.momentum) + bytes_of(state.average) + bytes_of(state.square);
    }
    return bytes;
}

}  // namespace joulecast::torch_worker
