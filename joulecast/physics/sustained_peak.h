#pragma once

#include "joulecast/device/device.h"

namespace joulecast {

/// A card whose float32 units would draw more than its power limit at the data sheet's peak runs below that peak.
/// share = 1 where TDP >= watts_per_tflop * c * peak [TFLOP/s], c = 0.65 on nodes of 5 nm and below, else 1; below that
/// the share of the two, on nodes of 5 nm and below the s with s (0.5 + 0.5 s)^2 equal to it, since voltage falls with
/// the clock there; and from Ampere on at most 0.85 where a unit has 128 lanes, of which half share their issue with
/// integers. Found on NeuSight's float32 measurements of five GPUs (MIT licence); says nothing of matrix units.
struct SustainedRule {
    /// Of float32 arithmetic at peak; 0: the data sheet's peak holds.
    double watts_per_tflop = 0;

    friend bool operator==(const SustainedRule&, const SustainedRule&) = default;
};

/// Of the float32 peak, in (0, 1]; 1 where the sheet does not tell TDP or peak.
double sustained_share(const Device& device, const SustainedRule& rule);

/// The device with its float32 rates (products in full and vector units) at what it sustains.
Device sustained(const Device& device, const SustainedRule& rule);

}  // namespace joulecast
