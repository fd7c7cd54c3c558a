#include "lab/published/torch_layer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "joulecast/units/trimmed.h"

namespace joulecast {
namespace {

constexpr std::size_t longest_repr = 4096;
constexpr std::size_t most_dimensions = 8;

/// At the commas that stand in no brackets; a comma at the very end ends nothing, as in "(128,)".
std::vector<std::string_view> parts_of(std::string_view text) {
    std::vector<std::string_view> parts;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
        if (i < text.size() && (text[i] == '(' || text[i] == '[')) ++depth;
        if (i < text.size() && (text[i] == ')' || text[i] == ']')) --depth;
        if (i < text.size() && (text[i] != ',' || depth != 0)) continue;
        const std::string_view part = trimmed(text.substr(begin, i - begin));
        if (!part.empty()) parts.push_back(part);
        begin = i + 1;
    }
    return parts;
}

template <class Number>
Number parsed(std::string_view text, const std::string& what) {
    Number value{};
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failure != std::errc() || end != text.data() + text.size()) throw FormatError(what + " is not a number");
    return value;
}

/// The attributes in a layer's brackets. Whoever builds the operation takes what it understands; what is left over
/// afterwards is an attribute that would be ignored, and so an error.
class Attributes {
  public:
    explicit Attributes(const TorchLayer& layer) : type_(layer.type) {
        if (layer.extra_repr.size() > longest_repr) throw FormatError("the attributes of " + type_ + " are too long");
        for (const std::string_view part : parts_of(layer.extra_repr)) {
            const std::size_t equals = part.find('=');
            const bool named = equals != std::string_view::npos && part.front() != '(';
            const std::string key = named ? std::string(trimmed(part.substr(0, equals))) : std::to_string(positions_++);
            const std::string_view value = named ? trimmed(part.substr(equals + 1)) : part;
            if (!values_.emplace(key, value).second) throw FormatError(place(key) + " is given twice");
        }
    }

    std::optional<std::string> text(const std::string& key) {
        const auto found = values_.find(key);
        if (found == values_.end()) return std::nullopt;
        return std::move(values_.extract(found).mapped());
    }
    std::int64_t integer(const std::string& key, std::optional<std::int64_t> fallback = {}) {
        const auto value = text(key);
        if (!value) return require(fallback, key);
        return parsed<std::int64_t>(*value, place(key));
    }
    double number(const std::string& key, std::optional<double> fallback = {}) {
        const auto value = text(key);
        if (!value) return require(fallback, key);
        const auto found = parsed<double>(*value, place(key));
        if (!std::isfinite(found)) throw FormatError(place(key) + " is not a number");
        return found;
    }
    bool flag(const std::string& key, bool fallback) {
        const auto value = text(key);
        if (!value) return fallback;
        if (*value != "True" && *value != "False") throw FormatError(place(key) + " is neither True nor False");
        return *value == "True";
    }
    /// A tuple, or one integer for all `dimensions`.
    Sizes sizes(const std::string& key, std::size_t dimensions, std::optional<std::int64_t> fallback = {}) {
        const auto value = text(key);
        if (!value) return Sizes(dimensions, require(fallback, key));
        if (!value->starts_with('(')) return Sizes(dimensions, parsed<std::int64_t>(*value, place(key)));
        Sizes found = tuple(*value, key);
        if (found.size() != dimensions) throw FormatError(place(key) + " has another number of items");
        return found;
    }
    Sizes tuple(const std::string& value, const std::string& key) {
        if (value.size() < 2 || value.front() != '(' || value.back() != ')')
            throw FormatError(place(key) + " is not a tuple");
        Sizes found;
        for (const std::string_view item : parts_of(std::string_view(value).substr(1, value.size() - 2)))
            found.push_back(parsed<std::int64_t>(item, place(key)));
        if (found.empty() || found.size() > most_dimensions)
            throw FormatError(place(key) + " has another number of items");
        return found;
    }
    /// A word, quoted or bare.
    std::string word(const std::string& key, const std::string& fallback) {
        auto value = text(key).value_or(fallback);
        if (value.size() > 1 && value.front() == '\'' && value.back() == '\'')
            value = value.substr(1, value.size() - 2);
        return value;
    }
    void require_all_taken() const {
        if (!values_.empty()) throw FormatError(place(values_.begin()->first) + " is not known");
    }
    std::string place(const std::string& key) const {
        const bool by_position = key.find_first_not_of("0123456789") == std::string::npos;
        return (by_position ? "positional attribute " : "attribute ") + key + " of " + type_;
    }

