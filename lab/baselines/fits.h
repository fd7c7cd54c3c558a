#pragma once

#include "joulecast/evaluate/baseline.h"

// One per published method; the table in baselines.cpp names them. All throw Error where the rows cannot be learned
// from (a value that is not finite); no rows at all, or too few of a layer type, leave gaps.

namespace joulecast {

using Observations = std::span<const Observation>;
using Fitted = std::unique_ptr<FittedBaseline>;

/// max(FLOPs / peak, bytes / bandwidth) of the data sheet (Williams, Waterman, Patterson 2009, fig. 1).
Fitted fit_roofline(Observations rows, const BaselineSettings& settings);
/// Qi, Sparks, Talwalkar 2017, section 4.2: read + compute + write, arithmetic at a measured percent of peak.
Fitted fit_paleo(Observations rows, const BaselineSettings& settings);
/// Sponner, Waschneck, Kumar 2022, section 6: extremely randomised trees, one per device, layer type and metric.
Fitted fit_sponner_ert(Observations rows, const BaselineSettings& settings);
/// Section 7.4 there: k nearest neighbours, k = 3, uniform weights.
Fitted fit_sponner_knn(Observations rows, const BaselineSettings& settings);
/// Nadeem, Fahringer 2009 as Sponner et al. rebuilt it (section 7.4): the value of the closest recorded layer.
Fitted fit_template_matching(Observations rows, const BaselineSettings& settings);
/// Gianniti, Zhang, Ardagna 2018: a line over the layer's complexity (forward, and backward where it trains) per type.
Fitted fit_gianniti(Observations rows, const BaselineSettings& settings);
/// Cai, Juan, Stamoulis, Marculescu 2017, eq. 1 and 4: sparse polynomials per layer type, by lasso.
Fitted fit_neuralpower(Observations rows, const BaselineSettings& settings);
/// Justus, Brennan, Bonner, McGough 2018, section III: a perceptron of 32-64-128-256 units per layer type that also
/// sees the device.
Fitted fit_justus(Observations rows, const BaselineSettings& settings);
/// Velasco-Montero et al. 2020, section IV: linear in operations, tensor sizes and weights per layer type.
Fitted fit_velasco(Observations rows, const BaselineSettings& settings);
/// Li, Sun, Jog 2023, section 5: linear in one driver (operations, input or output) per operation; on other devices by
/// the bandwidth.
Fitted fit_li23(Observations rows, const BaselineSettings& settings);
/// Yu, Gao, Golikov, Pekhimenko 2021, eq. 2 and 3: wave scaling of a time measured on another device.
Fitted fit_habitat(Observations rows, const BaselineSettings& settings);

}  // namespace joulecast
