// Oracle's helper: reads "extra_trees|random_forest|decision_tree TREES SHARE DEPTH SEED", then training rows
// "x,...,y", an empty line and test rows "x,...", all on standard input; prints one forecast a line.
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "joulecast/learn/learner.h"

namespace {

std::vector<double> numbers(const std::string& line) {
    std::vector<double> values;
    std::stringstream in(line);
    for (std::string item; std::getline(in, item, ',');) values.push_back(std::stod(item));
    return values;
}

}  // namespace

int main() {
    std::string learner;
    joulecast::TreeSettings settings;
    std::cin >> learner >> settings.trees >> settings.features_per_split >> settings.max_depth >> settings.seed;
    settings.bootstrap = learner == "random_forest";
    settings.random_thresholds = learner == "extra_trees";
    std::string line;
    std::getline(std::cin, line);
    std::vector<std::vector<double>> rows;
    while (std::getline(std::cin, line) && !line.empty()) rows.push_back(numbers(line));
    const std::size_t columns = rows.at(0).size() - 1;
    joulecast::Samples samples(rows.size(), columns);
    std::vector<double> targets;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t c = 0; c < columns; ++c) samples.set(i, c, static_cast<float>(rows[i][c]));
        targets.push_back(rows[i][columns]);
    }
    const auto forest = joulecast::fit_forest(samples, targets, settings);
    std::cout << std::setprecision(17);
    while (std::getline(std::cin, line)) {
        std::vector<float> row;
        for (const double value : numbers(line)) row.push_back(static_cast<float>(value));
        std::cout << joulecast::predict(forest, row) << '\n';
    }
}
