#include "cli/match_calls.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace joulecast::cli {
namespace {

/// The calls of one node that have found no partner yet.
struct Rest {
    const Node* node = nullptr;
    std::string signature;
    std::int64_t calls = 0;
};

std::vector<Rest> rests(const Graph& graph) {
    std::vector<Rest> rests;
    rests.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) rests.push_back({&node, signature(node.operation), node.count});
    return rests;
}

bool has_modules(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) { return !node.module_path.empty(); });
}

/// "aten::add_.Tensor" -> "aten::add.Tensor": compilers and exporters turn calls in place into others and back.
std::string out_of_place(const std::string& target) {
    const std::size_t dot = std::min(target.find('.'), target.size());
    if (dot == 0 || target[dot - 1] != '_') return target;
    return target.substr(0, dot - 1) + target.substr(dot);
}

class Matching {
  public:
    Matching(const Graph& before, const Graph& after) : before_(rests(before)), after_(rests(after)) {
        // Which calls of an operation are left over, if their numbers differ, matters to the next rule: those in
        // modules that have it on one side only.
        pair_up([](const Rest& rest) { return rest.signature + '\n' + rest.node->module_path; });
        pair_up([](const Rest& rest) { return rest.signature; });
        const auto target = [](const Rest& rest) { return out_of_place(rest.node->operation.target); };
        pair_up(
            [&](const Rest& rest) { return target(rest) + rest.signature.substr(rest.node->operation.target.size()); });
        if (has_modules(before) && has_modules(after)) {
            pair_up([&](const Rest& rest) { return target(rest) + '\n' + rest.node->module_path; });
        } else {
            pair_up(target);
        }
        for (const Rest& rest : before_) note(rest.node, nullptr, rest.calls);
        for (const Rest& rest : after_) note(nullptr, rest.node, rest.calls);
    }

    std::vector<CallChange> changes() { return std::move(changes_); }

  private:
    /// Pairs calls with the same key in the order in which they stand.
    template <class Key>
    void pair_up(const Key& key) {
        std::unordered_map<std::string, std::vector<Rest*>> waiting;
        for (Rest& rest : before_)
            if (rest.calls > 0) waiting[key(rest)].push_back(&rest);
        std::unordered_map<std::string, std::size_t> next;
        for (Rest& rest : after_) {
            if (rest.calls == 0) continue;
            const std::string own = key(rest);
            const auto found = waiting.find(own);
            if (found == waiting.end()) continue;
            std::size_t& at = next[own];
            while (rest.calls > 0 && at < found->second.size()) {
                Rest& partner = *found->second[at];
                const std::int64_t calls = std::min(rest.calls, partner.calls);
                note(partner.node, rest.node, calls);
                rest.calls -= calls;
                partner.calls -= calls;
                if (partner.calls == 0) ++at;
            }
        }
    }

    /// Calls of the same operation on both sides stand in one line, also those that were added or dropped.
    void note(const Node* before, const Node* after, std::int64_t calls) {
        if (calls == 0) return;
        const std::string first = signature((before != nullptr ? before : after)->operation);
        const std::string second = before != nullptr && after != nullptr ? signature(after->operation) : first;
        const auto [found, is_new] = position_.try_emplace(std::pair(first, second), changes_.size());
        if (is_new) changes_.emplace_back();
        CallChange& change = changes_[found->second];
        if (before != nullptr) {
            change.before = before->operation;
            change.calls_before += calls;
        }
        if (after != nullptr) {
            change.after = after->operation;
            change.calls_after += calls;
        }
    }

    std::vector<Rest> before_;
    std::vector<Rest> after_;
    std::vector<CallChange> changes_;
    std::map<std::pair<std::string, std::string>, std::size_t> position_;
};

/// The text of every argument by its name.
std::vector<std::pair<std::string, std::string>> argument_texts(std::string_view signature) {
    std::vector<std::pair<std::string, std::string>> texts;
    for (const Argument& argument : parse_operation(signature).arguments) {
        const std::string whole = joulecast::signature({"", {argument}});
        // "(name=value)"
        const std::size_t start = argument.name.size() + 2;
        texts.emplace_back(argument.name, whole.substr(start, whole.size() - start - 1));
    }
    return texts;
}

const std::string* find(const std::vector<std::pair<std::string, std::string>>& texts, const std::string& name) {
    const auto found = std::ranges::find(texts, name, &std::pair<std::string, std::string>::first);
    return found == texts.end() ? nullptr : &found->second;
}

}  // namespace

std::vector<CallChange> match_calls(const Graph& before, const Graph& after) {
    return Matching(before, after).changes();
}

std::vector<ArgumentChange> changed_arguments(std::string_view before, std::string_view after) {
    const auto texts_before = argument_texts(before);
    const auto texts_after = argument_texts(after);
    std::vector<ArgumentChange> changes;
    for (const auto& [name, text] : texts_before) {
        const std::string* now = find(texts_after, name);
        if (now == nullptr || *now != text) changes.push_back({name, text, now == nullptr ? std::string() : *now});
    }
    for (const auto& [name, text] : texts_after) {
        if (find(texts_before, name) == nullptr) changes.push_back({name, {}, text});
    }
    return changes;
}

}  // namespace joulecast::cli
