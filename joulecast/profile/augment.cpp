#include "joulecast/profile/augment.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>

#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/profile/plan.h"

namespace joulecast {
namespace {

constexpr double most_flop_factor = 4;
/// A tenth of a second on a common CPU: so much any variant may take.
constexpr double always_allowed_flop = 1e10;

/// std::uniform_int_distribution differs between standard libraries; the modulo's bias does not matter here.
class Dice {
  public:
    explicit Dice(std::uint64_t seed) : engine_(seed) {}

    std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
    bool coin() { return below(2) == 0; }
    std::int64_t one_of(std::span<const std::int64_t> choices) { return choices[below(choices.size())]; }
    /// As likely between 16 and 32 as between 4096 and 8192.
    std::int64_t log_uniform(double low, double high) {
        const double part = static_cast<double>(engine_() >> 11) * 0x1p-53;
        return std::llround(low * std::pow(high / low, part));
    }

  private:
    std::mt19937_64 engine_;
};

constexpr std::array<std::int64_t, 8> batches{1, 2, 4, 8, 16, 32, 64, 128};

/// One more argument may move the others: pointers to tensors do not outlive it.
void set(Operation& operation, std::string_view name, Value value) {
    const auto found = std::ranges::find(operation.arguments, name, &Argument::name);
    if (found == operation.arguments.end())
        operation.arguments.push_back({std::string(name), std::move(value)});
    else
        found->value = std::move(value);
}

/// Other sizes in the same order of dimensions; false where the tensor has gaps, which other sizes cannot keep.
bool resize(TensorType& type, Sizes sizes) {
    if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1; })) return false;
    if (is_contiguous(type)) {
        type.sizes = std::move(sizes);
        return true;
    }
    if (!is_dense(type) || sizes.size() != type.sizes.size()) return false;
    const Strides strides = strides_in_order_of(type, sizes);
    const bool requires_grad = type.requires_grad;
    type = strided(type.dtype, std::move(sizes), strides);
    type.requires_grad = requires_grad;
    return true;
}

bool resize(TensorType& type, std::size_t dimension, std::int64_t size) {
    Sizes sizes = type.sizes;
    sizes.at(dimension) = size;
    return resize(type, std::move(sizes));
}

/// A convolution with a batch; null where a part is missing.
struct Convolution {
    explicit Convolution(Operation& operation)
        : input(find_tensor(operation, "input")),
          weight(find_tensor(operation, "weight")),
          bias(find_tensor(operation, "bias")) {
        if (!*this) return;
        spatial = weight->sizes.size() - 2;
        groups = argument_or_default<std::int64_t>(operation, "groups");
    }
    explicit operator bool() const {
        return input != nullptr && weight != nullptr && weight->sizes.size() > 2 &&
               input->sizes.size() == weight->sizes.size();
    }

    /// False where sizes cannot be so.
    bool set_filters(std::int64_t filters, std::int64_t per_group) const {
        Sizes sizes = weight->sizes;
        sizes[0] = filters;
        sizes[1] = per_group;
        return resize(*weight, std::move(sizes)) && (bias == nullptr || resize(*bias, 0, filters));
    }

    TensorType* input;
    TensorType* weight;
    TensorType* bias;
    std::size_t spatial = 0;
    std::int64_t groups = 1;
};

bool change_groups(Operation& operation, Dice& dice) {
    const Convolution call(operation);
    if (!call) return false;
    const std::int64_t channels = call.input->sizes[1];
    const std::int64_t common = std::gcd(channels, call.weight->sizes[0]);
    std::vector<std::int64_t> divisors;
    for (std::int64_t groups = 1; groups <= common && groups <= 4096; ++groups)
        if (common % groups == 0 && groups != call.groups) divisors.push_back(groups);
    if (divisors.empty()) return false;
    const std::int64_t groups = dice.one_of(divisors);
    if (!call.set_filters(call.weight->sizes[0], channels / groups)) return false;
    set(operation, "groups", groups);
    return true;
}

bool make_depthwise(Operation& operation, Dice&) {
    const Convolution call(operation);
    if (!call || call.groups == call.input->sizes[1]) return false;
    const std::int64_t channels = call.input->sizes[1];
    if (!call.set_filters(channels, 1)) return false;
    set(operation, "groups", channels);
    return true;
}

