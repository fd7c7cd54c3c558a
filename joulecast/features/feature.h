#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/features/dimensions.h"
#include "joulecast/physics/clock_place.h"
#include "joulecast/physics/law.h"

namespace joulecast {

/// All that a feature may look at.
struct FeatureContext {
    const Operation& operation;
    const Dimensions& dimensions;
    const Device& device;
    const OperatingPoint& point;
    Roofline roofline;                                               ///< forward, plus backward when training
    std::optional<Law> law;                                          ///< fitted for operations of this name
    double target_index = std::numeric_limits<double>::quiet_NaN();  ///< place of the target among those trained
    ClockPlace clocks = {};                                          ///< that the roofline holds at
};

/// What a model over several devices makes of a feature.
enum class Tells {
    call,        ///< shown, but of matrix products: these are one kind of work, whatever the call is named and however
                 ///< its arguments stand (addmm, linear, bmm), and are told apart by the product alone
    product,     ///< shown of those too
    one_device,  ///< never: a figure in seconds or bytes, by which trees would tell devices apart
};

/// One number about an operation on a device. Missing is NaN.
struct Feature {
    std::string_view name;  ///< stored in predictors: never renamed; a changed meaning gets a new name
    std::string_view unit;  ///< "log2" of the unit behind it, or the unit
    double (*value)(const FeatureContext&);
    Tells tells = Tells::call;
    /// Of sizes along single dimensions. Models over several devices are not taught it of element-wise calls, whose
    /// kernels go through all elements in one row.
    bool is_of_one_dimension = false;
};

/// The one list. To add a feature: one line in feature.cpp, one in docs/features.md.
std::span<const Feature> features();

/// The feature of that name, or nullptr.
const Feature* find_feature(std::string_view name);

/// As float32 for the trees; NaN for what is not finite.
float value_or_missing(const Feature& feature, const FeatureContext& context);
/// The same of each, in the order of `wanted`.
std::vector<float> feature_row(std::span<const Feature* const> wanted, const FeatureContext& context);

}  // namespace joulecast
