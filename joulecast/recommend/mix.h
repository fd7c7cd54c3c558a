#pragma once

#include <span>
#include <vector>

#include "joulecast/recommend/candidate.h"

namespace joulecast {

/// Ways of running several networks at the same clock, limit, precision, mode and batch of a device. A sample of the
/// mix is made of `weights[i]` samples of network i over the sum of all weights; a run is one such sample.
///
/// Times and energies add up with their intervals: on one device a model errs alike, so no error cancels (cautious).
/// A ratio over the default settings is the mean of the networks' ratios by what each takes at the default settings,
/// and so are its bounds. Memory is that of the network that needs most: networks run one after the other. Ways that
/// not every network has are left out. In the order of the first network's ways.
std::vector<Candidate> mixed(std::span<const std::vector<Candidate>> networks, std::span<const double> weights);

}  // namespace joulecast
