#pragma once

#include <optional>
#include <string>

#include "joulecast/measure/calibration.h"

namespace joulecast {

/// What a calibration holds for; anything else needs a new one.
struct CalibrationKey {
    std::string device;  ///< a card's UUID, or Device::id
    std::string driver;  ///< version; of a CPU the kernel's
    std::string clock;   ///< "1410 MHz", "current"
    std::string meter;   ///< MeterFacts::name
};

/// $XDG_CACHE_HOME/joulecast/calibration, or $HOME/.cache/joulecast/calibration; empty where neither is set.
std::string calibration_folder();

/// The key's file in that folder. Characters that a file name should not have become '_'.
std::string calibration_path(const std::string& folder, const CalibrationKey& key);

/// A calibration, or why the file's is not used: there is none, damaged, of another version, of another key.
struct CachedCalibration {
    std::optional<Calibration> calibration;
    std::string ignored_reason;
};

/// Reads 64 KiB at most. Never throws: a cache that cannot be read is calibrated anew.
CachedCalibration cached_calibration(const std::string& path, const CalibrationKey& key);

/// Makes the folder where it is missing; whoever reads sees the old file or the new one whole. Empty, or why it could
/// not be written (then it is calibrated again next time).
std::string store_calibration(const std::string& path, const CalibrationKey& key, const Calibration& calibration);

}  // namespace joulecast
