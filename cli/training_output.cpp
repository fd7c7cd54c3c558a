#include "cli/training_output.h"

#include <algorithm>
#include <iostream>
#include <set>
#include <string_view>
#include <vector>

#include "cli/host_text.h"
#include "cli/trained_models.h"
#include "joulecast/device/engine.h"
#include "joulecast/device/threads_text.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/graph/family.h"
#include "joulecast/report/table.h"
#include "joulecast/train/calibrate_networks.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

nlohmann::ordered_json to_json(const PhysicalPower& power) {
    return {{"devices", power.devices}, {"rows", power.rows},     {"still", power.still},
            {"flop", power.flop},       {"byte", power.byte},     {"matrix", power.matrix},
            {"other", power.other},     {"tensor", power.tensor}, {"half_width", power.half_width}};
}

/// Share of the networks' different calls that no row stands for.
double unmeasured_share(const MeasuredRows& rows) {
    std::set<std::string> measured;
    for (const TrainingRow& row : rows.operations) measured.insert(row.group);
    std::int64_t calls = 0, missing = 0;
    for (const TrainingNetwork& network : rows.networks) {
        for (const CountedOperation& counted : count_operations(network.graph)) {
            if (costs_nothing(family(counted.operation))) continue;
            calls += counted.count;
            if (!measured.contains(operation_group(counted.operation))) missing += counted.count;
        }
    }
    return calls > 0 ? static_cast<double>(missing) / static_cast<double>(calls) : 0;
}

/// "core clocks 510 to 1410 MHz; "
std::string clocks_text(const DeviceModel& device) {
    if (!device.over_clocks) return "";
    const auto& trained = device.over_clocks->trained;
    const auto [low, high] = std::ranges::minmax(trained, {}, &TrainedClock::sm_clock_mhz);
    return "measured at core clocks from " + show(low.sm_clock_mhz, Show::number) + " to " +
           show(high.sm_clock_mhz, Show::number) + " MHz; ";
}

/// "; fusion of fp32 by the kernels of 17 networks (onnxruntime 1.32.0)".
std::string fusion_text(const FusionModel& fusion) {
    return "; fusion of " + fusion.precision + " by the kernels of " + std::to_string(fusion.networks) +
           (fusion.networks == 1 ? " network (" : " networks (") + fusion.framework + ")";
}

std::string no_networks_text(const DeviceModel& device) {
    return device.published ? "no measured networks, so the error of sums of operations is unknown"
                            : "no measured networks, so network times are not corrected";
}

/// "h200 (tf32): 84 operations are kept. Operations left out are 14 % off by a model over other devices adjusted to the
/// rest, 31 % by models of its own".
std::string kept_text(const KeptDevice& kept) {
    std::string text =
        kept.device.id + " (" + std::string(name(kept.point.math)) + "): " + std::to_string(kept.operations.size()) +
        " operations are kept. Operations left out are " + show(kept.left_out.from_others, Show::percent) +
        " off by a model over other devices adjusted to the rest, " + show(kept.left_out.of_own, Show::percent) +
        " by models of its own";
    if (kept.left_out_by_work)
        text += "; smaller or larger ones than the rest " + show(kept.left_out_by_work->from_others, Show::percent) +
                " and " + show(kept.left_out_by_work->of_own, Show::percent);
    return text;
}

}  // namespace

nlohmann::ordered_json training_to_json(const Predictor& predictor, const std::string& path, std::uintmax_t bytes) {
    nlohmann::ordered_json answer{{"schema", "joulecast.training/1"}, {"predictor", path}, {"bytes", bytes}};
    answer["models"] = rows_json(trained_models(predictor));
    answer["predictor_method"] = method_name(predictor);
    if (!predictor.devices.empty()) answer["physical_power"] = to_json(predictor.devices.front().physical_power);
    answer["devices"] = nlohmann::ordered_json::array();
    for (const DeviceModel& device : predictor.devices) {
        nlohmann::ordered_json entry{{"device", device.device.id},      {"math", name(device.point.math)},
                                     {"threads", device.point.threads}, {"laws", device.laws.size()},
                                     {"networks", device.networks},     {"sigma_network", device.sigma_network}};
        entry["network_factors"] = nlohmann::ordered_json::object();
        for (const NetworkCorrection& correction : device.corrections) {
            entry["network_factors"][correction.key] = correction.factor;
            entry["network_host_factors"][correction.key] = correction.host_factor;
            entry["network_energy_factors"][correction.key] = correction.energy_factor;
        }
        entry["engine"] = device.point.engine;
        entry["trained_clocks"] = nlohmann::ordered_json::array();
        if (device.over_clocks) {
            for (const TrainedClock& clock : device.over_clocks->trained)
                entry["trained_clocks"].push_back({{"sm_clock_mhz", clock.sm_clock_mhz},
                                                   {"memory_clock_mhz", clock.memory_clock_mhz},
                                                   {"rows", clock.rows}});
        }
        entry["host"] = name(device.point.host);
        entry["hosts"] = nlohmann::ordered_json::array();
        for (const HostExtra& extra : device.hosts)
            entry["hosts"].push_back({{"host", name(extra.host)},
                                      {"mode", name(extra.mode)},
                                      {"seconds_per_call", extra.seconds_per_call},
                                      {"sigma", extra.sigma},
                                      {"networks", extra.networks}});
        if (device.power.known()) entry["idle_power_w"] = device.power.idle_w;
        answer["devices"].push_back(entry);
    }
    answer["kept"] = nlohmann::ordered_json::array();
    for (const KeptDevice& kept : predictor.kept) {
        answer["kept"].push_back({{"device", kept.device.id},
                                  {"math", name(kept.point.math)},
                                  {"operations", kept.operations.size()},
                                  {"telling", kept.telling.size()},
                                  {"error", kept.left_out.from_others},
                                  {"error_of_own", kept.left_out.of_own}});
        if (!kept.left_out_by_work) continue;
        answer["kept"].back()["error_by_work"] = kept.left_out_by_work->from_others;
        answer["kept"].back()["error_of_own_by_work"] = kept.left_out_by_work->of_own;
    }
    answer["over_devices"] = nlohmann::ordered_json::array();
    for (const PooledModel& pooled : predictor.pooled) {
        answer["over_devices"].push_back({{"math", name(pooled.point.math)},
                                          {"devices", pooled.devices},
                                          {"rows", pooled.rows},
                                          {"watts_per_tflop", pooled.sustained.watts_per_tflop},
                                          {"bandwidth_by_memory", pooled.sustained.by_memory},
                                          {"latency_by_clock", pooled.sustained.by_clock},
                                          {"sigma_common", pooled.prior.common},
                                          {"sigma_compute", pooled.prior.compute},
                                          {"sigma_memory", pooled.prior.memory},
                                          {"sigma_family", pooled.prior.of_family}});
    }
    return answer;
}

