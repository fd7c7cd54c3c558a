#include <algorithm>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>

#include "cli/json_tree.h"
#include "cli/picture.h"
#include "joulecast/error.h"
#include "lab/verbs/study.h"

namespace joulecast::cli {

int write_study(const StudyOptions& options, const StudyResult& result) {
    const auto csv = [&result] { return to_csv(result.tables.front().full); };
    if (options.output.format == "json") {
        nlohmann::ordered_json answer = {{"schema", "joulecast.study/1"}, {"study", options.study}};
        for (const StudyTable& table : result.tables) answer[table.key] = rows_json(table.full);
        answer["notes"] = result.notes;
        options.output.write(printed(answer));
    } else if (options.output.format == "csv") {
        options.output.write(csv());
    } else {
        std::string text;
        for (const StudyTable& table : result.tables) {
            const Table& shown = table.shown ? *table.shown : table.full;
            if (shown.rows.empty()) continue;
            text += (text.empty() ? "" : "\n") + table.title + "\n\n" + to_text(shown);
        }
        if (!result.notes.empty()) text += "\n" + result.notes;
        options.output.write(text);
    }
    if (!options.csv.empty()) Output{.format = "csv", .file = options.csv}.write(csv());
    if (!options.picture.empty()) write_picture(options.picture, result.plots);
    return done;
}

std::vector<MeasuredRows> studied_rows(const StudyOptions& options) {
    if (options.database.empty()) throw UsageError("this study needs a database: --db FILE");
    const Dataset dataset(options.database, Dataset::Access::read_only);
    return measured_rows(dataset, options.devices);
}

std::vector<bool> of_networks(const MeasuredRows& rows) {
    std::set<std::string> groups;
    for (const TrainingNetwork& network : rows.networks) groups.merge(operation_groups(network.graph));
    std::vector<bool> of;
    for (const TrainingRow& row : rows.operations) of.push_back(groups.contains(row.group));
    return of;
}

std::string no_variants_reason(const MeasuredRows& rows, const std::vector<bool>& of) {
    const auto besides = std::ranges::count(of, false);
    const std::string where = describe(rows) + ": ";
    if (rows.networks.empty()) return where + "no measured network, so augmentation rows cannot be separated\n";
    if (besides == 0) return where + "a measured network calls every operation: there are no augmentation rows\n";
    if (besides == std::ssize(of)) return where + "no measured network calls any of the operations\n";
    return "";
}

std::function<void(std::size_t, std::size_t)> study_progress(const std::string& what) {
    return [what](std::size_t done, std::size_t steps) { std::cerr << what << ' ' << done << " of " << steps << '\n'; };
}

std::string describe(const MeasuredRows& rows) {
    return rows.device.id + ", " + std::string(name(rows.setting.math)) + " math, " +
           std::to_string(rows.operations.size()) + " rows";
}

Learner one_learner(const StudyOptions& options, Learner otherwise) {
    if (options.learners.empty()) return otherwise;
    const auto learner = parse_learner(options.learners.front());
    if (options.learners.size() > 1 || !learner)
        throw UsageError("study " + options.study + " takes one learner by its name");
    return *learner;
}

}  // namespace joulecast::cli
