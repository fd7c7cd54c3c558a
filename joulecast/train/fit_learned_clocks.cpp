#include "joulecast/train/fit_learned_clocks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "joulecast/learn/folds.h"
#include "joulecast/learn/learner.h"
#include "joulecast/learn/samples.h"
#include "joulecast/physics/curve_errors.h"

namespace joulecast {
namespace {

constexpr std::size_t least_names = 3;
constexpr std::size_t least_points = 30;
/// A file holds 254 columns.
constexpr std::size_t most_words = 200;
constexpr int weight_steps = 4;
/// Trees with all the weight have to earn so much of the sum of mean |log errors|: few workloads choose by chance.
constexpr double least_gain = 0.002;

using Workloads = std::span<const SweptWorkload>;

/// Words that some of the names have, but not all; of words that the same names have, one.
std::vector<std::string> telling_words(Workloads workloads) {
    std::set<std::string> names;
    for (const SweptWorkload& workload : workloads) names.insert(workload.traits.name);
    std::map<std::string, std::vector<std::size_t>> names_of;
    std::size_t number = 0;
    for (const std::string& name : names) {
        for (const std::string& word : words_of(name)) names_of[word].push_back(number);
        ++number;
    }
    std::map<std::vector<std::size_t>, std::string> distinct;
    for (const auto& [word, having] : names_of) {
        if (having.size() > 1 && having.size() < names.size()) distinct.try_emplace(having, word);
    }
    std::vector<std::pair<std::size_t, std::string>> ranked;
    for (const auto& [having, word] : distinct) ranked.emplace_back(having.size(), word);
    std::ranges::sort(ranked, [](const auto& a, const auto& b) {
        return a.first > b.first || (a.first == b.first && a.second < b.second);
    });
    if (ranked.size() > most_words) ranked.resize(most_words);
    std::vector<std::string> words;
    for (auto& [count, word] : ranked) words.push_back(std::move(word));
    std::ranges::sort(words);
    return words;
}

/// Rows of all points, and what they miss of a curve of half arithmetic and half bytes.
struct Lessons {
    std::vector<std::vector<float>> rows;
    std::vector<double> time;
    std::vector<double> power;  ///< NaN: not metered
};

Lessons lessons_of(const ClockParameters& parameters, Workloads workloads, const std::vector<std::string>& words) {
    Lessons lessons;
    for (const SweptWorkload& workload : workloads) {
        if (workload.points.size() < 2) continue;
        const ClockedPoint& reference = reference_point(workload.points);
        const LearnedWorkload learned(parameters, reference, workload.traits);
        std::vector<float> row = learned.row(words);
        for (const ClockedPoint& point : workload.points) {
            if (!(point.time_s > 0)) continue;
            LearnedWorkload::place(row, point.x, point.y);
            lessons.rows.push_back(row);
            lessons.time.push_back(std::log(point.time_s / reference.time_s) - learned.half_time(point.x, point.y));
            lessons.power.push_back(std::log(point.power_w / reference.power_w) - learned.half_power(point.x, point.y));
        }
    }
    return lessons;
}

Forest trees_of(const Lessons& lessons, const std::vector<double>& targets, const LearnedClockSettings& settings) {
    std::vector<std::size_t> known;
    for (std::size_t i = 0; i < targets.size(); ++i) {
        if (std::isfinite(targets[i])) known.push_back(i);
    }
    if (known.size() < least_points) return {};
    Samples samples(known.size(), lessons.rows.front().size());
    std::vector<double> finite;
    for (std::size_t i = 0; i < known.size(); ++i) {
        samples.set_row(i, lessons.rows[known[i]]);
        finite.push_back(targets[known[i]]);
    }
    TreeSettings trees = joulecast::settings(Learner::extra_trees, settings.trees, settings.seed);
    trees.features_per_split = 1;  // few columns tell much, and words nothing beside them
    trees.threads = settings.threads;
    return fit_forest(samples, finite, trees);
}

LearnedMember member_of(const ClockParameters& parameters, Workloads workloads, std::vector<std::string> words,
                        const LearnedClockSettings& settings) {
    const Lessons lessons = lessons_of(parameters, workloads, words);
    LearnedMember member;
    member.words = std::move(words);
    member.time = trees_of(lessons, lessons.time, settings);
    member.power = trees_of(lessons, lessons.power, settings);
    return member;
}

/// Without words, and with those that tell names apart where there are some.
LearnedClocks members_of(const ClockParameters& parameters, Workloads workloads, const LearnedClockSettings& settings) {
    LearnedClocks clocks;
    clocks.members.push_back(member_of(parameters, workloads, {}, settings));
    std::vector<std::string> words = telling_words(workloads);
    if (!words.empty()) clocks.members.push_back(member_of(parameters, workloads, std::move(words), settings));
    return clocks;
}

/// Shares of the ways to tell a curve: none of the trees, trees, trees that know names.
using Shares = std::array<double, 3>;

std::vector<Shares> all_shares(bool has_words) {
    std::vector<Shares> shares;
    for (int trees = 0; trees <= weight_steps; ++trees) {
        for (int words = 0; words <= (has_words ? weight_steps - trees : 0); ++words) {
            const double first = static_cast<double>(trees) / weight_steps;
            const double second = static_cast<double>(words) / weight_steps;
            shares.push_back({1 - first - second, first, second});
        }
    }
    return shares;
}

/// log(told / measured) of one point, by each way.
struct HeldOutPoint {
    Shares time{};
    Shares power{};
};

double mixed(const Shares& errors, const Shares& shares) {
    double sum = 0;
    for (std::size_t way = 0; way < errors.size(); ++way) sum += shares[way] > 0 ? shares[way] * errors[way] : 0;
    return sum;
}

/// Of power none where it was not metered.
double mean_error(std::span<const HeldOutPoint> points, const Shares& time, const Shares& power) {
    double sum = 0;
    for (const HeldOutPoint& point : points) {
        const double of_time = mixed(point.time, time);
        const double of_power = mixed(point.power, power);
        sum += std::abs(of_time);
        if (std::isfinite(of_power)) sum += std::abs(of_power) + std::abs(of_time + of_power);
    }
    return sum / static_cast<double>(points.size());
}

void choose_weights(std::span<const HeldOutPoint> points, bool has_words, LearnedClocks& clocks) {
    const std::vector<Shares> shares = all_shares(has_words);
    const bool has_power = !clocks.members.front().power.roots.empty();
    double best = std::numeric_limits<double>::infinity();
    Shares time{1, 0, 0}, power{1, 0, 0};
    for (const Shares& of_time : shares) {
        for (const Shares& of_power : shares) {
            if (!has_power && of_power[0] < 1) continue;
            const double error = mean_error(points, of_time, of_power) + least_gain * (2 - of_time[0] - of_power[0]);
            if (!(error < best)) continue;
            best = error;
            time = of_time;
            power = of_power;
        }
    }
    for (std::size_t i = 0; i < clocks.members.size(); ++i) {
        clocks.members[i].time_weight = time[i + 1];
        clocks.members[i].power_weight = power[i + 1];
    }
}

void copy_weights(const LearnedClocks& from, LearnedClocks& to) {
    for (std::size_t i = 0; i < to.members.size(); ++i) {
        LearnedMember& member = to.members[i];
        // A fold may have no words, or nothing metered, where all have.
        member.time_weight = from.members[i].time_weight;
        member.power_weight = member.power.roots.empty() ? 0 : from.members[i].power_weight;
    }
}

/// Trees that do not count need no room in a file.
void drop_unweighed(LearnedClocks& clocks) {
    for (LearnedMember& member : clocks.members) {
        if (member.time_weight == 0) member.time = {};
        if (member.power_weight == 0) member.power = {};
    }
    std::erase_if(clocks.members,
                  [](const LearnedMember& member) { return member.time.roots.empty() && member.power.roots.empty(); });
}

SharedLearnedClocks shared(LearnedClocks clocks) {
    return SharedLearnedClocks(std::make_shared<const LearnedClocks>(std::move(clocks)));
}

/// One member alone, with all of the weight.
SharedLearnedClocks alone(const LearnedClocks& clocks, std::size_t member) {
    LearnedClocks single{{clocks.members[member]}};
    single.members.front().time_weight = 1;
    single.members.front().power_weight = single.members.front().power.roots.empty() ? 0 : 1;
    return shared(std::move(single));
}

/// What each way, told by others alone, misses of a workload.
void append_points(const ClockParameters& without, const LearnedClocks& clocks, const SweptWorkload& workload,
                   std::vector<HeldOutPoint>& points) {
    const ClockedPoint& reference = reference_point(workload.points);
    std::vector<WorkloadCurve> curves{curve_of(without, workload)};
    for (std::size_t i = 0; i < clocks.members.size(); ++i) {
        ClockParameters parameters = without;
        parameters.learned = alone(clocks, i);
        curves.push_back(curve_of(parameters, workload));
    }
    for (const ClockedPoint& point : workload.points) {
        if (!is_other(point, reference)) continue;
        HeldOutPoint& held_out = points.emplace_back();
        for (std::size_t way = 0; way < held_out.time.size(); ++way) {
            const WorkloadCurve& curve = curves[std::min(way, curves.size() - 1)];
            held_out.time[way] = std::log(curve.time_s(point.x, point.y) / point.time_s);
            held_out.power[way] = std::log(curve.power_w(point.x, point.y) / point.power_w);
        }
    }
}

bool has_enough(Workloads workloads) {
    std::set<std::string> names;
    std::size_t points = 0;
    for (const SweptWorkload& workload : workloads) {
        if (workload.points.size() < 2) continue;
        names.insert(workload.traits.name);
        points += workload.points.size() - 1;
    }
    return names.size() >= least_names && points >= least_points;
}

/// Fold of each workload, those of one name together.
std::vector<std::size_t> folds_of(Workloads workloads, std::size_t most_folds, std::uint64_t seed) {
    std::vector<std::string> names;
    for (const SweptWorkload& workload : workloads) names.push_back(workload.traits.name);
    const std::set<std::string> distinct(names.begin(), names.end());
    return group_folds(names, std::min(most_folds, distinct.size()), seed);
}

/// What the trees learn of the workloads of other folds.
std::vector<LearnedClocks> learned_without(const ClockParameters& parameters, Workloads workloads,
                                           std::span<const std::size_t> fold_of, const LearnedClockSettings& settings) {
    LearnedClockSettings of_fold = settings;
    of_fold.trees = std::max<std::size_t>(1, settings.trees / 2);  // enough for weights and intervals
    std::vector<LearnedClocks> folds;
    for (std::size_t fold = 0; fold <= *std::ranges::max_element(fold_of); ++fold) {
        std::vector<SweptWorkload> others;
        for (std::size_t i = 0; i < workloads.size(); ++i) {
            if (fold_of[i] != fold) others.push_back(workloads[i]);
        }
        folds.push_back(members_of(parameters, others, of_fold));
    }
    return folds;
}

/// By workload, what others tell: with its own fold left out.
struct Without {
    std::vector<std::vector<ClockResidual>> residuals;
    std::vector<std::size_t> fold_of;
    std::vector<SharedLearnedClocks> folds;

