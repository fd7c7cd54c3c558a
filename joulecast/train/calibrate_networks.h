#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/forecast/compose.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// Sets corrections, the systematic sigmas and memory_half_width of `device` from the networks that were measured from
/// the host of its operations, and `hosts` from those measured from others. Their operations count as forecast while
/// held out, so that the correction is the one a new network needs. Without networks: no correction, and wide default
/// widths. Of a machine that `drifted` no factor is taken that is not plausible(): then these networks count as never
/// measured, for widths too; and no host that is further from the default than the default's own uncertainty.
void calibrate_networks(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                        std::span<const TrainingNetwork> networks, bool drifted = false);

/// Whether a correction tells how networks run, rather than of something that was not measured or of another pace.
bool plausible(const NetworkCorrection& correction);

/// A measured network beside what its calls add up to.
struct NetworkSample {
    std::string model;
    std::string key;  ///< of its correction
    NetworkParts parts;
    double measured_s = 0;
    double measured_j = std::numeric_limits<double>::quiet_NaN();
    Mode mode = Mode::inference;
    Host host = Host::cpp;
    std::string sizes = {};   ///< with model and key: what was measured, whoever issued it
    double half_width_s = 0;  ///< 95 %, of measured_s
    /// Of the device at the clocks of the network; absent for a model of one clock, whose facts hold for all.
    std::optional<PowerFacts> power = {};
};

/// Factors that bring the composed times and energies nearest to the measured ones in squared log, pulled towards 1 as
/// if a ninth of another model said so (the host's factor: a two-hundredth). Batches of one model count as one. Where
/// the host takes no time the factor is exp of the models' mean log ratio, with that ninth among them.
NetworkCorrection fit_correction(std::span<const NetworkSample> samples, const PowerFacts& power);

/// Smallest systematic sigma with which the 90 % intervals hold 90 % of the log errors, each with the standard
/// deviation that its operations explain.
struct NetworkError {
    double log_error = 0;
    double own_sigma = 0;
};
double systematic_sigma(std::span<const NetworkError> errors);

}  // namespace joulecast
