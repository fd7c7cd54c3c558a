#include "cli/forecast_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "cli/memory_output.h"
#include "joulecast/device/engine.h"
#include "joulecast/forecast/fused_calls.h"
#include "joulecast/graph/family.h"
#include "joulecast/graph/record.h"
#include "joulecast/report/table.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

/// Of several channels each.
bool has_groups(const Operation& operation) {
    if (family(operation) != Family::convolution || is_depthwise(operation)) return false;
    const Value* groups = find_argument(operation, "groups");
    const auto* count = groups == nullptr ? nullptr : std::get_if<std::int64_t>(groups);
    return count != nullptr && *count > 1;
}

}  // namespace

std::string power_evidence_words(const NetworkForecast& network) {
    const auto physical = network.power_evidence_share.find(PowerEvidence::physical);
    if (physical == network.power_evidence_share.end() || physical->second < 0.005) return "";
    const std::string text(name(PowerEvidence::physical));
    return physical->second < 0.995 ? text + " " + show(physical->second, Show::percent) : text;
}

std::string unit_of(const std::string& shown) {
    return shown.substr(std::min(shown.find(' '), shown.size()));
}

std::string without_unit(const std::string& shown) {
    return shown.substr(0, shown.find(' '));
}

std::string limit_name(const NetworkForecast& network) {
    if (network.limited_by == Bound::host) return "host";
    if (network.limited_by == Bound::power_cap) return "power limit";
    if (std::isnan(network.compute_share)) return "device";
    return network.compute_share > 0.5 ? "compute" : "memory";
}

std::string with_role(const std::string& call, const OperationForecast& operation) {
    if (operation.role == role_not_run) return call + " (not run)";
    const std::size_t plus = operation.role.find('+');
    return plus == std::string::npos ? call : call + " in " + operation.role.substr(0, plus);
}

std::string fusion_words(const NetworkForecast& network) {
    if (is_torch(network.point.engine) || network.mode != Mode::inference || network.operations.size() == 1) return "";
    if (!network.fusion)
        return network.model + ": how " + network.point.engine + " fuses " + network.precision +
               " networks was not measured, so every call counts by itself";
    const FusedCalls& calls = *network.fusion;
    if (calls.networks == 0)
        return network.model + ": " + network.point.engine + " was not measured on " + network.device +
               ". By the rules of " + calls.framework + ", " + std::to_string(calls.fused) + " of " +
               std::to_string(calls.alone + calls.fused + calls.not_run) + " calls run in the kernel of another";
    return network.model + ": by the rules of " + calls.framework + ", learnt from " + std::to_string(calls.networks) +
           (calls.networks == 1 ? " network, " : " networks, ") + std::to_string(calls.fused) + " of " +
           std::to_string(calls.alone + calls.fused + calls.not_run) + " calls run in the kernel of another, " +
           std::to_string(calls.not_run) + " not at all";
}

std::string groups_note(const NetworkForecast& network) {
    if (network.mode != Mode::training || network.memory_format != MemoryFormat::channels_last) return "";
    if (std::ranges::none_of(network.operations, [](const auto& call) { return has_groups(call.operation); }))
        return "";
    return network.model +
           ": trained with channels last, networks with convolutions of groups took 0.7 to 3.3 times as long as with "
           "contiguous images (timm, RTX 3090). Which, this forecast does not know: measure before you choose";
}

std::string indices_note(const NetworkForecast& network) {
    if (!network.beyond_indices) return "";
    return fmt::format(
        "{}: a depthwise convolution with channels last has {:.1f} billion elements. Above 2.1 billion these took ten "
        "times as long (timm, RTX 3090 and 4090): a batch of {:.0f} or less avoids it",
        network.model, network.beyond_indices->elements / 1e9, network.beyond_indices->largest_batch);
}

std::string unknown_words(const std::vector<std::string>& operations, const std::string& method) {
    if (method == "joulecast")
        return "calls have no record (" + joined(operations) + "). They are estimated from the bytes of their inputs;";
    return "calls have no forecast by the method " + method + " (" + joined(operations) +
           "). They are estimated from the data sheet alone;";
}

Shortfalls shortfalls(const std::vector<Forecast>& forecasts) {
    std::set<std::string> without_blocks, of_groups, beyond, overflows;  // at each clock the same
    Shortfalls missing;
    for (const Forecast& forecast : forecasts) {
        const NetworkForecast& network = forecast.network;
        if (const std::string note = checkpointing_note(network); !note.empty()) without_blocks.insert(note);
        if (const std::string note = groups_note(network); !note.empty()) of_groups.insert(note);
        if (const std::string note = indices_note(network); !note.empty()) beyond.insert(note);
        if (const std::string note = overflow_note(network); !note.empty()) overflows.insert(note);
        if (network.unknown_nodes > 0)
            missing.unknown.push_back(network.model + ": " + std::to_string(network.unknown_nodes) + " " +
                                      unknown_words(network.unknown_operations, network.method) +
                                      " its time is a lower bound");
    }
    missing.fits = overflows.empty();
    missing.notes.assign(without_blocks.begin(), without_blocks.end());
    missing.notes.insert(missing.notes.end(), of_groups.begin(), of_groups.end());
    missing.notes.insert(missing.notes.end(), beyond.begin(), beyond.end());
    missing.notes.insert(missing.notes.end(), overflows.begin(), overflows.end());
    missing.notes.insert(missing.notes.end(), missing.unknown.begin(), missing.unknown.end());
    return missing;
}

}  // namespace joulecast::cli