/// The padding grows with it, so that the size of the image stays.
bool change_dilation(Operation& operation, Dice& dice) {
    constexpr std::array<std::int64_t, 4> dilations{2, 3, 4, 6};
    const Convolution call(operation);
    if (!call || std::ranges::all_of(call.weight->sizes.begin() + 2, call.weight->sizes.end(),
                                     [](std::int64_t size) { return size == 1; }))
        return false;
    const std::int64_t dilation = dice.one_of(dilations);
    Sizes padding;
    for (std::size_t i = 0; i < call.spatial; ++i) padding.push_back(dilation * (call.weight->sizes[2 + i] / 2));
    const std::size_t spatial = call.spatial;
    set(operation, "padding", std::move(padding));
    set(operation, "dilation", Sizes(spatial, dilation));
    return true;
}

bool change_filters(Operation& operation, Dice& dice) {
    const Convolution call(operation);
    if (!call || call.groups == call.input->sizes[1]) return false;
    const std::int64_t per_group = std::max<std::int64_t>(1, dice.log_uniform(8, 2048) / call.groups);
    return call.set_filters(per_group * call.groups, call.weight->sizes[1]);
}

bool change_kernel(Operation& operation, Dice& dice) {
    const Convolution call(operation);
    if (!call) return false;
    constexpr std::array<std::int64_t, 5> kernels{1, 2, 3, 5, 7};
    constexpr std::array<std::int64_t, 3> strides{1, 1, 2};
    const std::int64_t kernel = dice.one_of(kernels);
    Sizes sizes = call.weight->sizes;
    std::fill(sizes.begin() + 2, sizes.end(), kernel);
    const std::size_t spatial = call.spatial;
    if (!resize(*call.weight, std::move(sizes))) return false;
    set(operation, "stride", Sizes(spatial, dice.one_of(strides)));
    set(operation, "padding", Sizes(spatial, kernel / 2));
    set(operation, "dilation", Sizes(spatial, 1));
    return true;
}

/// Features as people choose them, and some that nobody would.
std::int64_t features(Dice& dice) {
    const std::int64_t count = dice.log_uniform(16, 8192);
    constexpr std::array<std::int64_t, 4> steps{1, 8, 64, 64};
    const std::int64_t step = dice.one_of(steps);
    return std::max(step, count / step * step);
}

bool randomise_dense(Operation& operation, Dice& dice) {
    const bool is_linear = operation.target == "aten::linear";
    TensorType* input = find_tensor(operation, is_linear ? "input" : "mat1");
    TensorType* weight = find_tensor(operation, is_linear ? "weight" : "mat2");
    TensorType* bias = find_tensor(operation, is_linear ? "bias" : "self");
    if (input == nullptr || weight == nullptr || weight->sizes.size() != 2 || input->sizes.empty()) return false;
    if (bias != nullptr && bias->sizes.size() != 1) return false;
    const std::int64_t inner = features(dice), outer = features(dice);
    if (!resize(*input, input->sizes.size() - 1, inner)) return false;
    if (!resize(*weight, is_linear ? Sizes{outer, inner} : Sizes{inner, outer})) return false;
    return bias == nullptr || resize(*bias, 0, outer);
}

bool is_windowed(std::string_view target) {
    return target.starts_with("aten::max_pool") || target.starts_with("aten::avg_pool");
}

bool change_window(Operation& operation, Dice& dice) {
    if (operation.target.starts_with("aten::adaptive")) {
        const auto sizes = argument_or_default<Sizes>(operation, "output_size");
        set(operation, "output_size", Sizes(sizes.size(), static_cast<std::int64_t>(1 + dice.below(14))));
        return true;
    }
    constexpr std::array<std::int64_t, 6> windows{2, 3, 4, 5, 7, 9};
    const std::int64_t window = dice.one_of(windows);
    const std::size_t spatial = argument_or_default<Sizes>(operation, "kernel_size").size();
    set(operation, "kernel_size", Sizes(spatial, window));
    set(operation, "stride", Sizes(spatial, dice.coin() ? window : static_cast<std::int64_t>(1 + dice.below(3))));
    set(operation, "padding", Sizes(spatial, dice.coin() ? 0 : window / 2));
    return true;
}

/// Maximum for average and the other way round, with the arguments that both have.
bool exchange_pool(Operation& operation, Dice&) {
    const std::size_t at = operation.target.find("max_pool");
    if (at != std::string::npos) {
        operation.target.replace(at, 3, "avg");
        std::erase_if(operation.arguments, [](const Argument& argument) { return argument.name == "dilation"; });
        return true;
    }
    const std::size_t average = operation.target.find("avg_pool");
    if (average == std::string::npos) return false;
    operation.target.replace(average, 3, "max");
    std::erase_if(operation.arguments, [](const Argument& argument) {
        return argument.name == "count_include_pad" || argument.name == "divisor_override";
    });
    return true;
}

