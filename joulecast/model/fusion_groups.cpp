#include "joulecast/model/fusion_groups.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/model/fusion_calls.h"

namespace joulecast {
namespace {

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

// Kinds of groups, by the call that engines fuse least.
constexpr std::string_view pointwise_group = "point";

class Grouping {
  public:
    Grouping(const Graph& graph, const FusionAnswer& answer)
        : graph_(graph),
          answer_(answer),
          calls_(fusion_calls(graph)),
          reads_(read_counts(graph)),
          sets_(graph.nodes.size()),
          groups_(graph.nodes.size()),
          runs_(graph.nodes.size(), true),
          handed_on_(graph.nodes.size()) {}

    FusionGroups groups() {
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) place(i);
        FusionGroups found;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            found.push_back(runs_[i] ? sets_.of(static_cast<std::int32_t>(i)) : not_run);
        return found;
    }

  private:
    /// Known by its first node.
    struct Group {
        std::string text;       ///< "conv2d+batch_norm"
        std::string_view kind;  ///< pointwise_group, or the kind of its first call that is not pointwise
    };
    /// A value that a call reads, beyond calls that are not run.
    struct Source {
        ValueRef value;
        std::size_t place = 0;    ///< among the tensors of the call that reads
        bool has_joined = false;  ///< that call, a group already
    };

    Group& group_of(std::int32_t node) { return groups_[static_cast<std::size_t>(sets_.of(node))]; }
    const FusionCall& call(std::int32_t node) const { return calls_[static_cast<std::size_t>(node)]; }

    /// What a call reads, beyond calls that are not run: those hand their first tensor on. Node -1: an input of the
    /// network.
    ValueRef source(const ValueRef& value) const {
        if (value.node < 0 || runs_[static_cast<std::size_t>(value.node)]) return value;
        return handed_on_[static_cast<std::size_t>(value.node)];
    }

    std::vector<std::string> keys_of_running(std::size_t i) const {
        const FusionCall& asked = calls_[i];
        const std::string when = asked.is_constant ? "|constant" : "|runs";
        const std::string kind =
            "absent|" + asked.name + (asked.moved == Moved::kept ? ":kept" : "") + when + (asked.is_same ? "=" : "");
        std::string made = "input";
        for (const ValueRef& input : graph_.nodes[i].inputs) {
            if (input.node < 0) continue;
            made = call(input.node).name;
            break;
        }
        std::vector<std::string> keys{kind + "|" + made + "|" + asked.readers, kind + "|>" + asked.readers,
                                      kind + "|" + made + ">", kind};
        if (asked.moved == Moved::no) return keys;
        keys.push_back("~absent|<" + std::string(name(asked.family)) + ":" + std::string(name_of(asked.moved)) + ">" +
                       when);
        if (asked.moved == Moved::same) keys.push_back("~absent|<same>" + when);
        return keys;
    }

    /// Whether it is another number of elements than its call made: calls between that are not run took or added some.
    bool is_part(std::size_t i, const Source& from) const {
        const ValueRef& read = graph_.nodes[i].inputs[from.place];
        return !(read == from.value) &&
               element_count(type_of(graph_, read)) != element_count(type_of(graph_, from.value));
    }

