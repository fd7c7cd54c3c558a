#include "cli/diff_costs.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/clock_text.h"
#include "cli/json_tree.h"
#include "joulecast/device/engine.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

using Json = nlohmann::ordered_json;

Json network_json(const NetworkForecast& n) {
    return {{"model", n.model},
            {"time_s", estimate_json(n.time)},
            {"energy_j", estimate_json(n.energy)},
            {"power_w", estimate_json(n.power)},
            {"peak_memory_bytes", estimate_json(n.cost.peak_memory)},
            {"resident_bytes", number_or_null(n.resident_bytes)},
            {"limited_by", name(n.limited_by)},
            {"lower_bound", n.lower_bound}};
}

Json difference_json(const CostDifference& d) {
    Json answer = interval_json(d.value, d.low, d.high);
    answer["exceeds_error"] = std::isfinite(d.value) ? Json(d.exceeds_error()) : Json(nullptr);
    return answer;
}

/// The shared error of both cancels, so the interval is that of the difference alone.
std::string difference_text(const CostDifference& d, Show how) {
    if (!std::isfinite(d.value)) return "";
    if (d.value == 0 && d.low == 0 && d.high == 0) return ": no difference";
    const bool is_more = d.value > 0;
    const double low = is_more ? d.low : -d.high;
    const double high = is_more ? d.high : -d.low;
    return ": " + show(std::abs(d.value), how) + (is_more ? " more" : " less") + " (90 %: " + show(low, how) + " – " +
           show(high, how) + "), " + (d.exceeds_error() ? "beyond the error" : "within the error");
}

std::string line(const std::string& what, double before, double after, const CostDifference& d, Show how,
                 const std::string& arrow) {
    if (std::isnan(before) && std::isnan(after)) return "";
    const auto shown = [&](double value) { return std::isnan(value) ? std::string("–") : show(value, how); };
    return what + " " + shown(before) + arrow + shown(after) + difference_text(d, how) + "\n";
}

}  // namespace

DiffCosts::DiffCosts(Forecast before, Forecast after, const DeviceModel& device)
    : before_(std::move(before)),
      after_(std::move(after)),
      operations_before_(by_signature(before_.network)),
      operations_after_(by_signature(after_.network)),
      difference_(difference(before_.network, after_.network, device)) {}

DiffCosts::BySignature DiffCosts::by_signature(const NetworkForecast& network) {
    BySignature operations;
    for (const OperationForecast& operation : network.operations) {
        if (operation.part != StepPart::forward) continue;
        const CallsCost own{operation.cost.device_time.value.value(), operation.energy.value.value()};
        const auto [found, is_first] = operations.try_emplace(signature(operation.operation), operation.count, own);
        if (is_first) continue;
        MeanCost& mean = found->second;
        mean.calls += operation.count;
        const double weight = static_cast<double>(operation.count) / static_cast<double>(mean.calls);
        mean.each.time_s += weight * (own.time_s - mean.each.time_s);
        mean.each.energy_j += weight * (own.energy_j - mean.each.energy_j);
    }
    return operations;
}

CallsCost DiffCosts::cost(const BySignature& operations, const std::string& signature, std::int64_t count) {
    const auto found = operations.find(signature);
    if (found == operations.end() || count == 0) return {};
    const auto calls = static_cast<double>(count);
    return {calls * found->second.each.time_s, calls * found->second.each.energy_j};
}

CallsCost DiffCosts::before(const std::string& signature, std::int64_t count) const {
    return cost(operations_before_, signature, count);
}

CallsCost DiffCosts::after(const std::string& signature, std::int64_t count) const {
    return cost(operations_after_, signature, count);
}

Json DiffCosts::to_json() const {
    const NetworkForecast& n = after_.network;
    return {{"device", n.device},
            {"device_name", after_.device_name},
            {"predictor", n.predictor},
            {"predictor_note", after_.note},
            {"mode", name(n.mode)},
            {"precision", n.precision},
            {"engine", n.point.engine},
            {"host", name(n.point.host)},
            {"clock_mhz", number_or_null(n.point.sm_clock_mhz)},
            {"memory_clock_mhz", number_or_null(n.point.memory_clock_mhz)},
            {"before", network_json(before_.network)},
            {"after", network_json(n)},
            {"difference",
             {{"time_s", difference_json(difference_.time_s)},
              {"energy_j", difference_json(difference_.energy_j)},
              {"peak_memory_bytes", difference_json(difference_.peak_memory_bytes)},
              {"resident_bytes", number_or_null(difference_.resident_bytes)}}}};
}

std::string DiffCosts::to_text(const std::string& arrow) const {
    const NetworkForecast& a = before_.network;
    const NetworkForecast& b = after_.network;
    CostDifference resident;
    resident.value = resident.low = resident.high = difference_.resident_bytes;
    const std::string clock = std::isnan(b.asked.sm_clock_mhz) ? "" : " at " + clock_text(b);
    std::string text = after_.device_name + clock + ", " + b.precision + ", host " + host_text(b.point) +
                       "; predictor " + b.predictor + "\n";
    text += line("time", a.time.value.value(), b.time.value.value(), difference_.time_s, Show::seconds, arrow);
    text += line("energy", a.energy.value.value(), b.energy.value.value(), difference_.energy_j, Show::joules, arrow);
    if (!b.energy.known()) text += "energy –: " + b.energy_missing_reason + "\n";
    text += line("peak memory", a.cost.peak_memory.value.value(), b.cost.peak_memory.value.value(),
                 difference_.peak_memory_bytes, Show::bytes, arrow);
    text += line("parameters and inputs", a.resident_bytes, b.resident_bytes, resident, Show::bytes, arrow);
    return text;
}

}  // namespace joulecast::cli
