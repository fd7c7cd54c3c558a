#include "joulecast/forecast/published/attributes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "joulecast/model/published_method.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/memory.h"

namespace joulecast {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

const Parameter* parameter(const Operation& operation, std::string_view name) {
    const Record* record = find_record(operation.target);
    if (!record) return nullptr;
    const auto found = std::find_if(record->parameters.begin(), record->parameters.end(),
                                    [&](const Parameter& p) { return p.name == name; });
    return found == record->parameters.end() ? nullptr : &*found;
}

double number(const Value& value, std::size_t index) {
    if (const auto* yes = std::get_if<bool>(&value)) return *yes ? 1 : 0;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    const auto* list = std::get_if<Integers>(&value);
    if (!list || list->empty()) return none;
    return static_cast<double>((*list)[std::min(index, list->size() - 1)]);
}

/// Whether an optional tensor is given; NaN for an operation that has no such argument.
double is_given(const Operation& operation, std::string_view name) {
    if (!parameter(operation, name)) return none;
    const Value* value = find_argument(operation, name);
    return value && !std::holds_alternative<None>(*value) ? 1 : 0;
}

/// 1 for "relu_", 0 for "relu" (there is a "relu_"), NaN for what has no such twin.
double in_place(const Operation& operation) {
    if (is_in_place(operation)) return 1;
    return find_record(sibling_target(operation.target)) ? 0 : none;
}

double input_size(const Operation& operation, std::size_t dimension) {
    const auto operands = tensors(operation);
    if (operands.empty() || dimension >= operands.front()->sizes.size()) return none;
    return static_cast<double>(operands.front()->sizes[dimension]);
}

/// A pooling without stride moves by its window.
double stride(const Operation& operation, const Dimensions& d, std::size_t index) {
    const double given = argument_item(operation, "stride", index);
    if (d.family != Family::pooling || !std::isnan(given)) return given;
    return index == 0 ? d.kernel_h : d.kernel_w;
}

bool is_linear(const Operation& operation, const Dimensions& d) {
    return d.family == Family::matmul && parameter(operation, "weight");
}

bool is_batch_norm(const Operation& operation, const Dimensions& d) {
    return d.family == Family::normalization && parameter(operation, "running_mean");
}

float plain(double value) {
    return std::isfinite(value) ? static_cast<float>(value) : 0.0F;
}

}  // namespace

double argument_item(const Operation& operation, std::string_view name, std::size_t index) {
    if (const Value* given = find_argument(operation, name)) return number(*given, index);
    const Parameter* p = parameter(operation, name);
    return p && p->default_value ? number(*p->default_value, index) : none;
}

std::string layer_name(const Operation& operation) {
    std::string_view name = operation.target;
    if (const auto colons = name.find("::"); colons != std::string_view::npos) name.remove_prefix(colons + 2);
    name = name.substr(0, name.find('.'));
    if (is_in_place(operation)) name.remove_suffix(1);
    return std::string(name);
}

const std::vector<std::string>& thesis_attribute_names() {
    static const std::vector<std::string> names{"bias",
                                                "in_channels",
                                                "out_channels",
                                                "kernel_size_0",
                                                "kernel_size_1",
                                                "padding_0",
                                                "padding_1",
                                                "stride_0",
                                                "stride_1",
                                                "in_features",
                                                "out_features",
                                                "inplace",
                                                "affine",
                                                "eps",
                                                "momentum",
                                                "num_features",
                                                "p",
                                                "output_size_0",
                                                "output_size_1",
                                                "input_size_0",
                                                "input_size_1",
                                                "input_size_2",
                                                "input_size_3"};
    return names;
}

std::vector<double> thesis_attributes(const Operation& operation) {
    const Dimensions d = dimensions(operation);
    const bool convolution = d.family == Family::convolution;
    const bool linear = is_linear(operation, d);
    const bool batch_norm = is_batch_norm(operation, d);
    return {is_given(operation, "bias"),
            convolution ? d.c : none,
            convolution ? d.k : none,
            d.kernel_h,
            d.kernel_w,
            argument_item(operation, "padding", 0),
            argument_item(operation, "padding", 1),
            stride(operation, d, 0),
            stride(operation, d, 1),
            linear ? d.gemm_k : none,
            linear ? d.gemm_n : none,
            in_place(operation),
            batch_norm ? is_given(operation, "weight") : none,
            argument_item(operation, "eps"),
            argument_item(operation, "momentum"),
            batch_norm ? d.c : none,
            argument_item(operation, "p"),
            argument_item(operation, "output_size", 0),
            argument_item(operation, "output_size", 1),
            input_size(operation, 0),
            input_size(operation, 1),
            input_size(operation, 2),
            input_size(operation, 3)};
}

std::vector<float> thesis_row(const Subject& subject, const std::vector<std::string>& names) {
    const Operation& operation = subject.operation->operation;
    std::vector<float> row;
    for (const double value : thesis_attributes(operation)) {
        row.push_back(std::isnan(value) ? -1.0F : static_cast<float>(value));
        row.push_back(std::isnan(value) ? 0.0F : 1.0F);
    }
    const std::string own = layer_name(operation);
    for (const std::string& name : names) row.push_back(name == own ? 1.0F : 0.0F);
    row.push_back(std::isnan(subject.clock_mhz) ? -1.0F : static_cast<float>(subject.clock_mhz));
    return row;
}

std::vector<float> layer_hyper_parameters(const Subject& subject) {
    const Operation& operation = subject.operation->operation;
    const Dimensions& d = subject.operation->dimensions;
    std::vector<float> row;
    for (std::size_t i = 0; i < 4; ++i) row.push_back(plain(input_size(operation, i)));
    const bool linear = is_linear(operation, d);
    for (const double value :
         std::array{d.k, d.kernel_h, d.kernel_w, stride(operation, d, 0), stride(operation, d, 1),
                    argument_item(operation, "padding", 0), argument_item(operation, "padding", 1), d.dilation,
                    d.groups, linear ? d.gemm_k : none, linear ? d.gemm_n : none,
                    argument_item(operation, "output_size", 0), argument_item(operation, "output_size", 1)}) {
        row.push_back(plain(value));
    }
    row.push_back(plain(is_given(operation, "bias")));
    row.push_back(plain(in_place(operation)));
    const auto operands = tensors(operation);
    for (const Layout order : {Layout::contiguous, Layout::channels_last}) {
        row.push_back(!operands.empty() && layout(*operands.front()) == order ? 1.0F : 0.0F);
    }
    return row;
}

std::vector<float> sponner_row(const Subject& subject) {
    const Dimensions& d = subject.operation->dimensions;
    const Counts counts = d.forward + d.backward;
    std::vector<float> row = layer_hyper_parameters(subject);
    for (const double value : std::array{d.input_bytes, d.weight_bytes, d.output_bytes,
                                         static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop)}) {
        row.push_back(plain(value));
    }
    return row;
}

std::string layer_kind(const Operation& operation) {
    const std::string layer = layer_name(operation);
    if (is_depthwise(operation)) return layer + "/depthwise";
    return dimensions(operation).dilation > 1 ? layer + "/dilated" : layer;
}

std::string layer_type(const Subject& subject) {
    return law_key(subject.operation->operation);
}

std::string layer_type_on_device(const Subject& subject) {
    return subject.device->id + "|" + layer_type(subject);
}

}  // namespace joulecast
