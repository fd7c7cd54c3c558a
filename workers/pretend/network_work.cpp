#include "workers/pretend/network_work.h"

#include <algorithm>

#include "workers/pretend/law.h"
#include "workers/pretend/storages.h"

namespace joulecast::pretend {
namespace {

/// How many bytes ago each storage was touched. What nothing has touched yet was so a whole step ago.
class Reuse {
  public:
    Reuse(const Card& card, std::size_t storages, double step_bytes)
        : card_(card), touched_at_(storages, 0.0), now_(step_bytes) {}

    /// Mean over the node's tensors, by their bytes.
    double cached(const Node& node, const Storages& storages) const {
        double bytes = 0;
        double held = 0;
        for (const ValueRef input : node.inputs) {
            const std::size_t storage = storages.of(input);
            bytes += storages.bytes(storage);
            held += storages.bytes(storage) * cached_share(card_, now_ - touched_at_[storage]);
        }
        return bytes > 0 ? held / bytes : 0.0;
    }

    void touch(const Step& step) {
        for (const Kernel& kernel : step.kernels) now_ += kernel.bytes_read + kernel.bytes_written;
    }
    void touch(const Node& node, std::size_t at, const Storages& storages) {
        for (const ValueRef input : node.inputs) touched_at_[storages.of(input)] = now_;
        for (const std::size_t made : storages.made_by(at)) touched_at_[made] = now_;
    }

  private:
    const Card& card_;
    std::vector<double> touched_at_;
    double now_;
};

double bytes_of(const Step& step) {
    double bytes = 0;
    for (const Kernel& kernel : step.kernels) bytes += kernel.bytes_read + kernel.bytes_written;
    return bytes;
}

bool is_known(const Operation& operation) {
    return find_record(operation.target) != nullptr;
}

/// A gradient that has just been written is half of what a backward kernel reads.
double cached_in_backward(const Card& card, const Kernel& kernel, double saved) {
    return 0.5 * saved + 0.5 * cached_share(card, 0.5 * kernel.bytes_read);
}

}  // namespace

Update update_of(Optimizer optimizer) {
    switch (optimizer) {
        case Optimizer::sgd:
            return {1, 0};
        case Optimizer::momentum:
            return {2, 1};
        case Optimizer::adam:
            return {9, 2};
        case Optimizer::adamw:
            return {10, 2};
        case Optimizer::none:
            break;
    }
    return {};
}

Work work_of(const Card& card, const Graph& graph, Optimizer optimizer, bool whole) {
    const bool training = graph.mode == Mode::training && whole;
    const Storages storages(graph);
    Work forward, backward;
    double step_bytes = 0;
    for (const Node& node : graph.nodes) {
        forward.push_back(forward_step(node.operation));
        backward.push_back(training ? backward_step(node.operation) : Step{});
        step_bytes += bytes_of(forward.back()) + bytes_of(backward.back());
    }
    Reuse reuse(card, storages.count(), step_bytes);
    for (std::size_t i = 0; i < forward.size(); ++i) {
        const double cached = reuse.cached(graph.nodes[i], storages);
        for (Kernel& kernel : forward[i].kernels) kernel.cached = cached;
        reuse.touch(forward[i]);
        reuse.touch(graph.nodes[i], i, storages);
    }
    Work work = std::move(forward);
    for (std::size_t i = backward.size(); training && i-- > 0;) {
        if (backward[i].kernels.empty()) continue;
        const double saved = reuse.cached(graph.nodes[i], storages);
        for (Kernel& kernel : backward[i].kernels) kernel.cached = cached_in_backward(card, kernel, saved);
        reuse.touch(backward[i]);
        work.push_back(std::move(backward[i]));
    }
    const Update update = update_of(optimizer);
    if (training && update.passes > 0) work.push_back(update_step(trained_bytes(graph), update.passes));
    return work;
}

std::string why_unsupported(const Card& card, const Graph& graph) {
    const auto lacking = [&](const TensorType& type) { return !card.has(type.dtype); };
    const auto refusal = [&](const TensorType& type) {
        return card.sheet.id + " does not compute in " + std::string(name(type.dtype));
    };
    for (const GraphInput& input : graph.inputs) {
        if (lacking(input.type)) return refusal(input.type);
    }
    for (const Node& node : graph.nodes) {
        for (const TensorType* type : tensors(node.operation)) {
            if (lacking(*type)) return refusal(*type);
        }
        const bool shown = is_known(node.operation) || !node.operation.target.starts_with("aten::");
        if (!shown) return why_unsupported(node.operation);
        if (!is_known(node.operation)) continue;
        const std::string why = why_unsupported(node.operation);
        if (!why.empty()) return why;
    }
    return "";
}

}  // namespace joulecast::pretend
