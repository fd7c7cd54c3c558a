#pragma once

#include <span>
#include <vector>

#include "joulecast/predict/train.h"

namespace joulecast {

/// Sets corrections, sigma_network and memory_half_width of `device` from measured networks. Their operations count as
/// forecast while held out, so that the correction is the one a new network needs. Without networks: no correction,
/// and wide default widths.
void calibrate_networks(DeviceModel& device, std::span<const TrainingRow> rows, std::span<const HeldOutTime> held_out,
                        std::span<const TrainingNetwork> networks);

/// log(measured / composed) of one network, and the part of its error that its operations' intervals explain.
struct NetworkResidual {
    std::string model;
    std::string key;
    double log_ratio = 0;
    double own_sigma = 0;
};

/// exp of the models' mean log ratio, with the weight of two more models that say 1. Batches of one model are one.
double correction_factor(std::span<const NetworkResidual> residuals);

/// Smallest systematic sigma with which the 90 % intervals hold 90 % of the residuals, each judged by the correction
/// from the other models. `residuals` may mix keys.
double systematic_sigma(std::span<const NetworkResidual> residuals);

}  // namespace joulecast