void tell_corrections(const DeviceModel& device, const MeasuredRows& rows) {
    for (const NetworkCorrection& correction : device.corrections) {
        if (plausible(correction)) continue;
        const double missing = unmeasured_share(rows);
        std::cerr << "joulecast: networks on " << device.device.id << " (" << correction.key << ") take "
                  << show(correction.factor, Show::number)
                  << " times the sum of their operations; forecasts are scaled by "
                  << "this factor. ";
        if (missing > 0.05)
            std::cerr
                << "Cause: " << show(missing, Show::percent)
                << " of their calls were never measured. Measure them: joulecast profile, with a larger --budget\n";
        else
            std::cerr << "Nearly all calls were measured, so the machine was faster or slower, or networks run "
                         "differently from their operations. Measure again while nothing else runs\n";
    }
}

void tell_refused(const DeviceModel& device, const MeasuredRows& rows) {
    std::set<std::string> refused;
    for (const TrainingNetwork& network : rows.networks) {
        const NetworkMeasurement& m = network.measurement;
        const std::string key = correction_key(m.mode, m.precision);
        const bool is_known = std::ranges::any_of(device.corrections, [&key](const auto& c) { return c.key == key; });
        if (m.real.host == device.point.host && is_timed(m.outcome) && !is_known) refused.insert(key);
    }
    if (refused.empty()) return;
    std::cerr << "joulecast: no factor is taken from the networks on " << device.device.id << " ("
              << joined(std::vector(refused.begin(), refused.end())) << "): the machine's pace ranged over "
              << show(rows.pace_range - 1, Show::percent)
              << " while they and their operations were measured. They count as never measured. Measure again while "
                 "nothing else runs: joulecast doctor\n";
}

std::string training_to_text(const Predictor& predictor, const std::string& path, std::uintmax_t bytes) {
    std::string text = path + ": " + show(static_cast<double>(bytes), Show::bytes) + ", from " +
                       std::to_string(predictor.origin.rows) + " rows\n";
    const Table models = trained_models(predictor);
    if (!models.rows.empty()) text += "\n" + joulecast::to_text(models);
    if (method_name(predictor) != "joulecast")
        text += "\nmethod " + description(predictor.devices.front().published->method) +
                ": a network is the sum of its operations, without corrections\n";
    for (const DeviceModel& device : predictor.devices) {
        text += "\n" + device.device.id + " (" + std::string(name(device.point.math)) + ", " +
                threads_text(device.point.threads) + (is_torch(device.point.engine) ? "" : ", " + device.point.engine) +
                "): ";
        text += clocks_text(device);
        text +=
            device.networks == 0 ? no_networks_text(device) : std::to_string(device.networks) + " measured networks";
        for (const NetworkCorrection& correction : device.corrections) {
            text += "; " + correction.key + " x " + show(correction.factor, Show::number);
        }
        for (const FusionModel& fusion : device.fusions) text += fusion_text(fusion);
        for (const HostExtra& extra : device.hosts) text += "; " + host_text(extra);
        text += '\n';
    }
    for (const KeptDevice& kept : predictor.kept) text += "\n" + kept_text(kept) + "\n";
    for (const PooledModel& pooled : predictor.pooled) {
        text += "\nover devices (" + std::string(name(pooled.point.math)) +
                "), for others of their kind: " + joined(pooled.devices) + "\n";
    }
    return text;
}

}  // namespace joulecast::cli
