#pragma once

#include <string_view>

#include "joulecast/meter/meter.h"
#include "joulecast/meter/nvml.h"
#include "joulecast/meter/time_source.h"

namespace joulecast {

/// Share of each period that the card's power sensor looks at: 25 of every 100 ms on A100, H100 and H200, as Yang et
/// al. found ("Part-time Power Measurements", 2024; the H200 is taken for an H100); elsewhere all of it.
double sensor_duty(std::string_view card);

/// The card's energy counter ("nvml-counter"), which renews itself about every 100 ms; calibration finds out how often.
FoundMeter open_nvml_counter(const NvmlGpu& gpu, TimeSource now_s = {});

/// The card's power as it is now ("nvml-instant-power", field 186), to be integrated. Cards from before that field have
/// "nvml-power-usage", which is as good on them: they have no counter, and the mean over a second came after them.
FoundMeter open_nvml_power(const NvmlGpu& gpu, TimeSource now_s = {});

/// The counter, or power where there is none.
FoundMeter open_nvml_meter(const NvmlGpu& gpu, TimeSource now_s = {});

}  // namespace joulecast
