#include "cli/what_next.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

#include "cli/json_tree.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/profile/augment.h"
#include "joulecast/profile/plan.h"
#include "joulecast/profile/progress.h"
#include "joulecast/profile/request.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

/// Variants of each network's operations that are looked at besides.
constexpr std::int64_t variants_of_network = 24;

/// The types that rows were measured in, as words for precisions.
std::vector<std::string> precisions_of(const MeasuredRows& rows) {
    std::set<Dtype> types;
    for (const TrainingRow& row : rows.operations) types.insert(compute_dtype(row.operation.operation));
    std::vector<std::string> words;
    const bool tf32 = rows.setting.math == Math::tf32;
    if (types.contains(Dtype::f32) || types.empty()) words.emplace_back(tf32 ? "tf32" : "fp32");
    // What else was measured beside tf32 is not a matter of how float32 is multiplied.
    if (types.contains(Dtype::bf16)) words.emplace_back("bf16");
    if (types.contains(Dtype::f16)) words.emplace_back("fp16");
    return words;
}

std::vector<Mode> modes_of(const MeasuredRows& rows) {
    std::set<Mode> modes;
    for (const TrainingRow& row : rows.operations) modes.insert(mode(row.operation.operation));
    return {modes.begin(), modes.end()};
}

/// Values of each symbol as measured networks had them.
std::map<std::string, std::vector<std::int64_t>> measured_symbols(const MeasuredRows& rows) {
    std::map<std::string, std::set<std::int64_t>> seen;
    for (const TrainingNetwork& network : rows.networks) {
        for (const auto& [symbol, value] : network.measurement.symbols) seen[symbol].insert(value);
    }
    std::map<std::string, std::vector<std::int64_t>> set;
    for (const auto& [symbol, values] : seen) set[symbol] = {values.begin(), values.end()};
    return set;
}

/// Candidates by signature, with the calls of all networks that have them.
class Candidates {
  public:
    explicit Candidates(const MeasuredRows& rows) : rows_(rows) {
        for (const OperationRow& row : rows.rows) measured_.insert(signature(row.measurement.operation));
        most_bytes_ = most_held_bytes(rows.device.memory_bytes);
    }

    void add(const Operation& operation, std::int64_t calls) {
        if (!is_measurable(operation)) return;
        std::string text = signature(operation);
        if (measured_.contains(text)) return;
        const auto [found, is_new] = place_.try_emplace(std::move(text), all_.size());
        if (is_new) {
            PreparedOperation prepared = prepare(operation, rows_.device, rows_.setting.math);
            if (held_bytes(prepared) > most_bytes_) {
                found->second = too_large;
                ++too_large_;
                return;
            }
            all_.push_back({std::move(prepared), 0});
        }
        if (found->second != too_large) all_[found->second].calls += static_cast<double>(calls);
    }

    const std::vector<CandidateOperation>& all() const { return all_; }
    std::size_t larger_than_memory() const { return too_large_; }

  private:
    static constexpr std::size_t too_large = static_cast<std::size_t>(-1);

    static double held_bytes(const PreparedOperation& operation) {
        double bytes = operation.dimensions.output_bytes;
        for (const TensorType* type : tensors(operation.operation)) bytes += static_cast<double>(byte_count(*type));
        return bytes * (mode(operation.operation) == Mode::training ? 2 : 1);
    }

    const MeasuredRows& rows_;
    std::set<std::string> measured_;
    std::map<std::string, std::size_t> place_;
    std::vector<CandidateOperation> all_;
    double most_bytes_ = 0;
    std::size_t too_large_ = 0;
};

/// Adds what one model has to offer; returns the number of networks (sizes, modes, precisions).
std::size_t add_model(const std::string& model, const ProfileRequest& like, const MeasuredRows& rows,
                      Candidates& candidates) {
    ProfileRequest request = like;
    request.models = {model};
    const Graph graph = open_model(model, shipped_folder("zoo"));
    std::erase_if(request.set, [&](const auto& symbol) { return !graph.symbols.contains(symbol.first); });
    const auto networks = variations(request, shipped_folder("zoo"), rows.device.kind);
    for (const Variation& network : networks) {
        for (const CountedOperation& counted : count_operations(network.graph))
            candidates.add(counted.operation, counted.count);
    }
    for (const Sample& sample : augment(networks, {variants_of_network, 1, rows.device.memory_bytes}))
        candidates.add(sample.operation, 0);
    return networks.size();
}

const std::vector<Column<NextLine>>& next_columns() {
    using L = NextLine;
    static const std::vector<Column<L>> list = {
        {"operation", "operation", Show::text, [](const L& l) { return signature(l.operation); }},
        {"kind", "of", Show::text,
         [](const L& l) { return std::string(l.is_augmentation ? "augmentation" : "networks"); }},
        {"time_s", "forecast", Show::seconds, [](const L& l) { return l.next.time_s; }},
        {"uncertainty", "±", Show::percent, [](const L& l) { return std::expm1(l.next.uncertainty); }},
        {"share", "of networks", Show::percent, [](const L& l) { return l.next.share; }},
        {"gain", "gain", Show::percent, [](const L& l) { return l.next.gain; }},
        {"cost_s", "measuring", Show::seconds, [](const L& l) { return l.next.cost_s; }},
    };
    return list;
}

