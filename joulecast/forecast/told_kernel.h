#pragma once

#include <optional>
#include <span>
#include <vector>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/forecast/kernel_rules.h"

namespace joulecast {

// What is told of a call's kernel on a device that was never measured, before measurements on it correct that: by the
// experts on other devices, or by a rule.

/// What a call's kernel takes by itself, in seconds.
struct Told {
    double value = 0;
    bool is_own = false;  ///< by the device's own expert
};

/// What answers for the kernel of a call.
struct KernelKind {
    const TrainedLaw* law = nullptr;  ///< nullptr: nothing does
    Family family = Family::other;    ///< of the experts that know it
    KernelRule::Pass rule = nullptr;  ///< answers in their place, where nobody measured such a call
};

/// What knows the call's kernel. Products of f32 in tf32 run on tensor cores, so who knows those of 16 bits is asked,
/// relative to the peak for TF32 and the bytes of f32. (Asked as if for 16 bits, they were no better: convolutions of
/// an A30 95 % off, in place of 89 %.)
KernelKind kernel_kind(const DeviceModel& device, const PreparedOperation& operation);

/// What the kind says of the call; absent where nobody knows such calls.
std::optional<Told> told_kernel_s(const DeviceModel& device, std::span<const Feature* const> columns,
                                  const PreparedOperation& operation, const KernelKind& kind);
/// A convolution in float32 as the matrix product that it is (float32_convolution.h); absent where it is told as
/// itself.
std::optional<Told> told_as_product(const DeviceModel& device, std::span<const Feature* const> columns,
                                    const PreparedOperation& operation);
/// Experts of the family tell no less of such calls, nor of calls with more work.
double least_told_s(const DeviceModel& device, const PreparedOperation& operation, Family family);

/// 3^-(years between two devices / scale); 1 for a scale of 0 or a year that is not known.
double age_weight(double one_year, double other_year, double scale);

/// The row that a model over devices is shown: features that Tells forbids are missing in it.
std::vector<float> relative_row(const DeviceModel& device, const FamilyModel& model,
                                std::span<const Feature* const> columns, const PreparedOperation& operation);

}  // namespace joulecast
