#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/train/what_next.h"

namespace joulecast {

struct TrialSettings {
    std::size_t seeds = 3;
    double test_share = 0.2;                              ///< of the groups: never trained on, never to be chosen
    double hidden_share = 0.7;                            ///< of the other groups: what there is to choose from
    std::vector<double> budgets = {0.05, 0.1, 0.2, 0.4};  ///< shares of what measuring all hidden rows took
    Learner learner = Learner::extra_trees;               ///< of the forecasts compared
    WhatNextSettings choice;
    Progress progress;
};

/// A row with what the trial needs beside.
struct TrialRow {
    const TrainingRow* row = nullptr;
    double cost_s = 0;  ///< what measuring it took
    double calls = 0;   ///< in the networks of the database
};

/// How good forecasts are after a part of the hidden rows was measured; means over seeds.
struct TrialLine {
    std::string strategy;  ///< "what_next", "share", "random"; "none" and "all" of the hidden rows
    double budget = 0;     ///< share of what measuring all of them took
    double cost_s = 0;
    double measured = 0;  ///< hidden rows chosen
    double mape = 0;      ///< over the test rows
    double mape_std = 0;  ///< standard deviation over seeds
    double median_ape = 0;
    double weighted_ape = 0;  ///< over the test rows, weighted by their calls' time in the networks; NaN without any
    double networks_ape = 0;  ///< the same over test and hidden rows, those measured counted as known
};

/// Does choosing what to measure next pay? From part of the rows, `what_next` chooses among the hidden ones; so do
/// chance and "share", which takes the largest share of the networks' time first, as a sweep with a budget does. Each
/// spends the same seconds of measuring, then forecasts are compared on rows that nobody could choose. No group is in
/// two of the three parts. Throws Error for rows without groups enough.
std::vector<TrialLine> try_what_next(const Device& device, const OperatingPoint& setting,
                                     std::span<const TrialRow> rows, const TrialSettings& settings);

}  // namespace joulecast
