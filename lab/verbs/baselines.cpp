#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/json_tree.h"
#include "joulecast/report/table.h"
#include "lab/baselines/baselines.h"
#include "lab/verbs/verbs.h"

namespace joulecast::cli {
namespace {

struct Method {
    std::string name, paper, forecasts, gaps;
};

std::vector<Method> methods() {
    std::vector<Method> methods;
    for (const Baseline& baseline : baselines()) {
        std::string metrics = "time";
        if (forecasts(baseline, BaselineMetric::power)) metrics += ", power";
        if (forecasts(baseline, BaselineMetric::energy)) metrics += ", energy";
        methods.push_back({std::string(baseline.name), std::string(baseline.paper), metrics + " of operations",
                           std::string(baseline.gaps)});
    }
    for (const NetworkBaseline& baseline : network_baselines())
        methods.push_back(
            {std::string(baseline.name), std::string(baseline.paper), "time of networks", std::string(baseline.gaps)});
    return methods;
}

const std::vector<Column<Method>>& columns() {
    static const std::vector<Column<Method>> list = {
        {"name", "name", Show::text, [](const Method& m) { return m.name; }},
        {"paper", "paper", Show::text, [](const Method& m) { return m.paper; }},
        {"forecasts", "forecasts", Show::text, [](const Method& m) { return m.forecasts; }},
        {"gaps", "no forecast", Show::text, [](const Method& m) { return m.gaps; }},
    };
    return list;
}

/// For people the gaps stand below the table, those of several methods once.
std::string to_page(const std::vector<Method>& methods) {
    const std::vector<Column<Method>> short_columns(columns().begin(), columns().begin() + 3);
    std::string text = to_text(fill(short_columns, methods)) + "\nNo forecast:\n";
    std::vector<std::string> told;
    for (const Method& method : methods) {
        if (std::ranges::find(told, method.gaps) != told.end()) continue;
        told.push_back(method.gaps);
        std::string names;
        for (const Method& other : methods) {
            if (other.gaps == method.gaps) names += (names.empty() ? "" : ", ") + other.name;
        }
        text += "  " + names + ": " + method.gaps + "\n";
    }
    return text;
}

}  // namespace

Run declare_baselines(CLI::App& command) {
    const auto output = std::make_shared<Output>();
    output->declare(command);
    return [output] {
        const std::vector<Method> list = methods();
        output->write(output->format == "csv"    ? to_csv(fill(columns(), list))
                      : output->format == "json" ? printed(rows_json(fill(columns(), list)))
                                                 : to_page(list));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
