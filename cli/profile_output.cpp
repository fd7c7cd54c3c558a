#include "cli/profile_output.h"

#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <vector>

#include "cli/json_tree.h"
#include "cli/known.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/profile/progress.h"

namespace joulecast::cli {
namespace {

/// A line of the plan as --dry-run prints it.
struct Planned {
    std::string kind;
    std::string what;
    OperatingPoint point;
    double share_s = 0;
    double cost_s = 0;
};

const std::vector<Column<Planned>>& plan_columns() {
    static const std::vector<Column<Planned>> list = {
        {"kind", "kind", Show::text, [](const Planned& p) { return p.kind; }},
        {"what", "what", Show::text, [](const Planned& p) { return p.what; }},
        {"sm_clock_mhz", "clock", Show::number, [](const Planned& p) { return known(p.point.sm_clock_mhz); }},
        {"engine", "engine", Show::text, [](const Planned& p) { return p.point.engine; }},
        {"power_limit_w", "limit", Show::watts, [](const Planned& p) { return known(p.point.power_limit_w); }},
        {"estimated_share_s", "in networks", Show::seconds,
         [](const Planned& p) { return p.kind == name(Purpose::network) ? Cell(p.share_s) : Cell(); }},
        {"cost_s", "measuring", Show::seconds, [](const Planned& p) { return p.cost_s; }},
    };
    return list;
}

std::vector<Planned> planned_lines(const Plan& plan) {
    std::vector<Planned> lines;
    for (const PlannedOperation& operation : plan.operations)
        lines.push_back({std::string(name(operation.purpose)), signature(operation.operation), operation.point,
                         operation.share_s, operation.cost_s});
    for (const PlannedNetwork& network : plan.networks) {
        std::string what = with_values(network.variation.model, network.variation.symbols, " ");
        what += " " + std::string(name(network.variation.mode)) + " " + network.variation.precision;
        lines.push_back({"network", what, network.point, 0, network.cost_s});
    }
    return lines;
}

nlohmann::ordered_json summary(const Plan& plan, const Device& device) {
    return {{"schema", "joulecast.profile/1"},
            {"device", device.id},
            {"engine", plan.engine},
            {"wanted", plan.wanted},
            {"already_measured", plan.measured},
            {"planned", plan.operations.size() + plan.networks.size()},
            {"beyond_budget", plan.left_out},
            {"covered_share", plan.covered_share},
            {"estimated_s", plan.cost_s}};
}

const std::vector<Column<SweepResult>>& result_columns() {
    static const std::vector<Column<SweepResult>> list = {
        {"measured", "measured", Show::count, [](const SweepResult& r) { return r.measured; }},
        {"failed", "failed", Show::count, [](const SweepResult& r) { return r.failed; }},
        {"inferred", "inferred", Show::count, [](const SweepResult& r) { return r.inferred; }},
        {"repeated", "repeated", Show::count, [](const SweepResult& r) { return r.repeated; }},
        {"refined", "refined", Show::count, [](const SweepResult& r) { return r.refined; }},
        {"left", "left", Show::count, [](const SweepResult& r) { return r.left; }},
        {"references", "references", Show::count, [](const SweepResult& r) { return r.references; }},
        {"sigma_between", "sigma between", Show::percent, [](const SweepResult& r) { return known(r.sigma_between); }},
        {"interrupted", "interrupted", Show::text, [](const SweepResult& r) { return r.interrupted; }},
    };
    return list;
}

}  // namespace

void announce(const Plan& plan, const Device& device) {
    const std::size_t planned = plan.operations.size() + plan.networks.size();
    std::cerr << plan.measured << " of " << plan.wanted << " already measured on " << device.id << "; " << planned
              << " to measure, about " << duration_text(plan.cost_s) << '\n';
    if (plan.left_out > 0)
        std::cerr << plan.left_out << " do not fit into the budget; the others cover "
                  << show(plan.covered_share, Show::percent) << " of the networks' estimated time\n";
}

int print_plan(const Output& output, const Plan& plan, const Device& device) {
    announce(plan, device);
    const Table table = fill(plan_columns(), planned_lines(plan));
    if (output.format == "json") {
        auto answer = summary(plan, device);
        answer["plan"] = rows_json(table);
        output.write(printed(answer));
    } else {
        output.write(output.format == "csv" ? to_csv(table) : to_text(table));
    }
    return done;
}

void write_counts(const std::string& file, const Plan& plan, const Device& device, const SweepResult* result) {
    if (file.empty()) return;
    auto answer = summary(plan, device);
    answer["state"] = result == nullptr ? "measuring" : "ended";
    if (result != nullptr) answer.update(rows_json(fill(result_columns(), std::vector<SweepResult>{*result})).at(0));
    Output{.format = "json", .file = file}.write(printed(answer));
}

int print_result(const Output& output, const std::string& database, const Swept& swept) {
    const Table table = fill(result_columns(), std::vector<SweepResult>{swept.result});
    if (output.format == "json") {
        auto answer = summary(swept.plan, swept.device);
        answer.update(rows_json(table).at(0));
        output.write(printed(answer));
    } else {
        output.write(output.format == "csv" ? to_csv(table) : to_text(table));
    }
    if (std::isfinite(swept.result.sigma_between))
        std::cerr << "repeats of one operation differ by " << show(swept.result.sigma_between, Show::percent)
                  << " (sigma between; part of every interval). A single timing stops at "
                  << show(MeasureSettings{}.relative_half_width, Show::percent) << '\n';
    if (swept.result.interrupted)
        std::cerr << "interrupted. All results so far are in " << database << "; the same command continues\n";
    else if (swept.result.left > 0)
        std::cerr << "the budget is used up; " << swept.result.left
                  << " planned measurements are left. The same command continues\n";
    return swept.result.interrupted ? interrupted : done;
}
}  // namespace joulecast::cli
