#include "lab/studies/what_next_trial.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

using Places = std::vector<std::size_t>;

/// Places of rows, dealt by group.
struct Deal {
    Places seen, hidden, test;
};

Deal deal(std::span<const TrialRow> rows, const TrialSettings& settings, Random& random) {
    std::set<std::string> unique;
    for (const TrialRow& row : rows) unique.insert(row.row->group);
    std::vector<std::string> groups(unique.begin(), unique.end());
    shuffle(groups, random);
    const auto number = static_cast<double>(groups.size());
    const auto tested = static_cast<std::size_t>(settings.test_share * number);
    const auto hidden = static_cast<std::size_t>(settings.hidden_share * (number - static_cast<double>(tested)));
    std::map<std::string, Places Deal::*> part;
    for (std::size_t i = 0; i < groups.size(); ++i)
        part[groups[i]] = i < tested ? &Deal::test : i < tested + hidden ? &Deal::hidden : &Deal::seen;
    Deal dealt;
    for (std::size_t i = 0; i < rows.size(); ++i) (dealt.*part.at(rows[i].row->group)).push_back(i);
    if (dealt.test.empty() || dealt.hidden.empty() || dealt.seen.size() < 8)
        throw Error("too few different operations to hide some of them and test on others.");
    return dealt;
}

/// The first that fit into the budget, in that order.
Places affordable(std::span<const TrialRow> rows, const Places& order, double budget_s) {
    Places taken;
    for (const std::size_t place : order) {
        if (rows[place].cost_s > budget_s) continue;
        budget_s -= rows[place].cost_s;
        taken.push_back(place);
    }
    return taken;
}

/// One deal of the rows, on which strategies are compared.
class Trial {
  public:
    Trial(const DeviceModel& frame, std::span<const TrialRow> rows, const TrialSettings& settings, std::uint64_t seed)
        : frame_(frame), rows_(rows), settings_(settings), random_(seed) {
        dealt_ = deal(rows, settings, random_);
        for (const std::size_t place : dealt_.hidden) all_s_ += rows_[place].cost_s;
    }

    std::vector<TrialLine> lines() {
        std::vector<TrialLine> lines{line("none", 0, {})};
        for (const double budget : settings_.budgets) {
            lines.push_back(line("what_next", budget, chosen(budget * all_s_)));
            lines.push_back(line("share", budget, affordable(rows_, by_share(), budget * all_s_)));
            lines.push_back(line("random", budget, affordable(rows_, at_random(), budget * all_s_)));
        }
        lines.push_back(line("all", 1, dealt_.hidden));
        return lines;
    }

  private:
    /// All hidden rows in the order of what_next(), which sees what was measured and what the hidden ones are, but no
    /// measurement of theirs.
    Places chosen(double budget_s) {
        std::vector<TrainingRow> seen;
        std::vector<std::pair<double, double>> costs;
        for (const std::size_t place : dealt_.seen) {
            seen.push_back(*rows_[place].row);
            costs.emplace_back(seen.back().time_s, rows_[place].cost_s);
        }
        std::vector<CandidateOperation> candidates;
        for (const std::size_t place : dealt_.hidden)
            candidates.push_back({rows_[place].row->operation, rows_[place].calls});
        WhatNextSettings choice = settings_.choice;
        choice.budget_s = 1.5 * budget_s;  // more than fits: what measuring costs is only estimated
        Places order;
        for (const NextOperation& next :
             what_next(frame_.device, frame_.point, seen, candidates, MeasuringCost(costs), choice).chosen)
            order.push_back(dealt_.hidden[next.candidate]);
        return affordable(rows_, order, budget_s);
    }

    Places by_share() const {
        Places order = dealt_.hidden;
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return rows_[a].calls * seconds(rows_[a].row->operation.roofline) >
                   rows_[b].calls * seconds(rows_[b].row->operation.roofline);
        });
        return order;
    }

    Places at_random() {
        Places order = dealt_.hidden;
        shuffle(order, random_);
        return order;
    }

    TrialLine line(std::string strategy, double budget, const Places& measured) const {
        std::vector<const TrainingRow*> training;
        for (const std::size_t place : dealt_.seen) training.push_back(rows_[place].row);
        for (const std::size_t place : measured) training.push_back(rows_[place].row);
        const DeviceModel model = fit_models(frame_, training, settings_.learner, settings_.choice.training);
        TrialLine line;
        line.strategy = std::move(strategy);
        line.budget = budget;
        line.measured = static_cast<double>(measured.size());
        for (const std::size_t place : measured) line.cost_s += rows_[place].cost_s;
        const Errors test = errors(model, dealt_.test, {});
        line.mape = mean(test.relative);
        line.median_ape = median(test.relative);
        line.weighted_ape = test.weighted / test.weight;
        Places places = dealt_.test;
        places.insert(places.end(), dealt_.hidden.begin(), dealt_.hidden.end());
        const Errors networks = errors(model, places, std::set<std::size_t>(measured.begin(), measured.end()));
        line.networks_ape = networks.weighted / networks.weight;
        return line;
    }

    struct Errors {
        std::vector<double> relative;
        double weighted = 0, weight = 0;
    };
    Errors errors(const DeviceModel& model, const Places& places, const std::set<std::size_t>& known) const {
        const auto columns = all_columns();
        Errors errors;
        for (const std::size_t place : places) {
            const TrainingRow& row = *rows_[place].row;
            const double weight = rows_[place].calls * row.time_s;
            errors.weight += weight;
            if (known.contains(place)) continue;
            const double time = forecast_operation(model, columns, row.operation, {}).cost.device_time.value.value();
            errors.relative.push_back(std::abs(time / row.time_s - 1));
            errors.weighted += weight * errors.relative.back();
        }
        return errors;
    }

    const DeviceModel& frame_;
    std::span<const TrialRow> rows_;
    const TrialSettings& settings_;
    Random random_;
    Deal dealt_;
    double all_s_ = 0;
};

/// The same line of every seed.
TrialLine mean_of(const std::vector<TrialLine>& lines) {
    const auto over = [&](double TrialLine::* figure) {
        std::vector<double> values;
        for (const TrialLine& line : lines) values.push_back(line.*figure);
        return values;
    };
    TrialLine result = lines.front();
    for (double TrialLine::* figure : {&TrialLine::cost_s, &TrialLine::measured, &TrialLine::mape,
                                       &TrialLine::median_ape, &TrialLine::weighted_ape, &TrialLine::networks_ape})
        result.*figure = mean(over(figure));
    result.mape_std = standard_deviation(over(&TrialLine::mape));
    return result;
}

}  // namespace

std::vector<TrialLine> try_what_next(const Device& device, const OperatingPoint& setting,
                                     std::span<const TrialRow> rows, const TrialSettings& settings) {
    const DeviceModel frame = frame_of(device, setting);
    std::vector<std::vector<TrialLine>> of_line;
    for (std::size_t seed = 0; seed < settings.seeds; ++seed) {
        const auto lines = Trial(frame, rows, settings, settings.choice.training.seed + seed).lines();
        of_line.resize(lines.size());
        for (std::size_t i = 0; i < lines.size(); ++i) of_line[i].push_back(lines[i]);
        if (settings.progress) settings.progress(seed + 1, settings.seeds);
    }
    std::vector<TrialLine> result;
    for (const auto& lines : of_line) result.push_back(mean_of(lines));
    return result;
}

}  // namespace joulecast
