#include "joulecast/model/fusion_groups.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/family.h"

namespace joulecast {
namespace {

bool is_arithmetic_on_sizes(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record != nullptr && record->family == Family::symbolic;
}

/// Sets of nodes, each known by its first one.
class Sets {
  public:
    explicit Sets(std::size_t nodes) : first_(nodes) { std::iota(first_.begin(), first_.end(), 0); }

    std::int32_t of(std::int32_t node) {
        // Halves the way, so that none stays long.
        while (at(node) != node) node = at(node) = at(at(node));
        return node;
    }
    void join(std::int32_t a, std::int32_t b) {
        const auto [low, high] = std::minmax({of(a), of(b)});
        first_[static_cast<std::size_t>(high)] = low;
    }

  private:
    std::int32_t& at(std::int32_t node) { return first_[static_cast<std::size_t>(node)]; }
    std::vector<std::int32_t> first_;
};

/// What keys are made of.
struct NodeFacts {
    std::string name;
    std::string readers;  ///< names of the calls that read a result, "conv2d+relu"
    bool is_arithmetic = false;
    bool is_constant = true;  ///< depends on no input of the network
    bool is_same = false;     ///< hands on a tensor of the type of its first
    bool is_unary = false;    ///< an element-wise call of one tensor
    std::size_t rank = 0;
};

class Grouping {
  public:
    Grouping(const Graph& graph, const FusionAnswer& answer)
        : graph_(graph),
          answer_(answer),
          facts_(graph.nodes.size()),
          sets_(graph.nodes.size()),
          texts_(graph.nodes.size()),
          runs_(graph.nodes.size(), true),
          handed_on_(graph.nodes.size()) {
        count_readers();
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) look_at(i);
    }

    FusionGroups groups() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) place(i);
        FusionGroups found;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            found.push_back(runs_[i] ? sets_.of(static_cast<std::int32_t>(i)) : not_run);
        return found;
    }

  private:
    using Value = std::pair<std::int32_t, std::int32_t>;

    void count_readers() {
        std::vector<std::set<std::string>> names(graph_.nodes.size());
        for (const Node& node : graph_.nodes) {
            if (is_arithmetic_on_sizes(node.operation)) continue;
            for (const ValueRef& input : node.inputs) {
                ++readers_[{input.node, input.output}];
                if (input.node >= 0) names[static_cast<std::size_t>(input.node)].insert(plain_name(node.operation));
            }
        }
        for (const ValueRef& output : graph_.outputs) ++readers_[{output.node, output.output}];
        for (std::size_t i = 0; i < names.size(); ++i) {
            for (const std::string& name : names[i]) facts_[i].readers += (facts_[i].readers.empty() ? "" : "+") + name;
        }
    }

    bool is_constant(const ValueRef& value) const {
        if (value.node >= 0) return facts_[static_cast<std::size_t>(value.node)].is_constant;
        return graph_.inputs[static_cast<std::size_t>(value.output)].kind != GraphInput::Kind::user_input;
    }

    void look_at(std::size_t i) {
        const Node& node = graph_.nodes[i];
        NodeFacts& facts = facts_[i];
        facts.name = plain_name(node.operation);
        facts.is_arithmetic = is_arithmetic_on_sizes(node.operation);
        facts.is_constant = std::ranges::all_of(node.inputs, [this](const ValueRef& v) { return is_constant(v); });
        facts.is_unary = node.inputs.size() == 1 && family(node.operation) == Family::elementwise;
        if (node.outputs.empty()) return;
        facts.rank = node.outputs.front().sizes.size();
        if (node.inputs.empty() || node.outputs.size() > 1) return;
        const TensorType& from = type_of(graph_, node.inputs.front());
        facts.is_same = from.dtype == node.outputs.front().dtype && from.sizes == node.outputs.front().sizes;
    }

    /// What a call reads, beyond calls that are not run: those hand their first tensor on. Node -1: an input of the
    /// network.
    ValueRef source(const ValueRef& value) const {
        if (value.node < 0 || runs_[static_cast<std::size_t>(value.node)]) return value;
        return handed_on_[static_cast<std::size_t>(value.node)];
    }

    std::vector<std::string> keys_of_running(std::size_t i) const {
        const NodeFacts& facts = facts_[i];
        const std::string kind =
            "absent|" + facts.name + (facts.is_constant ? "|constant" : "|runs") + (facts.is_same ? "=" : "");
        std::string made = "input";
        for (const ValueRef& input : graph_.nodes[i].inputs) {
            if (input.node < 0) continue;
            made = facts_[static_cast<std::size_t>(input.node)].name;
            break;
        }
        return {kind + "|" + made + "|" + facts.readers, kind + "|>" + facts.readers, kind + "|" + made + ">", kind};
    }

    std::vector<std::string> keys_of_joining(std::size_t i, std::size_t place, const ValueRef& from, bool has_joined) {
        const Node& node = graph_.nodes[i];
        const auto producer = static_cast<std::size_t>(from.node);
        const auto computed = std::ranges::count_if(node.inputs, [](const ValueRef& v) { return v.node >= 0; });
        const auto reads = readers_.find({from.node, from.output});
        const std::string tensors = ":" + std::to_string(graph_.nodes[producer].inputs.size());
        const std::string group = "join|" + texts_[static_cast<std::size_t>(sets_.of(from.node))] + tensors + "|";
        const std::string last = "join|..." + facts_[producer].name + tensors + "|";
        const std::string how = std::string(reads != readers_.end() && reads->second > 1 ? "|many" : "|one") +
                                (has_joined ? "|joined" : "|first");
        const std::string which =
            "|" + std::to_string(place) + "|" + std::to_string(computed) + "|" + std::to_string(facts_[producer].rank);
        const std::string& name = facts_[i].name;
        std::vector<std::string> keys{group + name + how + which + "|" + facts_[i].readers, group + name + how + which,
                                      last + name + how + which};
        if (facts_[i].is_unary)
            for (const std::string& before : {group, last}) keys.push_back(before + "<unary>" + how);
        return keys;
    }

    void place(std::size_t i) {
        const auto node = static_cast<std::int32_t>(i);
        if (facts_[i].is_arithmetic || answer_({node, -1, keys_of_running(i), facts_[i].is_constant})) {
            runs_[i] = false;
            const std::vector<ValueRef>& read = graph_.nodes[i].inputs;
            if (!read.empty()) handed_on_[i] = source(read.front());
            return;
        }
        texts_[i] = facts_[i].name;
        bool has_joined = false;
        const std::vector<ValueRef>& inputs = graph_.nodes[i].inputs;
        for (std::size_t k = 0; k < inputs.size(); ++k) {
            const ValueRef from = source(inputs[k]);
            if (from.node < 0) continue;
            const bool joins = answer_({node, from.node, keys_of_joining(i, k, from, has_joined), false});
            if (joins && sets_.of(from.node) != sets_.of(node)) join(from.node, node);
            has_joined = has_joined || joins;
        }
    }

    void join(std::int32_t producer, std::int32_t node) {
        const std::string text = texts_[static_cast<std::size_t>(sets_.of(producer))] + "+" +
                                 texts_[static_cast<std::size_t>(sets_.of(node))];
        sets_.join(producer, node);
        // A text without bound would make keys of no use.
        constexpr std::size_t longest = 200;
        texts_[static_cast<std::size_t>(sets_.of(node))] = text.substr(0, longest);
    }

    const Graph& graph_;
    const FusionAnswer& answer_;
    std::vector<NodeFacts> facts_;
    std::map<Value, int> readers_;
    Sets sets_;
    std::vector<std::string> texts_;  ///< of a set, by its first node: "conv2d+batch_norm"
    std::vector<bool> runs_;
    std::vector<ValueRef> handed_on_;  ///< by calls that are not run
};

}  // namespace