/// All tensors of the first one's sizes get other sizes; others must be single numbers.
bool change_sizes(Operation& operation, Dice& dice) {
    const auto inputs = tensors(operation);
    if (inputs.empty() || inputs.front()->sizes.empty()) return false;
    const Sizes before = inputs.front()->sizes;
    Sizes sizes = before;
    sizes[0] = dice.one_of(batches);
    for (std::size_t i = 1; i < sizes.size(); ++i) {
        const std::size_t factor = dice.below(4);
        sizes[i] = factor == 0 ? std::max<std::int64_t>(1, sizes[i] / 2) : factor == 1 ? sizes[i] * 2 : sizes[i];
    }
    return std::ranges::all_of(inputs, [&](TensorType* type) {
        return type->sizes == before ? resize(*type, sizes) : distinct_count(*type) <= 1;
    });
}

/// The tensor that carries the batch is the first; what is element-wise has it in all.
bool change_batch(Operation& operation, Dice& dice) {
    const auto inputs = tensors(operation);
    const Family kind = family(operation);
    const bool is_addmm = operation.target == "aten::addmm";
    if (inputs.size() < (is_addmm ? 2u : 1u)) return false;
    TensorType& first = is_addmm ? *inputs[1] : *inputs.front();
    if (first.sizes.size() < 2) return false;
    const Sizes before = first.sizes;
    const std::int64_t batch = dice.one_of(batches);
    if (kind == Family::elementwise)
        return std::ranges::all_of(inputs, [&](TensorType* type) {
            return type->sizes == before ? resize(*type, 0, batch) : distinct_count(*type) <= 1;
        });
    if (kind == Family::attention)
        return std::ranges::all_of(inputs, [&](TensorType* type) {
            return type->sizes.size() < 3 || type->sizes[0] != before[0] || resize(*type, 0, batch);
        });
    return resize(first, 0, is_addmm ? dice.log_uniform(1, 4096) : batch);
}

/// Rows of the query and of the keys; where both were as many, both stay so, and a single row stays single: that is a
/// decoder with its keys kept.
bool change_sequence(Operation& operation, Dice& dice) {
    TensorType* query = find_tensor(operation, "query");
    TensorType* key = find_tensor(operation, "key");
    TensorType* value = find_tensor(operation, "value");
    if (query == nullptr || key == nullptr || value == nullptr || query->sizes.size() < 3) return false;
    const std::size_t rows = query->sizes.size() - 2;
    const std::int64_t queries = query->sizes[rows], keys = key->sizes[rows];
    const std::int64_t length = dice.log_uniform(16, 2048);
    const std::int64_t other = queries == keys ? length : dice.log_uniform(16, 2048);
    const std::int64_t new_queries = queries == 1 ? 1 : other;
    if (!resize(*query, rows, new_queries) || !resize(*key, rows, length) || !resize(*value, rows, length))
        return false;
    TensorType* mask = find_tensor(operation, "attn_mask");
    if (mask == nullptr) return true;
    const std::size_t last = mask->sizes.size();
    if (last < 2) return false;
    return (mask->sizes[last - 2] == 1 || resize(*mask, last - 2, new_queries)) &&
           (mask->sizes[last - 1] == 1 || resize(*mask, last - 1, length));
}

bool is_convolution(const Operation& operation) {
    return operation.target == "aten::conv1d" || operation.target == "aten::conv2d" ||
           operation.target == "aten::conv3d";
}

bool is_dense_layer(const Operation& operation) {
    return operation.target == "aten::linear" || operation.target == "aten::addmm";
}

bool is_pool(const Operation& operation) {
    return is_windowed(operation.target) || operation.target.starts_with("aten::adaptive_avg_pool") ||
           operation.target.starts_with("aten::adaptive_max_pool");
}

bool is_elementwise(const Operation& operation) {
    return family(operation) == Family::elementwise;
}

bool is_attention(const Operation& operation) {
    return operation.target == "aten::scaled_dot_product_attention";
}

bool has_batch(const Operation& operation) {
    const Family kind = family(operation);
    return is_convolution(operation) || is_dense_layer(operation) || is_pool(operation) || is_attention(operation) ||
           kind == Family::elementwise || kind == Family::normalization || kind == Family::softmax;
}

