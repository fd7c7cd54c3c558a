#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/meter/meter.h"
#include "joulecast/meter/nvml.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

/// What a meter is wanted for. The fields below `gpu` are the machine's; tests pass in their own.
struct MeterRequest {
    /// auto, none, rapl, hwmon[:CHIP], nvml[:GPU], nvidia-smi[:GPU], command:CMD or replay:FILE.
    std::string name = "auto";
    bool for_gpu = false;   ///< what `auto` looks for
    std::string gpu = "0";  ///< NVML's index, UUID or PCI address; a GPU in `name` goes before it
    std::filesystem::path root = "/";
    std::string nvml_library = default_nvml_library();
    std::string nvidia_smi = "nvidia-smi";
    TimeSource now_s = {};
};

/// Opens a meter by its name. `auto` for a CPU is RAPL, then hwmon; for a GPU NVML, then nvidia-smi.
/// Where it finds nothing, one reason lists what was tried and what would help. `none` is no meter, on purpose.
FoundMeter open_meter(const MeterRequest& request);

/// A second look at the device of a meter that was opened by this request: its power, where that meter counts energy,
/// to hold one against the other. Only NVIDIA cards tell both.
FoundMeter open_power_beside(const MeterRequest& request, const MeterFacts& counter);

/// Throws UsageError, naming the meters there are, when open_meter knows no such name.
void check_meter_name(std::string_view name);

/// One line of what there is: every meter of the machine that can be opened without being told more.
struct SurveyedMeter {
    std::string name;  ///< as for MeterRequest: "rapl", "nvml"
    FoundMeter found;
};
std::vector<SurveyedMeter> survey_meters(const MeterRequest& request);

}  // namespace joulecast
