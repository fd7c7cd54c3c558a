#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/device_survey.h"
#include "joulecast/answer/session.h"
#include "joulecast/device/device.h"
#include "joulecast/recommend/grid.h"
#include "joulecast/recommend/recommend.h"

namespace joulecast::cli {

/// What `recommend` is asked, by the verb or by Python.
struct Choice {
    Question question;  ///< in one host; devices without clocks
    Grid grid;
    Goal goal;
    DevicePrices device_prices;
    /// Of several networks: one setting for all of them, where a sample of the mix has so many of each; empty: a
    /// setting for each.
    std::vector<double> weights = {};
    /// Where energy or carbon is minimised and Goal has no limit on the slowdown, answers keep within usual_slowdown.
    bool keeps_usual_slowdown = true;
};

/// Times as long as at the device's default settings: what people trade for energy without being asked.
inline constexpr double usual_slowdown = 1.10;

/// Clocks as --clocks and limits as --power-limits name them; all clocks where neither does. Throws UsageError.
Grid grid(const std::string& clocks, const std::string& power_limits);

/// A recommendation with what is printed beside it.
struct Answered {
    std::string phase;  ///< of a network over sequences: "prefill", "decode"; else empty
    std::string model;
    std::size_t network = 0;  ///< place of the model in the question; of a mix the number of models
    Recommendation recommendation;
    bool slowdown_is_usual = false;         ///< its limit on the slowdown is usual_slowdown, which nobody asked for
    std::map<std::string, Device> devices;  ///< by id
    std::vector<std::string> left_out;      ///< what could not be forecast, with the reason
    std::vector<std::string> notes;         ///< on predictors
    std::vector<std::string> predictors;
    std::vector<std::string> unknown_operations;
    std::string method = "joulecast";  ///< by which those are unknown, or the published one
};

/// What each network should run on; for a language model of the zoo, then its decoding step, too. With weights the mix
/// comes first. `tell` hears every note once, as it comes up. Throws UsageError for prices that are missing,
/// limits that are no positive numbers and devices that are named with a clock, and what Session::answer() throws.
std::vector<Answered> recommendations(const Choice& choice, SessionSettings settings, const Session::Tell& tell);

/// Which operations have no record; empty where all have.
std::string unknown_note(const Answered& answered);

}  // namespace joulecast::cli
