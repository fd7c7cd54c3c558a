#pragma once

#include <compare>

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
    /// Whether long streams reach the share of the bandwidth that memories of that kind and age do, else all of it.
    bool by_memory = false;
    /// Whether a kernel that does little takes a number of cycles, else as long on every device.
    bool by_clock = false;

    friend auto operator<=>(const SustainedRule&, const SustainedRule&) = default;
};

/// Of the float32 peak, in (0, 1]; 1 where the sheet does not tell TDP or peak.
double sustained_share(const Device& device, const SustainedRule& rule);

/// Of the bandwidth, in (0, 1]: 0.75 before 2017; from then on 0.87 of stacked memory (a bus of 1024 bits or more), and
/// of other memory 0.75, from 2020 on 0.84, on graphics cards (adds_at_half_rate) 0.93. NVIDIA's paper on Volta tells
/// of memory controllers that reach 95 % where Pascal's reached 76 %; Jia et al. 2019 measured 69 % on T4; matrix
/// products of few rows in AIConfigurator's tables stream weights at 83 % (A100, L40S) to 90 % (H100); networks in
/// timm's tables move what they must at 93 % and more on RTX 3090 and 4090. 1 where the rule does not go by memory.
double sustained_bandwidth_share(const Device& device, const SustainedRule& rule);

/// What a kernel takes however little it does, in seconds: 3,400 cycles of the highest clock, which is the 2 us of
/// before at 1.7 GHz, and 2 us where the rule does not go by the clock or the sheet has none.
double latency_s(const Device& device, const SustainedRule& rule);

/// The device with its float32 rates (products in full and vector units), its bandwidth and its kernels' latency as it
/// sustains them.
Device sustained(const Device& device, const SustainedRule& rule);

}  // namespace joulecast
