#include "cli/device_survey.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "joulecast/answer/own_clocks.h"
#include "joulecast/error.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/recommend/survey.h"
#include "joulecast/units/joined.h"

namespace joulecast::cli {
namespace {

/// Of the device as it was named or by its id; NaN: none was given.
double price_for(const DevicePrices& prices, const std::string& named, const std::string& id) {
    for (const std::string& key : {named, id, std::string()}) {
        if (const auto found = prices.find(key); found != prices.end()) return found->second;
    }
    return Candidate::unknown;
}

/// Each reason once for a device.
void add_refusals(Survey& survey, const std::string& device, const std::vector<std::string>& refused) {
    if (refused.empty()) return;
    const std::string more = refused.size() > 1 ? " (and " + std::to_string(refused.size() - 1) + " more)" : "";
    const std::string line = device + ": " + refused.front() + more;
    if (std::ranges::find(survey.left_out, line) == survey.left_out.end()) survey.left_out.push_back(line);
    if (!survey.first_refusal) survey.first_refusal = refused.front();
}

/// All points of one run.
void add_run(Survey& survey, const NetworkForecast& network, const DeviceModel& model,
             std::span<const OperatingPoint> points) {
    Surveyed at = joulecast::survey(network, model, points);
    survey.asked += points.size() - 1;
    survey.taken += at.candidates.empty() ? 0 : at.candidates.size() - 1;
    std::ranges::move(at.candidates, std::back_inserter(survey.candidates));
    add_refusals(survey, model.device.id, at.refused);
    survey.unknown.insert(network.unknown_operations.begin(), network.unknown_operations.end());
    survey.method = network.method;
}

/// All runs of one device, and what of it was left out.
Survey survey_device(const Answer& answer, std::size_t place, const Grid& grid, const DevicePrices& prices) {
    Survey survey;
    const LoadedDevice& loaded = *answer.devices[place].loaded;
    const Device& device = loaded.device();
    survey.devices.emplace(device.id, device);
    survey.predictors.push_back(loaded.predictor_name());
    // Clocks that were named are taken to the nearest that there is, measured or not.
    const auto clocks = grid.all_clocks ? choosable_clocks_mhz(loaded) : clock_table_mhz(device);
    if (grid.all_clocks && clocks != clock_table_mhz(device))
        survey.notes.push_back("clocks of " + device.id + ": the " + std::to_string(clocks.size()) +
                               " that it is known to have, from the database");
    const auto points = grid_points(clocks, grid);
    auto left_out = answer.left_out.begin();
    const auto refuse_before = [&](std::size_t forecast) {
        for (; left_out != answer.left_out.end() && left_out->forecast <= forecast; ++left_out) {
            if (left_out->device == place) add_refusals(survey, device.id, {left_out->reason});
        }
    };
    for (std::size_t i = 0; i < answer.forecasts.size(); ++i) {
        const Forecast& forecast = answer.forecasts[i];
        refuse_before(i);
        if (forecast.device != place) continue;
        survey.notes.push_back(loaded.measured_note(*forecast.model));
        try {
            add_run(survey, forecast.network, *forecast.model, points);
        } catch (const Error& error) {  // what the device does not have at that precision
            add_refusals(survey, device.id, {error.what()});
        }
    }
    refuse_before(answer.forecasts.size());
    const double per_hour = price_for(prices, answer.devices[place].named, device.id);
    for (Candidate& c : survey.candidates) c.device_per_hour = per_hour;
    return survey;
}

void merge(Survey& whole, Survey part) {
    std::ranges::move(part.candidates, std::back_inserter(whole.candidates));
    std::ranges::move(part.left_out, std::back_inserter(whole.left_out));
    std::ranges::move(part.notes, std::back_inserter(whole.notes));
    if (!whole.first_refusal) whole.first_refusal = part.first_refusal;
    whole.asked += part.asked;
    whole.taken += part.taken;
    whole.devices.merge(part.devices);
    whole.unknown.merge(part.unknown);
    whole.method = part.method;
    for (const std::string& predictor : part.predictors) {
        if (std::ranges::find(whole.predictors, predictor) == whole.predictors.end())
            whole.predictors.push_back(predictor);
    }
}

}  // namespace

Survey survey_devices(const Answer& answer, const Grid& grid, const DevicePrices& prices) {
    std::vector<Survey> surveys(answer.devices.size());
    in_parallel(surveys.size(), 0, [&](std::size_t i) { surveys[i] = survey_device(answer, i, grid, prices); });
    Survey whole;
    for (Survey& survey : surveys) merge(whole, std::move(survey));
    const bool nothing_taken = whole.asked > 0 && whole.taken == 0;
    if (whole.first_refusal && (whole.candidates.empty() || nothing_taken))
        throw UsageError(joined(whole.left_out, "; "));
    return whole;
}

}  // namespace joulecast::cli