    ClockParameters parameters(ClockParameters of_all, std::size_t workload) const {
        of_all.residuals = residuals[workload];
        if (!folds.empty()) of_all.learned = folds[fold_of[workload]];
        return of_all;
    }
};

void learn_trees(ClockParameters& parameters, Workloads workloads, const LearnedClockSettings& settings,
                 Without& without) {
    without.fold_of = folds_of(workloads, settings.folds, settings.seed);
    std::vector<LearnedClocks> folds = learned_without(parameters, workloads, without.fold_of, settings);
    LearnedClocks members = members_of(parameters, workloads, settings);
    std::vector<HeldOutPoint> points;
    for (std::size_t i = 0; i < workloads.size(); ++i) {
        if (workloads[i].points.size() < 2) continue;
        append_points(without.parameters(parameters, i), folds[without.fold_of[i]], workloads[i], points);
    }
    choose_weights(points, members.members.size() > 1, members);
    for (LearnedClocks& fold : folds) {
        copy_weights(members, fold);
        without.folds.push_back(shared(std::move(fold)));
    }
    drop_unweighed(members);
    if (!members.members.empty()) parameters.learned = shared(std::move(members));
}

}  // namespace

ClockParameters with_learned_sweeps(ClockParameters parameters, Workloads workloads,
                                    const LearnedClockSettings& settings) {
    parameters.residuals = fit_residuals(parameters, workloads);
    Without without;
    without.residuals = residuals_without_each(parameters, workloads);
    if (has_enough(workloads)) learn_trees(parameters, workloads, settings, without);
    parameters.spread =
        spread_of([&](std::size_t i) { return without.parameters(parameters, i); }, workloads, parameters.spread);
    return parameters;
}

}  // namespace joulecast
