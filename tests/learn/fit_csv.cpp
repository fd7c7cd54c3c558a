// Oracle's helper: reads "LEARNER WORD=NUMBER ...", then training rows "x,...,y", an empty line and test rows "x,...",
// all on standard input; prints one forecast a line. "nan" is a missing value. "isolation_forest" takes the same, has
// no use for y, and prints anomaly scores.
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "joulecast/learn/isolation_forest.h"
#include "joulecast/learn/model.h"

namespace {

std::vector<double> numbers(const std::string& line) {
    std::vector<double> values;
    std::stringstream in(line);
    for (std::string item; std::getline(in, item, ',');) values.push_back(std::strtod(item.c_str(), nullptr));
    return values;
}

joulecast::LearnerSettings settings_from(std::istream& words, joulecast::Learner learner) {
    using joulecast::LearnerSettings;
    const auto count = [](double value) { return static_cast<std::size_t>(value); };
    const std::map<std::string, std::function<void(LearnerSettings&, double)>> known = {
        {"trees", [=](auto& s, double v) { s.trees.trees = count(v); }},
        {"share", [](auto& s, double v) { s.trees.features_per_split = v; }},
        {"depth", [=](auto& s, double v) { s.trees.max_depth = s.boost.max_depth = count(v); }},
        {"leaf", [=](auto& s, double v) { s.trees.min_leaf = count(v); }},
        {"seed", [=](auto& s, double v) { s.seed = count(v); }},
        {"rounds", [=](auto& s, double v) { s.boost.rounds = count(v); }},
        {"rate", [](auto& s, double v) { s.boost.learning_rate = v; }},
        {"leaves", [=](auto& s, double v) { s.boost.max_leaves = count(v); }},
        {"k", [=](auto& s, double v) { s.neighbours.k = count(v); }},
        {"by_distance", [](auto& s, double v) { s.neighbours.by_distance = v != 0; }},
        {"alpha", [](auto& s, double v) { s.linear.alpha = v; }},
        {"C", [](auto& s, double v) { s.vectors.C = v; }},
        {"epsilon", [](auto& s, double v) { s.vectors.epsilon = v; }},
        {"tolerance", [](auto& s, double v) { s.vectors.tolerance = v; }},
    };
    LearnerSettings settings = joulecast::learner_settings(learner, 100, 1);
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        known.at(word.substr(0, equals))(settings, std::stod(word.substr(equals + 1)));
    }
    return settings;
}

/// What says something of a row: a learned model, or how odd it is.
using Answer = std::function<double(std::span<const float>)>;

Answer isolation(std::istream& words, const joulecast::Samples& samples) {
    joulecast::IsolationSettings settings;
    for (std::string word; words >> word;) {
        const std::size_t equals = word.find('=');
        const auto value = std::stoul(word.substr(equals + 1));
        (word.substr(0, equals) == "trees" ? settings.trees : settings.rows_per_tree) = value;
    }
    return [forest = joulecast::fit_isolation_forest(samples, settings)](std::span<const float> row) {
        return joulecast::anomaly_score(forest, row);
    };
}

Answer learned(joulecast::Learner learner, std::istream& words, const joulecast::Samples& samples,
               const std::vector<double>& targets) {
    const auto settings = settings_from(words, learner);
    return [model = joulecast::fit_model(learner, samples, targets, settings)](std::span<const float> row) {
        return joulecast::predict(model, row);
    };
}

}  // namespace

int main() {
    std::string line;
    std::getline(std::cin, line);
    std::stringstream words(line);
    std::string learner_name;
    words >> learner_name;
    std::vector<std::vector<double>> rows;
    while (std::getline(std::cin, line) && !line.empty()) rows.push_back(numbers(line));
    const std::size_t columns = rows.at(0).size() - 1;
    joulecast::Samples samples(rows.size(), columns);
    std::vector<double> targets;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        for (std::size_t c = 0; c < columns; ++c) samples.set(i, c, static_cast<float>(rows[i][c]));
        targets.push_back(rows[i][columns]);
    }
    const auto learner = joulecast::parse_learner(learner_name);
    if (!learner && learner_name != "isolation_forest") return 1;
    const Answer answer = learner ? learned(*learner, words, samples, targets) : isolation(words, samples);
    std::cout << std::setprecision(17);
    while (std::getline(std::cin, line)) {
        std::vector<float> row;
        for (const double value : numbers(line)) row.push_back(static_cast<float>(value));
        std::cout << answer(row) << '\n';
    }
}