std::string plain_name(const Operation& operation) {
    std::string_view name = operation.target;
    if (const auto colons = name.find("::"); colons != std::string_view::npos) name.remove_prefix(colons + 2);
    name = name.substr(0, name.find('.'));
    while (name.ends_with('_')) name.remove_suffix(1);
    return std::string(name);
}

FusionGroups fusion_groups(const Graph& graph, const FusionAnswer& answer) {
    return Grouping(graph, answer).groups();
}

FusionGroups fusion_groups(const Graph& graph, const FusionModel& fusion) {
    return fusion_groups(
        graph, [&fusion](const FusionQuestion& asked) { return answer_of(fusion, asked.keys, asked.otherwise); });
}

FusionGroups groups_of_kernels(const Graph& graph, std::span<const NetworkKernel> kernels) {
    Sets sets(graph.nodes.size());
    std::vector<bool> runs(graph.nodes.size());
    for (const NetworkKernel& kernel : kernels) {
        for (const std::int32_t node : kernel.operations) {
            if (node < 0 || static_cast<std::size_t>(node) >= graph.nodes.size())
                throw FormatError("a kernel of " + graph.name + " does node " + std::to_string(node) +
                                  ", which it lacks");
            runs[static_cast<std::size_t>(node)] = true;
            sets.join(kernel.operations.front(), node);
        }
    }
    FusionGroups groups;
    for (std::size_t i = 0; i < runs.size(); ++i)
        groups.push_back(runs[i] ? sets.of(static_cast<std::int32_t>(i)) : not_run);
    return groups;
}

GroupsAgreement agreement(const Graph& graph, const FusionGroups& told, const FusionGroups& measured) {
    // A group is known by its first node, so equal sets have equal groups; what differs is found on both sides.
    std::map<std::int32_t, std::vector<std::size_t>> members_told, members_measured;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        members_told[told[i]].push_back(i);
        members_measured[measured[i]].push_back(i);
    }
    GroupsAgreement found;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        if (is_arithmetic_on_sizes(graph.nodes[i].operation)) continue;
        ++found.nodes;
        const bool both_idle = told[i] == not_run && measured[i] == not_run;
        const bool both_run = told[i] != not_run && measured[i] != not_run;
        if (both_idle || (both_run && members_told[told[i]] == members_measured[measured[i]])) ++found.right;
    }
    return found;
}

}  // namespace joulecast
