#include "joulecast/forecast/inductor_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "joulecast/graph/family.h"
#include "joulecast/model/fusion_calls.h"
#include "joulecast/units/one_of.h"

namespace joulecast {
namespace {

/// What a call does to the elements that it reads.
enum class Shape {
    view,
    library,
    point,    ///< an element of the result from one of each input
    rows,     ///< as many elements as it reads, each from a whole row
    sums,     ///< fewer elements, each from many
    windows,  ///< each from a few places around it
    joined    ///< of more tensors than a reader would look through
};

/// Inductor's max_pointwise_cat_inputs.
constexpr std::size_t most_looked_through = 8;
/// Its realize_reads_threshold: an element-wise value of so few tensors is computed again by each kernel that reads it.
constexpr std::size_t most_read_again = 4;

Shape shape_of(const Node& node) {
    constexpr std::array<std::string_view, 8> sorts{"sort",   "topk",    "argsort",      "kthvalue",
                                                    "median", "nonzero", "searchsorted", "cumsum"};
    constexpr std::array<std::string_view, 4> whole_pools{"adaptive_avg_pool1d", "adaptive_avg_pool2d",
                                                          "adaptive_max_pool2d", "adaptive_max_pool1d"};
    const Operation& operation = node.operation;
    if (find_record(operation.target) == nullptr) return Shape::library;
    const std::string name = plain_name(operation);
    if (is_one_of(name, sorts)) return Shape::library;
    if (name == "cat" && node.inputs.size() > most_looked_through) return Shape::joined;
    switch (family(operation)) {
        case Family::view:
        case Family::symbolic:
            return Shape::view;
        case Family::convolution:
        case Family::matmul:
        case Family::attention:
        case Family::other:
            return Shape::library;
        case Family::normalization:
            return name == "batch_norm" || name.find("batch_norm") != std::string::npos ? Shape::point : Shape::rows;
        case Family::softmax:
            return Shape::rows;
        case Family::reduction:
            return Shape::sums;
        case Family::pooling:
            return is_one_of(name, whole_pools) ? Shape::sums : Shape::windows;
        default:
            return Shape::point;
    }
}

bool makes_a_number_of_each_image(const TensorType& images, double outputs) {
    return images.sizes.size() == 4 && outputs == static_cast<double>(images.sizes[0] * images.sizes[1]);
}

/// Of one tensor a call reads no more than of all: an embedding takes some rows of its table. Infinite where nothing is
/// known to be read.
double most_read(const Operation& operation) {
    if (find_record(operation.target) == nullptr) return std::numeric_limits<double>::infinity();
    const auto bytes = static_cast<double>(forward_counts(operation).bytes_read);
    return bytes > 0 ? bytes : std::numeric_limits<double>::infinity();
}

/// A tensor that a node makes, or an input of the network.
using Value = std::pair<std::int32_t, std::int32_t>;

class Kernels {
  public:
    explicit Kernels(const Graph& graph) : graph_(graph), nodes_(graph.nodes.size()), first_(graph.nodes.size()) {
        std::iota(first_.begin(), first_.end(), 0);
        for (std::size_t i = 0; i < nodes_.size(); ++i) look_at(i);
        for (const ValueRef& output : graph.outputs) returned_.insert(base_of(output));
        for (std::size_t i = 0; i < nodes_.size(); ++i) look_through(i);
        for (std::size_t i = 0; i < nodes_.size(); ++i) place(i);
        for (std::size_t i = nodes_.size(); i-- > 0;) put_off(i);
        for (std::size_t i = 0; i < nodes_.size(); ++i) join_inputs(i);
        join_siblings();
    }

    std::vector<InductorCall> calls() {
        const std::map<std::int32_t, double> bytes = bytes_of_kernels();
        std::vector<InductorCall> found(nodes_.size());
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (nodes_[i].shape == Shape::view) continue;
            if (nodes_[i].shape == Shape::library) {
                found[i].kind = InductorCall::Kind::library;
                continue;
            }
            const auto node = static_cast<std::int32_t>(i);
            found[i] = {InductorCall::Kind::code, kernel_of(node), 0};
            if (found[i].kernel == node) found[i].bytes = bytes.at(node);
        }
        return found;
    }

  private:
    struct Read {
        Value value;       ///< behind views
        double bytes = 0;  ///< of the view
    };
    struct Facts {
        Shape shape = Shape::view;
        std::vector<Read> reads;
        std::vector<std::int32_t> readers;  ///< behind views
        Value viewed{-1, -1};               ///< of a view: what it is of
        double elements = 0;                ///< of the larger side
        double outputs = 0;                 ///< elements of the first result
        bool sums_images = false;           ///< each channel's image to a number
        bool reads_twice = false;           ///< rows too long to keep: once for the statistics, and again
        bool is_again = false;              ///< computed again where it is read, not stored
        std::vector<Read> loads = {};  ///< of an element-wise call: what it is made of, one more than may be at most
        int level = 0;                 ///< kernels of a library and other ends of kernels that come before it
    };