  private:
    template <class T>
    T require(const std::optional<T>& fallback, const std::string& key) const {
        if (!fallback) throw FormatError(place(key) + " is missing");
        return *fallback;
    }

    std::string type_;
    std::map<std::string, std::string> values_;
    int positions_ = 0;
};

/// What a builder works on: the layer, its attributes, and how tensors are typed.
struct Build {
    const TorchLayer& layer;
    Attributes& attributes;
    bool with_backward;

    TensorType parameter(Sizes sizes) const { return {layer.dtype, std::move(sizes), {}, with_backward}; }
    TensorType buffer(Sizes sizes) const { return {layer.dtype, std::move(sizes), {}, false}; }
    TensorType input() const { return {layer.dtype, layer.input, {}, with_backward}; }
    void require(bool fits) const {
        if (!fits) throw FormatError("the input of " + layer.type + " does not fit its attributes");
    }
};

Operation convolution(const Build& b, std::size_t dimensions) {
    Attributes& a = b.attributes;
    const std::int64_t in = a.integer("0");
    const std::int64_t out = a.integer("1");
    const Sizes kernel = a.sizes("kernel_size", dimensions);
    const Sizes stride = a.sizes("stride", dimensions);
    const auto padding = a.text("padding");
    const Sizes dilation = a.sizes("dilation", dimensions, 1);
    const std::int64_t groups = a.integer("groups", 1);
    const bool bias = a.flag("bias", true);
    if (a.word("padding_mode", "zeros") != "zeros")
        throw FormatError("a " + b.layer.type + " that pads with other than zeros makes several ATen calls");
    if (groups < 1 || in < 1 || out < 1 || in % groups != 0 || out % groups != 0)
        throw FormatError("channels and groups of " + b.layer.type + " do not fit");
    b.require(b.layer.input.size() == dimensions + 2 && b.layer.input[1] == in);
    Sizes weight{out, in / groups};
    weight.insert(weight.end(), kernel.begin(), kernel.end());
    Operation call{"aten::conv" + std::to_string(dimensions) + "d",
                   {{"input", b.input()}, {"weight", b.parameter(weight)}}};
    if (bias) call.arguments.push_back({"bias", b.parameter({out})});
    call.arguments.push_back({"stride", stride});
    if (padding && !padding->starts_with('(')) {
        if (*padding != "same" && *padding != "valid")
            throw FormatError(a.place("padding") + " is neither a tuple nor same nor valid");
        call.target += ".padding";
        call.arguments.push_back({"padding", *padding});
    } else {
        call.arguments.push_back({"padding", padding ? a.tuple(*padding, "padding") : Sizes(dimensions, 0)});
    }
    call.arguments.push_back({"dilation", dilation});
    call.arguments.push_back({"groups", groups});
    return call;
}

Operation linear(const Build& b) {
    const std::int64_t in = b.attributes.integer("in_features");
    const std::int64_t out = b.attributes.integer("out_features");
    const bool bias = b.attributes.flag("bias", true);
    b.require(!b.layer.input.empty() && b.layer.input.back() == in);
    Operation call{"aten::linear", {{"input", b.input()}, {"weight", b.parameter({out, in})}}};
    if (bias) call.arguments.push_back({"bias", b.parameter({out})});
    return call;
}

Operation batch_norm(const Build& b) {
    Attributes& a = b.attributes;
    const std::int64_t channels = a.integer("0");
    const double eps = a.number("eps", 1e-5);
    const double momentum = a.number("momentum", 0.1);
    const bool affine = a.flag("affine", true);
    const bool tracks = a.flag("track_running_stats", true);
    b.require(b.layer.input.size() > 1 && b.layer.input[1] == channels);
    Operation call{"aten::batch_norm", {{"input", b.input()}}};
    for (const char* name : {"weight", "bias"})
        call.arguments.push_back({name, affine ? Value(b.parameter({channels})) : Value(None{})});
    for (const char* name : {"running_mean", "running_var"})
        call.arguments.push_back({name, tracks ? Value(b.buffer({channels})) : Value(None{})});
    call.arguments.push_back({"training", b.layer.training_state || !tracks});
    call.arguments.push_back({"momentum", momentum});
    call.arguments.push_back({"eps", eps});
    call.arguments.push_back({"cudnn_enabled", true});
    return call;
}