    std::vector<std::string> keys_of_joining(std::size_t i, const Source& from) {
        const Node& node = graph_.nodes[i];
        const FusionCall& asked = calls_[i];
        const Node& made = graph_.nodes[static_cast<std::size_t>(from.value.node)];
        const FusionCall& maker = call(from.value.node);
        const Group& group = group_of(from.value.node);
        const auto computed = std::ranges::count_if(node.inputs, [](const ValueRef& v) { return v.node >= 0; });
        const auto reads = reads_.find({from.value.node, from.value.output});
        const std::string tensors = ":" + std::to_string(made.inputs.size()) + "|";
        const std::string how = std::string(reads != reads_.end() && reads->second > 1 ? "|many" : "|one") +
                                (from.has_joined ? "|joined" : "|first") + (is_part(i, from) ? "|part" : "");
        const std::string which =
            "|" + std::to_string(from.place) + "|" + std::to_string(computed) + "|" + std::to_string(maker.rank);
        const std::string whole = "join|" + group.text + tensors;
        const std::string behind = "join|" + std::string(group.kind) + "...";
        const std::string last = behind + maker.name + tensors;
        std::vector<std::string> keys;
        if (!asked.settings.empty())
            keys.push_back(whole + asked.name + asked.settings + ":" + std::string(name_of(asked.moved)) + how + which +
                           "|" + asked.readers);
        keys.insert(keys.end(), {whole + asked.name + how + which + "|" + asked.readers,
                                 whole + asked.name + how + which, last + asked.name + how + which});
        if (asked.is_unary)
            for (const std::string& before : {whole, last}) keys.push_back(before + "<unary>" + how);
        // A call with several results does not go on as one stream of elements.
        const std::string kind = "<" + std::string(made.outputs.size() > 1 ? "split" : maker.kind) + ">|";
        keys.push_back("~" + behind + kind + asked.name + how);
        if (group.kind == pointwise_group && made.outputs.size() == 1 && maker.is_pointwise() && asked.is_pointwise()) {
            keys.push_back("~" + behind + kind + "<" + std::string(asked.kind) + ">" + how);
            keys.push_back("~" + behind + "<point>|<point>" + how);
        }
        return keys;
    }

    void leave_out(std::size_t i) {
        runs_[i] = false;
        const std::vector<ValueRef>& read = graph_.nodes[i].inputs;
        if (read.empty()) return;
        handed_on_[i] = source(read.front());
        // Who reads the tensor that it hands on whole reads the value.
        if (handed_on_[i].node < 0 || calls_[i].moved != Moved::same) return;
        const auto behind = reads_.find({static_cast<std::int32_t>(i), 0});
        reads_[{handed_on_[i].node, handed_on_[i].output}] += (behind == reads_.end() ? 0 : behind->second) - 1;
    }

    void place(std::size_t i) {
        const auto node = static_cast<std::int32_t>(i);
        const FusionCall& asked = calls_[i];
        const bool costs_nothing = asked.is_constant || asked.moved == Moved::same || asked.moved == Moved::kept;
        if (asked.is_arithmetic || answer_({node, -1, keys_of_running(i), costs_nothing})) return leave_out(i);
        groups_[i] = {asked.name, asked.is_pointwise() ? pointwise_group : asked.kind};
        Source from;
        for (from.place = 0; from.place < graph_.nodes[i].inputs.size(); ++from.place) {
            from.value = source(graph_.nodes[i].inputs[from.place]);
            if (from.value.node < 0) continue;
            const bool joins = answer_({node, from.value.node, keys_of_joining(i, from), false});
            if (joins && sets_.of(from.value.node) != sets_.of(node)) join(from.value.node, node);
            from.has_joined = from.has_joined || joins;
        }
    }

    void join(std::int32_t producer, std::int32_t node) {
        const Group made = group_of(producer), reading = group_of(node);
        sets_.join(producer, node);
        Group& both = group_of(node);
        // A text without bound would make keys of no use.
        constexpr std::size_t longest = 200;
        both.text = (made.text + "+" + reading.text).substr(0, longest);
        both.kind = made.kind == pointwise_group ? reading.kind : made.kind;
    }

    const Graph& graph_;
    const FusionAnswer& answer_;
    std::vector<FusionCall> calls_;
    ReadCounts reads_;
    Sets sets_;
    std::vector<Group> groups_;
    std::vector<bool> runs_;
    std::vector<ValueRef> handed_on_;  ///< by calls that are not run
};

}  // namespace

bool is_of_kinds(std::string_view key) {
    return key.starts_with('~');
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