    static bool is_code(const Facts& facts) { return facts.shape != Shape::view && facts.shape != Shape::library; }
    Facts& at(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }

    Value base_of(const ValueRef& ref) {
        if (ref.node < 0 || at(ref.node).shape != Shape::view) return {ref.node, ref.output};
        return at(ref.node).viewed;
    }

    void look_at(std::size_t i) {
        const Node& node = graph_.nodes[i];
        Facts& facts = nodes_[i];
        facts.shape = shape_of(node);
        if (!node.outputs.empty()) facts.outputs = static_cast<double>(element_count(node.outputs.front()));
        facts.elements = facts.outputs;
        if (facts.shape == Shape::view) {
            if (!node.inputs.empty()) facts.viewed = base_of(node.inputs.front());
            return;
        }
        const double most = most_read(node.operation);
        for (const ValueRef& input : node.inputs) {
            const TensorType& type = type_of(graph_, input);
            const Value value = base_of(input);
            facts.reads.push_back({value, std::min(most, static_cast<double>(distinct_bytes(type)))});
            facts.elements = std::max(facts.elements, static_cast<double>(distinct_count(type)));
            if (value.first >= 0) at(value.first).readers.push_back(static_cast<std::int32_t>(i));
        }
        facts.reads_twice = plain_name(node.operation) == "group_norm";
        facts.sums_images = facts.shape == Shape::sums && !node.inputs.empty() &&
                            makes_a_number_of_each_image(type_of(graph_, node.inputs.front()), facts.outputs);
    }

    /// Whether the reader can compute the value for itself (mark_reuse() in torch/_inductor/ir.py): libraries and
    /// windows want it stored.
    bool computes_again(std::int32_t reader) {
        const Facts& facts = at(reader);
        return is_code(facts) && facts.shape != Shape::windows && facts.shape != Shape::joined;
    }

    static bool is_stored(const Facts& facts) {
        return facts.shape != Shape::point || (facts.readers.size() > 1 && !facts.is_again);
    }

    /// What an element-wise value is made of, through others that are not stored; no more than tells that it is too
    /// much.
    std::vector<Read> loads_behind(const Facts& facts) {
        std::vector<Read> loads;
        std::set<Value> values;
        for (const Read& read : facts.reads) {
            const bool is_looked_through = read.value.first >= 0 && !is_stored(at(read.value.first));
            for (const Read& load : is_looked_through ? at(read.value.first).loads : std::vector<Read>{read}) {
                if (values.insert(load.value).second) loads.push_back(load);
                if (loads.size() > most_read_again) return loads;
            }
        }
        return loads;
    }

    void look_through(std::size_t i) {
        Facts& facts = nodes_[i];
        if (facts.shape != Shape::point) return;
        facts.loads = loads_behind(facts);
        facts.is_again =
            facts.readers.size() > 1 && facts.loads.size() <= most_read_again &&
            !returned_.contains({static_cast<std::int32_t>(i), 0}) &&
            std::ranges::all_of(facts.readers, [&](std::int32_t reader) { return computes_again(reader); });
    }

    /// Whether the reader can be computed in the kernel that makes the value.
    bool fits(const Facts& made, const Facts& reader) const {
        if (!is_code(made) || !is_code(reader) || reader.shape == Shape::windows) return false;
        if (made.shape == Shape::joined) return false;
        if (reader.sums_images && made.readers.size() > 1 && !made.is_again) return false;
        if (made.shape == Shape::rows) return reader.elements == made.outputs;
        if (made.shape == Shape::sums) return reader.shape == Shape::point && reader.elements <= made.elements;
        return true;
    }

    void place(std::size_t i) {
        Facts& facts = nodes_[i];
        for (const Read& read : facts.reads) {
            if (read.value.first < 0) continue;
            const Facts& made = at(read.value.first);
            const bool is_end = made.shape == Shape::library || (is_code(facts) && !fits(made, facts));
            facts.level = std::max(facts.level, made.level + (is_end ? 1 : 0));
        }
    }

    /// An element-wise call is computed where it is read first.
    void put_off(std::size_t i) {
        Facts& facts = nodes_[i];
        if (facts.shape != Shape::point || facts.readers.empty()) return;
        int first = std::numeric_limits<int>::max();
        for (const std::int32_t reader : facts.readers) {
            if (!fits(facts, at(reader))) return;
            first = std::min(first, at(reader).level);
        }
        facts.level = std::max(facts.level, first);
    }

    std::int32_t kernel_of(std::int32_t node) {
        // A loop: a graph that means harm makes long chains.
        for (auto* first = &first_[static_cast<std::size_t>(node)]; *first != node;
             first = &first_[static_cast<std::size_t>(node)]) {
            *first = first_[static_cast<std::size_t>(*first)];
            node = *first;
        }
        return node;
    }

