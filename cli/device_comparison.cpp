// A network's job on several devices side by side.
#include "cli/device_comparison.h"

#include <algorithm>
#include <cmath>

#include "joulecast/error.h"
#include "joulecast/recommend/limit.h"
#include "joulecast/recommend/shared_error.h"
#include "joulecast/units/estimate_sum.h"

namespace joulecast::cli {
namespace {

/// Price or carbon of the job; time and energy err together at most, so bounds add.
Estimate<Ratio> cost_of(Objective objective, const DeviceJob& job, double per_hour, const Prices& prices) {
    const auto bound = [&](double seconds, double joules) {
        return Ratio(rule(objective).per_sample({seconds, joules, per_hour}, prices));
    };
    return {bound(job.time.value.value(), job.energy.value.value()),
            bound(job.time.low.value(), job.energy.low.value()), bound(job.time.high.value(), job.energy.high.value())};
}

double samples_of(const NetworkForecast& network) {
    const auto batch = network.symbols.find("batch");
    const auto passes = static_cast<double>(network.training.accumulation);
    return batch == network.symbols.end() ? passes : passes * static_cast<double>(batch->second);
}

DeviceJob job_on(Forecast forecast, const Comparing& comparing, double per_hour) {
    DeviceJob job;
    const NetworkForecast& network = forecast.network;
    if (comparing.samples > 0) job.runs = Job{comparing.samples}.runs(samples_of(network));
    job.time = times(network.time, job.runs);
    job.energy = times(network.energy, job.runs);
    job.price = cost_of(Objective::price, job, per_hour, comparing.prices);
    job.carbon_g = cost_of(Objective::carbon, job, per_hour, comparing.prices);
    job.memory_bytes = memory_bytes(network);
    job.fits = network.overflow.empty();
    job.forecast = std::move(forecast);
    return job;
}

JobRatios ratios_between(const DeviceJob& job, const DeviceJob& other) {
    const auto is_unseen = [](const DeviceJob& of) { return of.forecast.model->unseen.has_value(); };
    const SharedError shared =
        shared_error(job.forecast.network, is_unseen(job), other.forecast.network, is_unseen(other));
    return {ratio_between(job.time, other.time, shared.time), ratio_between(job.energy, other.energy, shared.energy),
            ratio_between(job.price, other.price, std::min(shared.time, shared.energy))};
}

template <class Unit>
Least least_of(const std::vector<DeviceJob>& jobs, Estimate<Unit> DeviceJob::* of, Estimate<Ratio> JobRatios::* ratio) {
    const DeviceJob* best = nullptr;
    const auto takes = [of](const DeviceJob& job) { return (job.*of).value.value(); };
    for (const DeviceJob& job : jobs) {
        if (job.fits && (job.*of).known() && (!best || takes(job) < takes(*best))) best = &job;
    }
    if (!best) return {};
    Least least{best->forecast.network.device, {}};
    for (const DeviceJob& job : jobs) {
        if (&job == best || !job.fits || !(job.*of).known()) continue;
        if (is_tie(ratios_between(job, *best).*ratio)) least.ties.push_back(job.forecast.network.device);
    }
    return least;
}

double price_for(const DevicePrices& prices, const std::string& named, const std::string& id) {
    for (const std::string& key : {named, id, std::string()}) {
        if (const auto found = prices.find(key); found != prices.end()) return found->second;
    }
    return Candidate::unknown;
}

}  // namespace

bool is_tie(const Estimate<Ratio>& ratio) {
    return ratio.low.value() <= 1 && ratio.high.value() >= 1;
}

Comparison compare_devices(const Comparing& comparing, const SessionSettings& settings, const Session::Tell& tell) {
    const Question& asked = comparing.question;
    if (asked.models.size() != 1 || forecasts_of_each_network(asked) != 1)
        throw UsageError(
            "compare takes one network at one size, mode, precision, engine and host; devices are what differs");
    if (asked.devices.size() < 2) throw UsageError("compare needs two devices or more: --device a100 h100");
    Session session(settings);
    Answer answer = session.answer(asked, tell);
    Comparison comparison;
    comparison.samples = comparing.samples;
    comparison.currency = comparing.currency;
    comparison.notes = answer.notes;
    for (Forecast& forecast : answer.forecasts) {
        const std::string& named = answer.devices[forecast.device].named;
        const double per_hour = price_for(comparing.device_prices, named, forecast.network.device);
        comparison.jobs.push_back(job_on(std::move(forecast), comparing, per_hour));
    }
    for (DeviceJob& job : comparison.jobs) {
        if (&job != &comparison.jobs.front()) job.over_first = ratios_between(job, comparison.jobs.front());
    }
    comparison.time = least_of(comparison.jobs, &DeviceJob::time, &JobRatios::time);
    comparison.energy = least_of(comparison.jobs, &DeviceJob::energy, &JobRatios::energy);
    comparison.price = least_of(comparison.jobs, &DeviceJob::price, &JobRatios::price);
    return comparison;
}

}  // namespace joulecast::cli
