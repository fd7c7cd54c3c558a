#include "workers/pretend/network_work.h"

#include <algorithm>

#include "workers/pretend/law.h"
#include "workers/pretend/storages.h"

namespace joulecast::pretend {
namespace {

double bytes_of(const Step& step) {
    double bytes = 0;
    for (const Kernel& kernel : step.kernels) bytes += kernel.bytes_read + kernel.bytes_written;
    return bytes;
}

/// How many bytes ago each storage was touched: from the middle of the step that did so to the middle of the one that
/// reads it, since a step touches its tensors from its beginning to its end. So a tensor wider than the cache is not
/// found there by the next step, either. What nothing has touched yet was so a whole run ago.
class Reuse {
  public:
    Reuse(const Card& card, std::size_t storages, double run_bytes)
        : card_(card), touched_at_(storages, 0.0), now_(run_bytes) {}

    /// Mean over the tensors that the step of a node reads, by their bytes.
    double cached(const Node& node, const Step& step, const Storages& storages) const {
        const double middle = now_ + bytes_of(step) / 2;
        double bytes = 0;
        double held = 0;
        for (const ValueRef input : node.inputs) {
            const std::size_t storage = storages.of(input);
            bytes += storages.bytes(storage);
            held += storages.bytes(storage) * cached_share(card_, middle - touched_at_[storage]);
        }
        return bytes > 0 ? held / bytes : 0.0;
    }

    /// The node's step has run: what it read and made was touched.
    void run(const Node& node, std::size_t at, const Step& step, const Storages& storages) {
        const double middle = now_ + bytes_of(step) / 2;
        for (const ValueRef input : node.inputs) touched_at_[storages.of(input)] = middle;
        for (const std::size_t made : storages.made_by(at)) touched_at_[made] = middle;
        run(step);
    }
    /// Of what a backward step reads, half is what the node read before, half the gradient that the step before has
    /// just written.
    double cached_backward(const Node& node, const Step& step, const Storages& storages) const {
        const double gradient = cached_share(card_, (last_ + bytes_of(step)) / 2);
        return 0.5 * cached(node, step, storages) + 0.5 * gradient;
    }

    /// A backward step has run: what it reads was its own.
    void run(const Step& step) {
        last_ = bytes_of(step);
        now_ += last_;
    }

  private:
    const Card& card_;
    std::vector<double> touched_at_;
    double now_;
    double last_ = 0;  ///< bytes of the step before
};

bool is_known(const Operation& operation) {
    return find_record(operation.target) != nullptr;
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
    double run_bytes = 0;
    for (const Node& node : graph.nodes) {
        forward.push_back(forward_step(node.operation));
        backward.push_back(training ? backward_step(node.operation) : Step{});
        run_bytes += bytes_of(forward.back()) + bytes_of(backward.back());
    }
    Reuse reuse(card, storages.count(), run_bytes);
    for (std::size_t i = 0; i < forward.size(); ++i) {
        const double cached = reuse.cached(graph.nodes[i], forward[i], storages);
        for (Kernel& kernel : forward[i].kernels) kernel.cached = cached;
        reuse.run(graph.nodes[i], i, forward[i], storages);
    }
    Work work = std::move(forward);
    for (std::size_t i = backward.size(); training && i-- > 0;) {
        if (backward[i].kernels.empty()) continue;
        const double cached = reuse.cached_backward(graph.nodes[i], backward[i], storages);
        for (Kernel& kernel : backward[i].kernels) kernel.cached = cached;
        reuse.run(backward[i]);
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
