#include "joulecast/physics/memory_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace joulecast {
namespace {

std::string gigabytes(double bytes) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), bytes < 1e9 ? "%.0f MB" : "%.1f GB",
                  bytes < 1e9 ? bytes / 1e6 : bytes / 1e9);
    return text.data();
}

/// What takes most, and what to do about it.
std::string largest_share(const MemoryPlan& plan) {
    const double others = plan.saved_bytes + plan.gradient_bytes + plan.optimizer_bytes + plan.workspace_bytes;
    const double passing = std::max(0.0, plan.peak_bytes - others);
    const std::array<std::pair<double, const char*>, 7> parts{{
        {plan.parameter_bytes + plan.buffer_bytes,
         "most of it are parameters: a larger device, a smaller network or --precision bf16"},
        {plan.input_bytes, "most of it are inputs: a smaller batch"},
        {plan.saved_bytes, "most of it is kept for the backward pass: a smaller batch, or --checkpointing"},
        {plan.gradient_bytes, "most of it are gradients of parameters: a larger device or a smaller network"},
        {plan.optimizer_bytes, "most of it is the optimizer's state: --optimizer sgd keeps none"},
        {plan.workspace_bytes, "most of it is scratch memory of one call: a smaller batch"},
        {passing, "most of it are tensors between calls: a smaller batch"},
    }};
    return std::max_element(parts.begin(), parts.end())->second;
}

}  // namespace

std::optional<bool> MemoryFit::fits() const {
    if (!std::isfinite(exceeds_by_bytes())) return std::nullopt;
    return exceeds_by_bytes() <= 0;
}

MemoryFit memory_fit(const MemoryPlan& plan, const Device& device) {
    const double used = plan.resident_bytes + plan.peak_bytes + plan.library_bytes;
    return {std::isfinite(plan.reserved_bytes) ? std::max(used, plan.reserved_bytes) : used, device.memory_bytes};
}

std::string overflow_text(const MemoryPlan& plan, const MemoryFit& fit, const Device& device) {
    if (fit.fits().value_or(true)) return "";
    const std::string& name = device.display_name.empty() ? device.id : device.display_name;
    return "needs " + gigabytes(fit.needed_bytes) + ", " + gigabytes(fit.exceeds_by_bytes()) + " more than the " +
           gigabytes(fit.available_bytes) + " of " + name + "; " + largest_share(plan);
}

}  // namespace joulecast
