#pragma once

namespace joulecast {

/// How far forecasts of one network at two clocks are off together: standard deviations of log(ratio of the forecasts /
/// ratio of what was measured) for clocks far apart. What is missed at both clocks alike cancels, so these are smaller
/// than the errors of either forecast.
///
/// Numbers that no measurement has replaced yet were chosen in sight of the pretended cards of docs/pretend.md.
struct RatioSpread {
    double time = 0.05;
    double power = 0.045;
    double energy = 0.04;
    friend bool operator==(const RatioSpread&, const RatioSpread&) = default;
};

/// Errors of neighbouring clocks are nearly the same, those of clocks far apart have less to do with each other: the
/// share of the spread that a clock_distance() has, from 0 to 1. Of time 1 - exp(-(d / 0.5)^2) is that of the variance:
/// it follows the clock smoothly. Of power and energy 1 - exp(-d / 0.25): the voltage's knee may lie between the two.
double ratio_share_of_time(double distance);
double ratio_share_of_power(double distance);

}  // namespace joulecast