/// One way of varying, and what it can vary.
struct Move {
    bool (*takes)(const Operation&);
    bool (*change)(Operation&, Dice&);
};

constexpr std::array<Move, 11> moves{{
    {&is_convolution, &change_groups},
    {&is_dense_layer, &randomise_dense},
    {&has_batch, &change_batch},
    {&is_convolution, &make_depthwise},
    {&is_pool, &change_window},
    {&is_convolution, &change_dilation},
    {&is_elementwise, &change_sizes},
    {&is_convolution, &change_filters},
    {&is_attention, &change_sequence},
    {&is_convolution, &change_kernel},
    {&is_pool, &exchange_pool},
}};

/// What the operation holds at once: tensors and outputs, and in training the gradients of both.
double held_bytes(const Operation& operation, const std::vector<TensorType>& outputs) {
    double sum = 0;
    for (const TensorType* type : tensors(operation))
        sum += static_cast<double>(byte_count(*type)) * (type->requires_grad ? 2 : 1);
    const double factor = mode(operation) == Mode::training ? 2 : 1;
    for (const TensorType& type : outputs) sum += static_cast<double>(byte_count(type)) * factor;
    return sum;
}

double flop(const Operation& operation) {
    const Counts counts = total_counts(operation);
    return static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop);
}

struct Limits {
    double bytes = 0;
    double flop = 0;
};

/// The variant as its record has it, if it can be computed.
std::optional<Operation> valid(Operation operation, const Limits& limits) {
    try {
        const Record* record = find_record(operation.target);
        if (record == nullptr) return std::nullopt;
        operation = canonical(std::move(operation));
        const std::vector<TensorType> outputs = record->outputs(operation);
        for (const TensorType& type : outputs)
            if (element_count(type) < 1) return std::nullopt;
        if (held_bytes(operation, outputs) > limits.bytes || flop(operation) > limits.flop) return std::nullopt;
        if (!is_measurable(operation)) return std::nullopt;
        return operation;
    } catch (const FormatError&) {
        return std::nullopt;  // such sizes cannot be
    }
}

/// Unique measurable operations of the variations with the way their products are computed.
std::vector<Sample> sources(const std::vector<Variation>& variations, std::set<std::pair<std::string, Math>>& known) {
    std::vector<Sample> found;
    for (const Variation& variation : variations)
        for (const CountedOperation& counted : count_operations(variation.graph)) {
            const Math math = math_of(precision_named(variation.precision));
            if (is_measurable(counted.operation) && find_record(counted.operation.target) != nullptr &&
                known.emplace(signature(counted.operation), math).second)
                found.push_back({counted.operation, math});
        }
    return found;
}

}  // namespace

double most_held_bytes(double memory_bytes) {
    return memory_bytes > 0 ? memory_bytes / 4 : 1024.0 * 1024 * 1024;
}

std::vector<Sample> augment(const std::vector<Variation>& variations, const AugmentSettings& settings) {
    std::set<std::pair<std::string, Math>> known;
    const std::vector<Sample> given = sources(variations, known);
    Limits limits{most_held_bytes(settings.memory_bytes), always_allowed_flop};
    for (const Sample& source : given) limits.flop = std::max(limits.flop, most_flop_factor * flop(source.operation));
    std::array<std::vector<const Sample*>, moves.size()> by_move;
    for (std::size_t i = 0; i < moves.size(); ++i)
        for (const Sample& source : given)
            if (moves[i].takes(source.operation)) by_move[i].push_back(&source);
    std::vector<Sample> made;
    Dice dice(settings.seed);
    // Where few sources leave few variants, most attempts hit what is there already.
    constexpr std::int64_t attempts_each = 100;
    const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(0, settings.count));
    for (std::int64_t attempt = 0; made.size() < wanted && attempt / attempts_each < settings.count; ++attempt) {
        const std::size_t move = static_cast<std::size_t>(attempt) % moves.size();
        if (by_move[move].empty()) continue;
        const Sample& source = *by_move[move][dice.below(by_move[move].size())];
        Operation operation = source.operation;
        if (!moves[move].change(operation, dice)) continue;
        auto variant = valid(std::move(operation), limits);
        if (variant && known.emplace(signature(*variant), source.math).second)
            made.push_back({std::move(*variant), source.math});
    }
    return made;
}

}  // namespace joulecast
