#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/forecast/published/subject.h"

namespace joulecast {

/// Number `index` of an argument (the last, if the list is shorter), or the schema's default; NaN where the operation
/// has no such argument or it is no number.
double argument_item(const Operation& operation, std::string_view name, std::size_t index = 0);

/// The operator as a layer's class would be called: "aten::relu_" and "aten::relu" are both "relu".
std::string layer_name(const Operation& operation);

/// Nicolai 2025, section 4.2, and the attributes of the published program: bias, in_channels, out_channels,
/// kernel_size, padding, stride, in_features, out_features, inplace, affine, eps, momentum, num_features, p,
/// output_size, and four sizes of the input. (No dilation and no groups: the thesis has neither.) NaN where one does
/// not apply.
std::vector<double> thesis_attributes(const Operation& operation);
/// Names of the above, in order.
const std::vector<std::string>& thesis_attribute_names();

/// The input vector of the thesis: each attribute (-1 where it does not apply) and its flag, the one-hot name among
/// `names`, the clock in MHz (-1 where it is not known).
std::vector<float> thesis_row(const Subject& subject, const std::vector<std::string>& names);

/// Hyper-parameters of a layer as Sponner et al. 2022 (section 7.1) give them to their regressors: numbers, and
/// discrete ones one-hot. Zero where one does not apply: models are per layer type, so such a column is constant.
std::vector<float> layer_hyper_parameters(const Subject& subject);
/// The same with their four further features (section 7.2): sizes of the input, weight and output, and the number of
/// operations.
std::vector<float> sponner_row(const Subject& subject);

/// A layer type as tables of the papers name it: "linear", "conv2d", "conv2d/depthwise", "conv2d/dilated".
std::string layer_kind(const Operation& operation);

/// Target, depth-wise convolution and batch norm's state apart, mode and computing type: what papers call a layer type.
std::string layer_type(const Subject& subject);
/// The same on one device: for the methods that know nothing of devices.
std::string layer_type_on_device(const Subject& subject);

}  // namespace joulecast