/// Lines of the list that people are shown.
constexpr std::size_t shown_lines = 20;

}  // namespace

NextPlan next_plan(const MeasuredRows& rows, const WhatNextWish& wish) {
    ProfileRequest request;
    request.modes = modes_of(rows);
    request.precisions = precisions_of(rows);
    for (const std::string& setting : wish.set) add_setting(request.set, setting);
    if (wish.set.empty()) request.set = measured_symbols(rows);
    Candidates candidates(rows);
    NextPlan plan;
    plan.device = rows.device.id;
    const auto models = wish.models.empty() ? zoo_names(shipped_folder("zoo")) : wish.models;
    for (const std::string& model : models) {
        try {
            plan.networks += add_model(model, request, rows, candidates);
        } catch (const Error& error) {
            if (!wish.models.empty()) throw;  // asked for by name
            std::cerr << "joulecast: left out " << model << ": " << error.what() << '\n';
        }
    }
    if (candidates.larger_than_memory() > 0)
        std::cerr << "joulecast: left out " << candidates.larger_than_memory()
                  << " operations that would take more than a quarter of the memory of " << rows.device.id << '\n';
    if (candidates.all().empty()) throw Error("the database has every operation of these networks already.");
    WhatNextSettings settings;
    settings.budget_s = wish.budget_s;
    const WhatNext next =
        what_next(rows.device, rows.setting, rows.operations, candidates.all(), MeasuringCost(rows.rows), settings);
    for (const NextOperation& chosen : next.chosen) {
        const CandidateOperation& candidate = candidates.all()[chosen.candidate];
        plan.lines.push_back({candidate.operation.operation, chosen, candidate.calls == 0});
    }
    plan.cost_s = next.cost_s;
    plan.uncertainty = next.uncertainty;
    plan.candidates = next.candidates;
    plan.not_considered = next.not_considered;
    return plan;
}

void write_plan(const NextPlan& plan, const MeasuredRows& rows, const std::string& file) {
    std::ostringstream text;
    text << "# What to measure next on " << plan.device
         << ", by joulecast train --what-next: the most accuracy per second first.\n"
         << "# " << plan.lines.size() << " operations, about " << duration_text(plan.cost_s) << ":\n"
         << "#   joulecast profile " << file << " --db FILE --device "
         << (rows.device.kind == Device::Kind::cpu ? "cpu" : "cuda:0");
    if (rows.setting.threads > 0 && rows.device.kind == Device::Kind::cpu)
        text << " --threads " << rows.setting.threads;
    text << "\nprecision = " << (rows.setting.math == Math::tf32 ? "tf32" : "fp32") << '\n'
         << "host = " << name(rows.setting.host) << '\n';
    for (const NextLine& line : plan.lines) text << "operation = " << signature(line.operation) << '\n';
    Output{.format = "table", .file = file}.write(text.str());
}

std::string to_text(const NextPlan& plan, const WhatNextWish& wish) {
    auto shown = plan.lines;
    shown.resize(std::min(shown.size(), shown_lines));
    std::string text = "\nto measure next on " + plan.device + ": " + std::to_string(plan.lines.size()) + " of " +
                       std::to_string(plan.candidates) + " operations that " + std::to_string(plan.networks) +
                       " networks and their variants have and the database does not have, in about " +
                       duration_text(plan.cost_s) + "\n\n" + joulecast::to_text(fill(next_columns(), shown));
    if (plan.lines.size() > shown.size())
        text += "and " + std::to_string(plan.lines.size() - shown.size()) + " more: " + wish.plan + "\n";
    if (plan.not_considered > 0)
        text +=
            std::to_string(plan.not_considered) + " candidates were skipped: their forecasts are already sure enough\n";
    return text +
           "gain: share of the candidates' weighted uncertainty that is removed\nmeasure them: joulecast profile " +
           wish.plan + " --db FILE\n";
}

nlohmann::ordered_json to_json(const NextPlan& plan, const WhatNextWish& wish) {
    nlohmann::ordered_json answer{{"plan", wish.plan},
                                  {"device", plan.device},
                                  {"budget_s", wish.budget_s},
                                  {"estimated_s", plan.cost_s},
                                  {"networks", plan.networks},
                                  {"candidates", plan.candidates},
                                  {"not_considered", plan.not_considered}};
    answer["operations"] = rows_json(fill(next_columns(), plan.lines));
    return answer;
}

std::string to_csv(const NextPlan& plan) {
    return joulecast::to_csv(fill(next_columns(), plan.lines));
}

}  // namespace joulecast::cli
