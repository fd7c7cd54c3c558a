#include "joulecast/train/choose_model.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "joulecast/forecast/forecast_log.h"
#include "joulecast/train/fit_models.h"
#include "joulecast/units/statistics.h"

namespace joulecast {
namespace {

/// Of one family, in a network. Over so many, errors that lie about zero shrink by the square root; what they have in
/// common stays, so it counts that much more.
constexpr double different_calls = 10;
/// A reading whose errors of single operations are larger than the best one's by no more than this may win by its sums.
constexpr double nearly_as_good = 1.1;

/// That of a choice, which is added where there is none yet.
CandidateScore& score_of(std::vector<CandidateScore>& scores, const ModelChoice& choice) {
    const auto found =
        std::find_if(scores.begin(), scores.end(), [&](const CandidateScore& s) { return s.choice == choice; });
    return found == scores.end() ? scores.emplace_back(choice) : *found;
}

/// Of rows of one family and mode, as one choice forecasts their time.
struct Sums {
    double forecast_s = 0;
    double measured_s = 0;
};

/// Of the times that `scores` holds of the rows `outside`.
void add_errors_of_sums(HeldOutScores& scores, std::span<const TrainingRow> rows,
                        std::span<const std::size_t> outside) {
    std::map<std::tuple<Family, Mode, ModelChoice>, Sums> sums;
    for (std::size_t place = 0; place < outside.size(); ++place) {
        const TrainingRow& row = rows[outside[place]];
        for (const auto& [choice, held] : scores.times[place]) {
            if (std::isnan(held.log_value)) continue;
            Sums& sum = sums[{row.operation.family(), mode(row.operation.operation), choice}];
            sum.forecast_s += std::exp(held.log_value);
            sum.measured_s += row.time_s;
        }
    }
    for (const auto& [key, sum] : sums) {
        const auto& [family, mode, choice] = key;
        score_of(scores.scores[{family, Metric::time}], choice)
            .absolute_log_error_of_sum.push_back(std::abs(std::log(sum.forecast_s / sum.measured_s)));
    }
}

void add_score(CandidateScore& of_choice, const LogForecast& forecast, double measured) {
    const double error = std::abs(forecast.log_value - measured);
    of_choice.absolute_log_error.push_back(error);
    of_choice.score.push_back(error / forecast.scale);
}

void keep(HeldOutTime& held, Metric metric, const LogForecast& forecast) {
    if (metric == Metric::time) {
        held.log_value = forecast.log_value;
        held.half_width = forecast.scale;
    } else if (metric == Metric::power) {
        held.log_watts = forecast.log_value;
        held.watts_half_width = forecast.scale;
    }
}

}  // namespace

double loss(const CandidateScore& candidate) {
    const double of_sums = candidate.absolute_log_error_of_sum.empty() ? 0 : mean(candidate.absolute_log_error_of_sum);
    return mean(candidate.absolute_log_error) + std::sqrt(different_calls) * of_sums;
}

const CandidateScore& best_candidate(std::span<const CandidateScore> scores) {
    const auto rows = [](const CandidateScore& candidate) { return candidate.absolute_log_error.size(); };
    const auto error = [](const CandidateScore& candidate) { return mean(candidate.absolute_log_error); };
    const CandidateScore& first = *std::min_element(scores.begin(), scores.end(), [&](const auto& a, const auto& b) {
        return rows(a) == rows(b) ? error(a) < error(b) : rows(a) > rows(b);
    });
    const CandidateScore* best = &first;
    for (const CandidateScore& score : scores) {
        const bool is_like = score.choice.learner == first.choice.learner && rows(score) == rows(first);
        if (is_like && error(score) <= nearly_as_good * error(first) && loss(score) < loss(*best)) best = &score;
    }
    return *best;
}

std::vector<Reading> readings(Metric metric, Learner learner) {
    const bool has_trees = learner == Learner::extra_trees || learner == Learner::random_forest;
    std::vector<Reading> readings{{}};
    if (metric != Metric::time) return readings;
    if (has_trees) readings.push_back({Middle::midmean, PartWeights::alike});
    for (Reading reading : std::vector(readings)) {
        reading.weights = PartWeights::by_work;
        readings.push_back(reading);
    }
    return readings;
}

HeldOutScores score_rows(const DeviceModel& model, std::span<const TrainingRow> rows,
                         std::span<const std::size_t> outside, Learner learner) {
    const auto columns = all_columns();
    std::map<Metric, std::vector<Reading>> ways_of;
    for (const Metric metric : all_metrics) ways_of[metric] = readings(metric, learner);
    HeldOutScores scores;
    scores.times.resize(outside.size());
    for (std::size_t place = 0; place < outside.size(); ++place) {
        const TrainingRow& row = rows[outside[place]];
        const Family family = row.operation.family();
        for (const auto& [metric, ways] : ways_of) {
            const auto measured = learned_log(row, metric);
            const FamilyModel* of_family = find_model(model, family, metric);
            if (!measured || !of_family) continue;
            const auto features = feature_row(model, *of_family, columns, row.operation);
            const auto forecasts = forecast_log(model, *of_family, columns, row.operation, features, ways);
            for (std::size_t way = 0; way < forecasts.size(); ++way) {
                const ModelChoice choice{learner, ways[way]};
                add_score(score_of(scores.scores[{family, metric}], choice), forecasts[way], *measured);
                keep(scores.times[place][choice], metric, forecasts[way]);
            }
        }
    }
    add_errors_of_sums(scores, rows, outside);
    return scores;
}

void append(CandidateScores& sum, const HeldOutScores& scores) {
    const auto add = [](std::vector<double>& to, const std::vector<double>& more) {
        to.insert(to.end(), more.begin(), more.end());
    };
    for (const auto& [part, of_part] : scores.scores) {
        for (const CandidateScore& score : of_part) {
            CandidateScore& found = score_of(sum[part], score.choice);
            add(found.absolute_log_error, score.absolute_log_error);
            add(found.score, score.score);
            add(found.absolute_log_error_of_sum, score.absolute_log_error_of_sum);
        }
    }
}

}  // namespace joulecast
