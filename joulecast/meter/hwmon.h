#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/meter/meter.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

/// One power or energy sensor of the kernel's hwmon (root/sys/class/hwmon) or of the INA3221 driver of older Jetson
/// boards (root/sys/bus/i2c/drivers/ina3221x).
struct HwmonSensor {
    enum class Kind {
        energy,             ///< energyN_input, microjoules
        power,              ///< powerN_input or powerN_average, microwatts
        milliwatts,         ///< in_powerN_input of the old driver
        volts_and_amperes,  ///< inN_input in mV times currN_input in mA
    };
    std::string chip;   ///< "ina3221", "amdgpu"
    std::string label;  ///< "VDD_IN"; of a sensor without one "power1"
    Kind kind = Kind::power;
    std::filesystem::path file;
    std::filesystem::path amperes_file;  ///< of volts_and_amperes
    double averaged_over_s = std::numeric_limits<double>::quiet_NaN();
};

/// All sensors that answer now, in the order of the kernel's numbers.
std::vector<HwmonSensor> hwmon_sensors(const std::filesystem::path& root);

/// The sensor of the whole board (VDD_IN and the like) where there is one; else the board's rails, which are added up;
/// else the processor's own. `chip` (or a label) asks for that one alone: "amdgpu", "VDD_IN"; "amdgpu#1" for the second
/// chip of that name. Without it, sensors of which it is not known what they feed are never taken.
FoundMeter open_hwmon(const std::filesystem::path& root = "/", std::string_view chip = "", TimeSource now_s = {});

}  // namespace joulecast
