#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "joulecast/evaluate/accuracy.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// An operation that was measured far slower than a forecast that had not seen it: a candidate for work on its kernel.
struct SlowOperation {
    Operation operation;
    std::string device;
    Math math = Math::ieee;
    double measured_s = 0;
    double predicted_s = 0;
    double high_s = 0;                 ///< upper end of the forecast's 90 % interval
    std::int64_t calls = 1;            ///< in the networks asked about; 1 where none were
    std::vector<std::string> reasons;  ///< likely_reasons(); none: its sizes tell nothing

    double lost_s() const { return (measured_s - predicted_s) * static_cast<double>(calls); }
    double factor() const { return measured_s / predicted_s; }
};

struct SlowSettings {
    double least_factor = 1.25;  ///< of measured over forecast time, and beyond the forecast's interval
    /// How often an operation is called, by signature; empty: each counts once. Operations not in it are left out.
    std::map<std::string, std::int64_t> calls = {};
};

/// Those of the held-out times (model "joulecast", metric time) that are far slower, most time lost first. `rows` are
/// the rows that were held out, of one device and setting; a forecast is found by group and measured time.
std::vector<SlowOperation> slow_operations(std::span<const OutOfFoldRow> held_out, std::span<const TrainingRow> rows,
                                           const Device& device, Math math, const SlowSettings& settings = {});

/// What an operation's sizes, types and strides say of why it may run far below its roofline, most telling first:
/// so little work that launching decides, a grouped or depthwise convolution, inputs that lie strided, matrix sizes or
/// channels that do not fill 16 bytes, products that no matrix unit computes, few input channels.
std::vector<std::string> likely_reasons(const PreparedOperation& operation, const Device& device, Math math);

}  // namespace joulecast
