#include "cli/fleet_next.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "cli/json_tree.h"
#include "cli/measured_rows.h"
#include "joulecast/error.h"
#include "joulecast/profile/progress.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {
namespace {

namespace fs = std::filesystem;

/// More is a slip of the keyboard: a thousand nodes for three months.
constexpr double most_node_hours = 2e6;

/// A device as a line.
struct DeviceLine {
    std::string device;
    std::size_t operations = 0;
    double cost_s = 0;
    double before = 0;  ///< weighted uncertainty in log
    double after = 0;
    std::string plan;
};

const std::vector<Column<DeviceLine>>& line_columns() {
    using L = DeviceLine;
    static const std::vector<Column<L>> list = {
        {"device", "device", Show::text, [](const L& l) { return l.device; }},
        {"operations", "operations", Show::count, [](const L& l) { return static_cast<std::int64_t>(l.operations); }},
        {"node_s", "node time", Show::seconds, [](const L& l) { return l.cost_s; }},
        {"uncertainty_before", "± before", Show::percent, [](const L& l) { return std::expm1(l.before); }},
        {"uncertainty_after", "± after", Show::percent, [](const L& l) { return std::expm1(l.after); }},
        {"plan", "plan", Show::text, [](const L& l) { return l.plan.empty() ? Cell() : Cell(l.plan); }},
    };
    return list;
}

/// A database may name a device as it likes.
std::string file_name_of(const std::string& device) {
    std::string name;
    for (const char c : device) {
        const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        name += is_plain ? c : '-';
    }
    return name + ".plan";
}

/// Of each device the setting with most rows.
std::vector<MeasuredRows> rows_of_devices(const FleetNextOptions& options) {
    const Dataset dataset(options.database, Dataset::Access::read_only);
    std::vector<MeasuredRows> all = measured_rows(dataset, options.devices);
    std::set<std::string> seen;
    std::erase_if(all, [&](const MeasuredRows& rows) { return !seen.insert(rows.device.id).second; });
    return all;
}

void print(const FleetNextOptions& options, const std::vector<DeviceLine>& lines) {
    const Table table = fill(line_columns(), lines);
    if (options.output.format == "csv") return options.output.write(to_csv(table));
    if (options.output.format == "json") {
        nlohmann::ordered_json answer{{"schema", "joulecast.fleet-next/1"}, {"node_hours", options.node_hours}};
        answer["devices"] = rows_json(table);
        return options.output.write(printed(answer));
    }
    options.output.write(to_text(table) +
                         "±: half of the 90 % interval, over the networks' operations and their variants; each device "
                         "counts the same\nmeasure: joulecast fleet plan PLAN --slurm --array N ...\n");
}

}  // namespace

std::vector<Allotment> allot(std::span<const NextPlan> plans, double seconds) {
    std::vector<Allotment> allotments(plans.size());
    std::vector<std::size_t> next(plans.size(), 0);
    const auto per_second = [&](std::size_t i) {
        if (next[i] == plans[i].lines.size()) return -1.0;
        const NextOperation& line = plans[i].lines[next[i]].next;
        return plans[i].uncertainty * line.gain / line.cost_s;
    };
    while (true) {
        std::size_t best = 0;
        for (std::size_t i = 1; i < plans.size(); ++i) best = per_second(i) > per_second(best) ? i : best;
        if (plans.empty() || per_second(best) < 0) return allotments;
        const NextLine& line = plans[best].lines[next[best]++];
        if (line.next.cost_s > seconds) continue;
        seconds -= line.next.cost_s;
        allotments[best].lines.push_back(line);
        allotments[best].cost_s += line.next.cost_s;
        allotments[best].removed += plans[best].uncertainty * line.next.gain;
    }
}

void declare_fleet_next(CLI::App& command, FleetNextOptions& options) {
    command.add_option("--db", options.database, "database of measurements on several devices")
        ->type_name("FILE.db")
        ->required();
    command.add_option("--node-hours", options.node_hours, "hours of measuring, on all devices together")
        ->type_name("H")
        ->required();
    command.add_option("--plans", options.folder, "folder to write a plan for each device into")
        ->type_name("FOLDER")
        ->capture_default_str();
    command.add_option("--device", options.devices, "devices that may be used (default: all of the database)")
        ->type_name("ID...");
    command.add_option("--for", options.wish.models, "networks that matter (default: the zoo)")->type_name("MODEL...");
    command.add_option("--set", options.wish.set, "sizes of these networks, such as batch=1,8 (default: as measured)")
        ->type_name("SYMBOL=N,...")
        ->allow_extra_args(false);
    options.output.declare(command);
}

int run_fleet_next(const FleetNextOptions& options) {
    if (!(options.node_hours > 0) || options.node_hours > most_node_hours)
        throw UsageError("--node-hours takes a number above 0, such as 20");
    const double seconds = 3600 * options.node_hours;
    WhatNextWish wish = options.wish;
    wish.budget_s = seconds;
    std::vector<MeasuredRows> rows;
    std::vector<NextPlan> plans;
    for (MeasuredRows& of_device : rows_of_devices(options)) {
        try {
            plans.push_back(next_plan(of_device, wish));
            rows.push_back(std::move(of_device));
        } catch (const Error& error) {
            tell(of_device.device.id + " is left out: " + error.what());  // the database has everything of it
        }
    }
    if (plans.empty()) throw Error("there is nothing to measure next on any of these devices.");
    const std::vector<Allotment> allotments = allot(plans, seconds);
    std::error_code failure;
    fs::create_directories(options.folder, failure);
    if (failure) throw Error("cannot make " + options.folder + ": " + failure.message() + ".");
    std::vector<DeviceLine> lines;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        NextPlan plan = plans[i];
        plan.lines = allotments[i].lines;
        plan.cost_s = allotments[i].cost_s;
        DeviceLine line{plan.device,
                        plan.lines.size(),
                        plan.cost_s,
                        plan.uncertainty,
                        std::max(0.0, plan.uncertainty - allotments[i].removed),
                        ""};
        if (!plan.lines.empty()) {
            line.plan = (fs::path(options.folder) / file_name_of(plan.device)).string();
            write_plan(plan, rows[i], line.plan);
        }
        lines.push_back(std::move(line));
    }
    print(options, lines);
    return done;
}

}  // namespace joulecast::cli
