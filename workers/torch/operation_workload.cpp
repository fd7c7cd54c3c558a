#include "workers/torch/operation_workload.h"

#include <algorithm>
#include <utility>

#include <c10/core/InferenceMode.h>
#include <torch/csrc/autograd/autograd.h>

namespace joulecast::torch_worker {

namespace {

constexpr std::int64_t largest_group = 16;
/// Beyond this many bytes per group the engine's start no longer shows, and results kept would leave the cache.
constexpr std::int64_t group_bytes = std::int64_t{16} << 20;
/// Calls on the same written-to tensors before they get their first contents back: x * sigmoid(x) applied 150 times
/// ends in denormals, which take many times as long.
constexpr std::int64_t calls_per_restore = 8;

std::int64_t bytes_of(const std::vector<at::Tensor>& tensors) {
    std::int64_t bytes = 0;
    for (const auto& tensor : tensors) bytes += tensor.defined() ? static_cast<std::int64_t>(tensor.nbytes()) : 0;
    return bytes;
}

/// What is made for each of tensors(operation): in inference weights and biases are parameters.
std::vector<TensorType> made_types(const Operation& operation) {
    const bool is_inference = mode(operation) == Mode::inference;
    const TensorType* weight = find_tensor(operation, "weight");
    const TensorType* bias = find_tensor(operation, "bias");
    std::vector<TensorType> types;
    for (const TensorType* type : tensors(operation)) {
        const bool is_parameter = is_inference && (type == weight || type == bias);
        types.push_back(is_parameter ? as_parameter(*type) : *type);
    }
    return types;
}

}  // namespace

OperationSets::OperationSets(const Operation& operation, std::int64_t rotation, TensorMaker& maker)
    : call_(operation, maker.place()) {
    const auto types = made_types(operation);
    const auto filling = contents(operation);
    for (std::int64_t set = 0; set < rotation; ++set) {
        auto& made = sets_.emplace_back();
        for (std::size_t i = 0; i < types.size(); ++i) made.push_back(maker.make(types[i], filling[i]));
    }
    const at::NoGradGuard no_grad;
    for (std::size_t i = 0; i < types.size(); ++i) {
        const bool written = call_.mutated()[i];
        pristine_.push_back(written ? sets_[0][i].detach().clone() : at::Tensor());
        mutates_ = mutates_ || written;
    }
}

void OperationSets::restore(std::size_t set) const {
    for (std::size_t i = 0; i < pristine_.size(); ++i) {
        if (pristine_[i].defined()) sets_[set][i].detach().copy_(pristine_[i]);
    }
}

std::vector<at::Tensor> OperationSets::writable_copy(std::size_t set) const {
    const at::AutoGradMode grad(true);
    std::vector<at::Tensor> copy = sets_[set];
    for (std::size_t i = 0; i < pristine_.size(); ++i) {
        if (pristine_[i].defined()) copy[i] = copy[i].clone();
    }
    return copy;
}

InferenceWorkload::InferenceWorkload(const OperationSets& sets) : sets_(sets) {
    for (const auto& set : sets.sets()) stacks_.push_back(sets.call().stack(set));
}

void InferenceWorkload::run(std::int64_t calls, bool hot) {
    const c10::InferenceMode inference;
    for (std::int64_t i = 0; i < calls; ++i) {
        Stack stack = stacks_[hot ? 0 : next_];
        sets_.call().issue(stack);
        if (!hot && ++next_ == stacks_.size()) next_ = 0;
    }
}

void InferenceWorkload::prepare(std::int64_t calls, bool hot) {
    if (!sets_.mutates()) return;
    const at::NoGradGuard no_grad;
    // In the order of their next use: with a working set beyond the cache, the first of them are out of it again.
    const std::size_t count = hot ? 1 : std::min(stacks_.size(), static_cast<std::size_t>(calls));
    for (std::size_t i = 0; i < count; ++i) sets_.restore(hot ? 0 : (next_ + i) % stacks_.size());
}

std::int64_t InferenceWorkload::longest_run(bool hot) const {
    if (!sets_.mutates()) return Workload::longest_run(hot);
    return calls_per_restore * (hot ? 1 : rotation());
}

TrainingWorkload::TrainingWorkload(const OperationSets& sets, bool backward, TensorMaker& maker)
    : sets_(sets), backward_(backward) {
    const std::int64_t bytes = std::max<std::int64_t>(1, bytes_of(sets.sets()[0]));
    group_ = std::clamp<std::int64_t>(group_bytes / bytes, 1, std::min(largest_group, rotation()));
    keep_bytes_ = bytes * rotation();
    if (!sets_.mutates()) {
        for (std::size_t set = 0; set < sets.sets().size(); ++set) rotating_.push_back(ready(set, sets.sets()[set]));
        for (std::int64_t i = 0; i < group_; ++i) {
            std::vector<at::Tensor> aliases;
            for (const auto& tensor : sets.sets()[0]) {
                aliases.push_back(tensor.detach().requires_grad_(tensor.requires_grad()));
            }
            hot_.push_back(ready(0, aliases));
        }
    }
    if (backward_) probe(maker);
    fill_kept();
}

TrainingWorkload::Ready TrainingWorkload::ready(std::size_t set, const std::vector<at::Tensor>& given) const {
    Ready result{sets_.call().stack(given), {}};
    const bool aliases = !sets_.mutates();
    const auto& leaves = aliases ? given : sets_.sets()[set];
    for (const auto& tensor : leaves) {
        if (tensor.requires_grad()) result.marked.push_back(tensor);
    }
    return result;
}

/// One call to learn which results carry a gradient, and to make the gradients that will enter there.
void TrainingWorkload::probe(TensorMaker& maker) {
    const at::AutoGradMode grad(true);
    Ready first = ready(0, sets_.writable_copy(0));
    sets_.call().issue(first.stack);
    std::vector<at::Tensor> results;
    flatten(first.stack, results);
    for (std::size_t i = 0; i < results.size(); ++i) {
        if (!results[i].defined() || !results[i].requires_grad()) continue;
        gradient_of_.push_back(i);
        gradients_.push_back(maker.normal_like(results[i]));
    }
}

void TrainingWorkload::keep(std::vector<at::Tensor> results) {
    const std::int64_t bytes = bytes_of(results);
    // Sets fill three times the cache together: results of a third of that leave it by themselves, and to keep them
    // would only fetch more memory from the system, in the middle of the timing.
    if (3 * bytes >= keep_bytes_) return;
    kept_bytes_ += bytes;
    kept_.push_back(std::move(results));
    while (kept_bytes_ > keep_bytes_ && kept_.size() > 1) {
        kept_bytes_ -= bytes_of(kept_.front());
        kept_.pop_front();
    }
}

/// As many kept results as there will ever be, before anything is timed: else each of the first calls takes fresh
/// memory, whose pages the system has to hand out first (a batch norm of 4 ms then takes 33).
void TrainingWorkload::fill_kept() {
    TrainingWorkload::prepare(group_, false);
    TrainingWorkload::run(group_, false);
    copies_.clear();
    if (kept_.empty()) return;
    const std::vector<at::Tensor> like = kept_.back();
    const at::NoGradGuard no_grad;
    // One more than will be kept: a group makes its results before the oldest ones go.
    for (bool is_full = false; !is_full;) {
        is_full = kept_bytes_ + bytes_of(like) > keep_bytes_;
        std::vector<at::Tensor> results;
        for (const auto& tensor : like) results.push_back(tensor.defined() ? at::zeros_like(tensor) : tensor);
        keep(std::move(results));
    }
}

void TrainingWorkload::run_group(const std::vector<Ready>& from, std::size_t first, std::int64_t size, bool hot) {
    std::vector<at::Tensor> outputs;
    std::vector<at::Tensor> inputs;
    std::vector<at::Tensor> gradients;
    std::vector<at::Tensor> results;
    for (std::int64_t i = 0; i < size; ++i) {
        const Ready& call = from[(first + static_cast<std::size_t>(i)) % from.size()];
        Stack stack = call.stack;
        sets_.call().issue(stack);
        results.clear();
        flatten(stack, results);
        if (!backward_ || gradients_.empty()) {
            if (!hot) keep(results);
            continue;
        }
        for (std::size_t k = 0; k < gradient_of_.size(); ++k) {
            outputs.push_back(results[gradient_of_[k]]);
            gradients.push_back(gradients_[k]);
        }
        inputs.insert(inputs.end(), call.marked.begin(), call.marked.end());
    }
    if (outputs.empty()) return;
    results = torch::autograd::grad(outputs, inputs, gradients, std::nullopt, false, true);
    if (hot) return;
    results.insert(results.end(), outputs.begin(), outputs.end());
    // What was detached first holds no graph: only memory is kept.
    for (auto& result : results) result = result.defined() ? result.detach() : result;
    keep(std::move(results));
}

void TrainingWorkload::run(std::int64_t calls, bool hot) {
    const at::AutoGradMode grad(true);
    const auto& from = sets_.mutates() ? copies_ : hot ? hot_ : rotating_;
    const std::size_t start = sets_.mutates() || hot ? 0 : next_;
    for (std::int64_t done = 0; done < calls; done += group_) {
        run_group(from, start + static_cast<std::size_t>(done), std::min(group_, calls - done), hot);
    }
    if (!hot) next_ = (next_ + static_cast<std::size_t>(calls)) % static_cast<std::size_t>(rotation());
}

void TrainingWorkload::prepare(std::int64_t calls, bool hot) {
    if (!sets_.mutates()) return;
    copies_.clear();
    for (std::int64_t i = 0; i < calls; ++i) {
        const std::size_t set = hot ? 0 : (next_ + static_cast<std::size_t>(i)) % static_cast<std::size_t>(rotation());
        copies_.push_back(ready(set, sets_.writable_copy(set)));
    }
}

std::int64_t TrainingWorkload::longest_run(bool hot) const {
    if (!sets_.mutates()) return Workload::longest_run(hot);
    // Few enough copies that malloc keeps their memory instead of giving it back and fetching zeroed pages again.
    const std::int64_t bytes = std::max<std::int64_t>(1, bytes_of(sets_.sets()[0]));
    return hot ? group_ : std::clamp<std::int64_t>(group_bytes / bytes, 1, rotation());
}

}  // namespace joulecast::torch_worker
