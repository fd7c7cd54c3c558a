#include "joulecast/dataset/pace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "joulecast/dataset/card.h"
#include "joulecast/dataset/plausible.h"
#include "joulecast/units/bounded_json.h"
#include "joulecast/units/digits.h"
#include "joulecast/units/statistics.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast {
namespace {

/// Repeats a minute apart tell that a machine drifts, but not when: a virtual machine changes its pace within seconds.
constexpr double longest_interval_s = 15;
constexpr std::size_t fewest_repeats = 3;
constexpr std::size_t fewest_repeats_of_range = 5;
/// 95 % half widths to standard deviations.
constexpr double half_width_sigmas = 1.96;

/// Rows of references do not say how many threads computed: their session's settings do.
std::int64_t threads_of(const Provenance& provenance) {
    const auto settings = parse_bounded_or_null(provenance.settings, limits_of_settings);
    if (!settings.is_object()) return 0;
    const auto threads = settings.find("threads");
    return threads != settings.end() && threads->is_number_integer() ? threads->get<std::int64_t>() : 0;
}

std::string conditions(const OperatingPoint& asked, const Provenance& provenance) {
    // Two cards of one name have a pace each, and two nodes need not agree what time it is.
    std::string text = asked.device + '\n' + card_of(provenance) + '\n' + provenance.worker + '\n' +
                       std::to_string(threads_of(provenance));
    for (const double value : {asked.sm_clock_mhz, asked.memory_clock_mhz, asked.power_limit_w})
        text += '\n' + (std::isnan(value) ? std::string("as it is") : digits(value));
    return text;
}

struct Repeat {
    double at_s = 0;
    double time_s = 0;
    double error = 0;  ///< one standard deviation, as a share
};
using Repeats = std::vector<Repeat>;

/// By conditions the operation that was repeated most, and its repeats in order of time. Pairs of drawn operations
/// stand among the rows too.
std::map<std::string, std::pair<std::string, Repeats>> most_repeated(std::span<const ReferenceRow> references) {
    std::map<std::string, std::map<std::string, Repeats>> groups;
    for (const ReferenceRow& row : references) {
        const double at_s = seconds_since_1970(row.started_at);
        if (std::isnan(at_s) || !(row.time_mean_s > 0) || implausible(row)) continue;
        const double error =
            std::isfinite(row.time_half_width_s) ? row.time_half_width_s / half_width_sigmas / row.time_mean_s : 0;
        groups[conditions(row.asked, row.provenance)][row.operation].push_back({at_s, row.time_mean_s, error});
    }
    std::map<std::string, std::pair<std::string, Repeats>> most;
    for (auto& [key, operations] : groups) {
        auto found =
            std::ranges::max_element(operations, {}, [](const auto& repeats) { return repeats.second.size(); });
        std::ranges::sort(found->second, {}, &Repeat::at_s);
        most[key] = {found->first, std::move(found->second)};
    }
    return most;
}

double median_time_s(const Repeats& repeats) {
    std::vector<double> times;
    for (const Repeat& repeat : repeats) times.push_back(repeat.time_s);
    return median(times);
}

bool follows_the_machine(const Repeats& repeats) {
    if (repeats.size() < fewest_repeats) return false;
    std::vector<double> intervals;
    for (std::size_t i = 1; i < repeats.size(); ++i) intervals.push_back(repeats[i].at_s - repeats[i - 1].at_s);
    return median(intervals) <= longest_interval_s;
}

double mean_square(std::span<const double> values) {
    double sum = 0;
    for (const double value : values) sum += value * value;
    return sum / static_cast<double>(values.size());
}

/// Of the variation, what the next repeat shares: noise of single repeats makes neighbours differ as much as any two
/// (von Neumann 1941, the mean square successive difference), the pace of a machine does not. Never more than what
/// exceeds the repeats' own errors.
double share_that_lasts(std::span<const double> log_pace, const Repeats& repeats) {
    std::vector<double> steps, errors;
    for (std::size_t i = 1; i < log_pace.size(); ++i) steps.push_back(log_pace[i] - log_pace[i - 1]);
    for (const Repeat& repeat : repeats) errors.push_back(repeat.error);
    const double whole = mean_square(log_pace);
    const double noise = std::max(mean_square(steps) / 2, mean_square(errors));
    return whole > noise ? 1 - noise / whole : 0;
}

/// A single repeat that was disturbed must not carry its neighbours away.
std::vector<double> medians_of_three(std::span<const double> values) {
    std::vector<double> smooth;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::size_t first = i == 0 ? 0 : i - 1, last = std::min(i + 1, values.size() - 1);
        smooth.push_back(median(values.subspan(first, last - first + 1)));
    }
    return smooth;
}

/// The same, but where something disturbed a single repeat: those lie four times further from their neighbours than
/// half of all do.
std::vector<double> undisturbed(std::span<const double> values) {
    std::vector<double> smooth = medians_of_three(values), distances;
    for (std::size_t i = 0; i < values.size(); ++i) distances.push_back(std::abs(values[i] - smooth[i]));
    const double usual = median(distances);
    for (std::size_t i = 0; i < values.size(); ++i)
        if (distances[i] <= 4 * usual) smooth[i] = values[i];
    return smooth;
}

