#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "cli/device_survey.h"
#include "cli/forecast_text.h"
#include "joulecast/answer/session.h"
#include "joulecast/recommend/objective.h"

namespace joulecast::cli {

/// What `compare` is asked.
struct Comparing {
    Question question;   ///< of one network in one execution
    double samples = 0;  ///< of the whole job; 0: one run
    Prices prices;
    DevicePrices device_prices;
    std::string currency;  ///< shown beside money: "EUR"; may be empty
};

/// What a job takes on one device over what it takes on another; narrower than the quotient of two intervals where
/// errors are shared.
struct JobRatios {
    Estimate<Ratio> time;
    Estimate<Ratio> energy;
    Estimate<Ratio> price;
};

/// What the job takes on a device. A price that nobody gave, and energy that nobody knows, leave NaN.
struct DeviceJob {
    Forecast forecast;
    double runs = 1;
    Estimate<Seconds> time;
    Estimate<Joules> energy;
    Estimate<Ratio> price;     ///< in the currency of the prices
    Estimate<Ratio> carbon_g;  ///< grams of CO2
    double memory_bytes = 0;   ///< weights, inputs and the peak above them
    bool fits = true;          ///< into the device's memory
    JobRatios over_first;
};

/// Of the devices whose memory holds the network the one that takes least of something, and those that tie with it.
/// Empty: none holds it, or nobody knows.
struct Least {
    std::string device;
    std::vector<std::string> ties;
};

struct Comparison {
    double samples = 0;
    std::string currency;
    std::vector<DeviceJob> jobs;  ///< by device, as named
    Least time;
    Least energy;
    Least price;
    std::vector<std::string> notes;
};

/// Whether the interval holds 1: nobody can tell which of the two is better.
bool is_tie(const Estimate<Ratio>& ratio);

/// Throws what Session::answer() throws, and UsageError for a question that is not of one network in one execution.
Comparison compare_devices(const Comparing& comparing, const SessionSettings& settings, const Session::Tell& tell);

/// A column for each device, as many side by side as the terminal has room for.
std::string comparison_to_text(const Comparison& comparison, const TextSettings& settings);
/// "joulecast.comparison/1".
std::string comparison_to_json(const Comparison& comparison);
/// A row for each device.
std::string comparison_to_csv(const Comparison& comparison);

}  // namespace joulecast::cli