Operation layer_norm(const Build& b) {
    Attributes& a = b.attributes;
    const Sizes shape = a.tuple(a.text("0").value_or(""), "0");
    const double eps = a.number("eps", 1e-5);
    const bool affine = a.flag("elementwise_affine", true);
    const bool bias = a.flag("bias", true);
    b.require(shape.size() <= b.layer.input.size() && std::equal(shape.rbegin(), shape.rend(), b.layer.input.rbegin()));
    Operation call{"aten::layer_norm", {{"input", b.input()}, {"normalized_shape", shape}}};
    if (affine) call.arguments.push_back({"weight", b.parameter(shape)});
    if (affine && bias) call.arguments.push_back({"bias", b.parameter(shape)});
    call.arguments.push_back({"eps", eps});
    return call;
}

Operation group_norm(const Build& b) {
    Attributes& a = b.attributes;
    const std::int64_t groups = a.integer("0");
    const std::int64_t channels = a.integer("1");
    const double eps = a.number("eps", 1e-5);
    const bool affine = a.flag("affine", true);
    b.require(b.layer.input.size() > 1 && b.layer.input[1] == channels);
    Operation call{"aten::group_norm", {{"input", b.input()}, {"num_groups", groups}}};
    if (affine) call.arguments.push_back({"weight", b.parameter({channels})});
    if (affine) call.arguments.push_back({"bias", b.parameter({channels})});
    call.arguments.push_back({"eps", eps});
    return call;
}

Operation max_pool(const Build& b) {
    Attributes& a = b.attributes;
    const Sizes kernel = a.sizes("kernel_size", 2);
    const auto stride = a.sizes("stride", 2);
    const auto padding = a.sizes("padding", 2, 0);
    const auto dilation = a.sizes("dilation", 2, 1);
    const bool ceil_mode = a.flag("ceil_mode", false);
    b.require(b.layer.input.size() == 4);
    return {"aten::max_pool2d",
            {{"self", b.input()},
             {"kernel_size", kernel},
             {"stride", stride},
             {"padding", padding},
             {"dilation", dilation},
             {"ceil_mode", ceil_mode}}};
}

/// torch prints neither ceil_mode nor count_include_pad of this one, so their defaults are taken.
Operation avg_pool(const Build& b) {
    const Sizes kernel = b.attributes.sizes("kernel_size", 2);
    const auto stride = b.attributes.sizes("stride", 2);
    const auto padding = b.attributes.sizes("padding", 2, 0);
    b.require(b.layer.input.size() == 4);
    return {"aten::avg_pool2d",
            {{"self", b.input()}, {"kernel_size", kernel}, {"stride", stride}, {"padding", padding}}};
}

Operation adaptive_avg_pool(const Build& b) {
    const Sizes output = b.attributes.sizes("output_size", 2);
    b.require(b.layer.input.size() == 4);
    return {"aten::adaptive_avg_pool2d", {{"self", b.input()}, {"output_size", output}}};
}

/// Drops while in training state; else a view of its input.
Operation dropout(const Build& b, const std::string& target) {
    const double p = b.attributes.number("p");
    const bool in_place = b.attributes.flag("inplace", false);
    const bool overwrites = in_place && target == "aten::dropout";
    return {overwrites ? target + "_" : target,
            {{overwrites ? "self" : "input", b.input()}, {"p", p}, {"train", b.layer.training_state}}};
}

/// Element by element from input to output, `target` with an underscore where it overwrites its input.
Operation activation(const Build& b, const std::string& target, std::vector<Argument> further = {}) {
    const bool in_place = b.attributes.flag("inplace", false);
    Operation call{in_place ? target + "_" : target, {{"self", b.input()}}};
    for (Argument& argument : further) call.arguments.push_back(std::move(argument));
    return call;
}

[[noreturn]] Operation no_call(const Build& b) {
    throw FormatError("a " + b.layer.type + " that passes its input on makes no ATen call");
}

Operation stochastic_depth(const Build& b) {
    const double p = b.attributes.number("p");
    b.attributes.word("mode", "");
    if (!b.layer.training_state || p == 0) no_call(b);
    throw FormatError("a " + b.layer.type + " that drops makes several ATen calls");
}