template <class Result>
void divide(Result& result, double pace) {
    const auto scale = [pace](TimeSummary& time) {
        for (double* seconds : {&time.mean_s, &time.median_s, &time.half_width_s, &time.p05_s, &time.p95_s})
            *seconds /= pace;
    };
    scale(result.time);
    if (result.forward) scale(*result.forward);
    if constexpr (requires { result.hot; }) {
        if (result.hot) scale(*result.hot);
    }
    if (result.issue) {
        result.issue->issue_s /= pace;
        result.issue->eager_s /= pace;
    }
    if (result.energy)
        for (double* joules :
             {&result.energy->energy_j, &result.energy->dynamic_energy_j, &result.energy->half_width_j})
            *joules /= pace;
    for (double& block_s : result.block_s) block_s /= pace;
}

template <class Row>
void put_rows_to_one_pace(std::vector<Row>& rows, const Pace& pace) {
    for (Row& row : rows)
        divide(row.measurement,
               pace.at(row.measurement.asked, row.provenance, row.measurement.started_at, row.measurement.ended_at));
}

}  // namespace

Pace::Pace(std::span<const ReferenceRow> references, std::span<const ReferenceRow> usual) {
    const auto usually = most_repeated(usual);
    for (const auto& [key, repeated] : most_repeated(references)) {
        const auto& [operation, repeats] = repeated;
        const auto found = usually.find(key);
        if (found == usually.end() || found->second.first != operation || !follows_the_machine(repeats)) continue;
        const double usual_s = median_time_s(found->second.second);
        Course course;
        course.usual = {operation, usual_s};
        std::vector<double> log_pace;
        for (const Repeat& repeat : repeats) {
            course.at_s.push_back(repeat.at_s);
            log_pace.push_back(std::log(repeat.time_s / usual_s));
        }
        const double lasts = share_that_lasts(undisturbed(log_pace), repeats);
        course.log_pace = medians_of_three(log_pace);
        for (double& value : course.log_pace) value *= lasts;
        courses_.emplace(key, std::move(course));
    }
}

const Pace::Course* Pace::course(const OperatingPoint& asked, const Provenance& provenance) const {
    if (courses_.empty()) return nullptr;
    const auto found = courses_.find(conditions(asked, provenance));
    return found == courses_.end() ? nullptr : &found->second;
}

double Pace::Course::log_pace_at(double s) const {
    const auto next = std::ranges::lower_bound(at_s, s);
    if (next == at_s.begin()) return log_pace.front();
    if (next == at_s.end()) return log_pace.back();
    const auto i = static_cast<std::size_t>(next - at_s.begin());
    const double part = (s - at_s[i - 1]) / (at_s[i] - at_s[i - 1]);
    return (1 - part) * log_pace[i - 1] + part * log_pace[i];
}

double Pace::Course::mean_log_pace(double from_s, double to_s) const {
    double sum = 0, since_s = from_s, since = log_pace_at(from_s);
    const auto go_on = [&](double s) {
        const double now = log_pace_at(s);
        sum += (s - since_s) * (since + now) / 2;
        since_s = s;
        since = now;
    };
    for (auto s = std::ranges::upper_bound(at_s, from_s); s != at_s.end() && *s < to_s; ++s) go_on(*s);
    go_on(to_s);
    return sum / (to_s - from_s);
}

double Pace::at(const OperatingPoint& asked, const Provenance& provenance, const std::string& started_at,
                const std::string& ended_at) const {
    const Course* const known = course(asked, provenance);
    const double from_s = seconds_since_1970(started_at), to_s = seconds_since_1970(ended_at);
    if (known == nullptr || std::isnan(from_s)) return 1;
    return std::exp(to_s > from_s ? known->mean_log_pace(from_s, to_s) : known->log_pace_at(from_s));
}

std::optional<PaceReference> Pace::usual(const OperatingPoint& asked, const Provenance& provenance) const {
    const Course* const known = course(asked, provenance);
    return known == nullptr ? std::nullopt : std::optional(known->usual);
}

double Pace::median_of(const OperatingPoint& asked, const Provenance& provenance) const {
    const Course* const known = course(asked, provenance);
    return known == nullptr ? std::numeric_limits<double>::quiet_NaN() : std::exp(median(known->log_pace));
}

double pace_range(std::span<const ReferenceRow> references) {
    double largest = std::numeric_limits<double>::quiet_NaN();
    for (const auto& [key, repeated] : most_repeated(references)) {
        const Repeats& repeats = repeated.second;
        if (repeats.size() < fewest_repeats_of_range) continue;
        std::vector<double> log_pace;
        for (const Repeat& repeat : repeats) log_pace.push_back(std::log(repeat.time_s));
        const std::vector<double> smooth = medians_of_three(log_pace);
        largest = std::fmax(largest, std::exp(quantile(smooth, 0.9) - quantile(smooth, 0.1)));
    }
    return largest;
}

void put_to_one_pace(std::vector<OperationRow>& rows, const Pace& pace) {
    put_rows_to_one_pace(rows, pace);
}

void put_to_one_pace(std::vector<NetworkRow>& rows, const Pace& pace) {
    put_rows_to_one_pace(rows, pace);
}

}  // namespace joulecast