    void join(std::int32_t a, std::int32_t b) {
        const auto [low, high] = std::minmax({kernel_of(a), kernel_of(b)});
        first_[static_cast<std::size_t>(high)] = low;
    }

    void join_inputs(std::size_t i) {
        const Facts& facts = nodes_[i];
        for (const Read& read : facts.reads) {
            const std::int32_t from = read.value.first;
            if (from >= 0 && fits(at(from), facts) && at(from).level == facts.level)
                join(from, static_cast<std::int32_t>(i));
        }
    }

    /// Calls over the same elements that read the same tensor at the same level.
    void join_siblings() {
        std::map<std::tuple<Value, int, double>, std::int32_t> first;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            const Facts& facts = nodes_[i];
            if (!is_code(facts)) continue;
            for (const Read& read : facts.reads) {
                if (read.bytes * 4 < facts.elements) continue;  // a weight or a scale
                const auto node = static_cast<std::int32_t>(i);
                const auto [found, is_new] = first.try_emplace({read.value, facts.level, facts.elements}, node);
                if (!is_new) join(found->second, node);
            }
        }
    }

    bool is_written(const Value& value, std::int32_t kernel) {
        if (returned_.contains(value)) return true;
        if (at(value.first).is_again) return false;
        return std::ranges::any_of(at(value.first).readers, [&](std::int32_t reader) {
            return !is_code(at(reader)) || kernel_of(reader) != kernel;
        });
    }

    /// What a kernel reads of it from memory.
    std::vector<Read> loads_of(const Read& read, std::int32_t kernel) {
        const std::int32_t from = read.value.first;
        if (from < 0 || !is_code(at(from))) return {read};
        if (kernel_of(from) == kernel) return {};
        return at(from).is_again ? at(from).loads : std::vector<Read>{read};
    }

    std::map<std::int32_t, double> bytes_of_kernels() {
        std::map<std::int32_t, double> bytes;
        std::map<std::pair<std::int32_t, Value>, double> read;
        for (std::size_t i = 0; i < nodes_.size(); ++i) {
            if (!is_code(nodes_[i])) continue;
            const auto node = static_cast<std::int32_t>(i);
            const std::int32_t kernel = kernel_of(node);
            double& sum = bytes[kernel];
            const auto& outputs = graph_.nodes[i].outputs;
            for (std::size_t k = 0; k < outputs.size(); ++k) {
                if (is_written({node, static_cast<std::int32_t>(k)}, kernel))
                    sum += static_cast<double>(byte_count(outputs[k]));
            }
            if (nodes_[i].reads_twice) sum += nodes_[i].reads.front().bytes;
            for (const Read& part : nodes_[i].reads) {
                for (const Read& load : loads_of(part, kernel)) {
                    double& whole = read[{kernel, load.value}];
                    sum += std::max(0.0, load.bytes - whole);
                    whole = std::max(whole, load.bytes);
                }
            }
        }
        return bytes;
    }

    const Graph& graph_;
    std::vector<Facts> nodes_;
    std::vector<std::int32_t> first_;  ///< of each node one before it in its kernel; itself: none
    std::set<Value> returned_;
};

}  // namespace

std::vector<InductorCall> inductor_calls(const Graph& graph) {
    return Kernels(graph).calls();
}

bool takes_channels_last(const Graph& graph) {
    // What channels last take over contiguous images, as measured by Inductor's authors.
    constexpr double grouped_factor = 1.358, usual_factor = 0.823, narrowing_factor = 0.725, small_factor = 0.783;
    constexpr std::int64_t few_channels = 64;
    constexpr std::size_t calls_for_each = 300;
    double whole = 0, weighted = 0;
    std::size_t convolutions = 0;
    for (const Node& node : graph.nodes) {
        if (family(node.operation) != Family::convolution) continue;
        ++convolutions;
        const auto types = tensors(node.operation);
        if (types.size() < 2 || types[1]->sizes.size() < 3) continue;
        const Sizes& weight = types[1]->sizes;
        const bool is_grouped = types[0]->sizes[1] != weight[1] && weight[1] > 1;
        const bool is_small = weight[0] <= few_channels && weight[1] <= few_channels;
        const bool is_narrowing = weight[0] * 2 <= weight[1] && weight[2] > 1;
        const double factor = is_grouped     ? grouped_factor
                              : is_small     ? small_factor
                              : is_narrowing ? narrowing_factor
                                             : usual_factor;
        const auto flop = static_cast<double>(forward_counts(node.operation).flop);
        whole += flop;
        weighted += factor * flop;
    }
    return convolutions > 0 && graph.nodes.size() < calls_for_each * convolutions && weighted <= whole;
}

}  // namespace joulecast