struct LayerType {
    std::string_view name;
    Operation (*build)(const Build&);
};

constexpr auto layer_types = std::to_array<LayerType>({
    {"AdaptiveAvgPool2d", adaptive_avg_pool},
    {"AvgPool2d", avg_pool},
    {"BatchNorm1d", batch_norm},
    {"BatchNorm2d", batch_norm},
    {"BatchNorm3d", batch_norm},
    {"Conv1d", [](const Build& b) { return convolution(b, 1); }},
    {"Conv2d", [](const Build& b) { return convolution(b, 2); }},
    {"Conv3d", [](const Build& b) { return convolution(b, 3); }},
    {"Dropout", [](const Build& b) { return dropout(b, "aten::dropout"); }},
    {"Dropout2d", [](const Build& b) { return dropout(b, "aten::feature_dropout"); }},
    {"ELU", [](const Build& b) { return activation(b, "aten::elu", {{"alpha", b.attributes.number("alpha", 1)}}); }},
    {"GELU",
     [](const Build& b) {
         return activation(b, "aten::gelu", {{"approximate", b.attributes.word("approximate", "none")}});
     }},
    {"GroupNorm", group_norm},
    {"Hardsigmoid", [](const Build& b) { return activation(b, "aten::hardsigmoid"); }},
    {"Hardswish", [](const Build& b) { return activation(b, "aten::hardswish"); }},
    {"Hardtanh",
     [](const Build& b) {
         return activation(
             b, "aten::hardtanh",
             {{"min_val", b.attributes.number("min_val", -1)}, {"max_val", b.attributes.number("max_val", 1)}});
     }},
    {"Identity", [](const Build& b) -> Operation { no_call(b); }},
    {"LayerNorm", layer_norm},
    {"LeakyReLU",
     [](const Build& b) {
         return activation(b, "aten::leaky_relu", {{"negative_slope", b.attributes.number("negative_slope", 0.01)}});
     }},
    {"Linear", linear},
    {"MaxPool2d", max_pool},
    {"ReLU", [](const Build& b) { return activation(b, "aten::relu"); }},
    // torch's ReLU6 is a Hardtanh from 0 to 6 that prints its in-place flag alone.
    {"ReLU6", [](const Build& b) { return activation(b, "aten::hardtanh", {{"min_val", 0.0}, {"max_val", 6.0}}); }},
    {"SiLU", [](const Build& b) { return activation(b, "aten::silu"); }},
    {"Sigmoid", [](const Build& b) { return activation(b, "aten::sigmoid"); }},
    {"Softmax",
     [](const Build& b) {
         return Operation{"aten::softmax.int", {{"self", b.input()}, {"dim", b.attributes.integer("dim")}}};
     }},
    {"StochasticDepth", stochastic_depth},
    {"Tanh", [](const Build& b) { return activation(b, "aten::tanh"); }},
});

/// The record's own words name sizes; a reason that can be counted does not.
void require_possible(const Operation& call, const std::string& type) {
    const Record* record = find_record(call.target);
    if (!record) throw FormatError("joulecast has no record of the ATen call of " + type);
    try {
        if (record->outputs) {
            for (const TensorType& output : record->outputs(call)) byte_count(output);
        }
    } catch (const Error&) {
        throw FormatError("the input of " + type + " does not fit its attributes");
    }
}

}  // namespace

Operation to_operation(const TorchLayer& layer, bool with_backward) {
    const auto* const type = std::ranges::find(layer_types, std::string_view(layer.type), &LayerType::name);
    if (type == layer_types.end()) throw FormatError("layers of class " + layer.type.substr(0, 40) + " are not known");
    Attributes attributes(layer);
    const Operation call = canonical(type->build(Build{layer, attributes, with_backward}));
    attributes.require_all_taken();
    require_possible(call, layer.type);
    return call;
}

std::optional<double> drop_probability(const TorchLayer& layer) {
    if (layer.type != "StochasticDepth" && layer.type != "Dropout" && layer.type != "Dropout2d") return std::nullopt;
    try {
        return Attributes(layer).number("p");
    } catch (const FormatError&) {
        return std::nullopt;  // to_operation() says what is wrong with it
    }
}

}  // namespace joulecast
