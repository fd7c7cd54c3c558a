#pragma once

#include <span>
#include <string>

#include "joulecast/report/table.h"
#include "joulecast/train/network_ratios.h"

namespace joulecast::cli {

/// How far ratios of one network at two clocks are off, and how often their 90 % intervals hold what was measured;
/// empty without any.
std::string ratios_text(std::span<const NetworkRatio> ratios);
/// The same as a JSON array, by device and quantity.
Table ratio_summary_table(std::span<const NetworkRatio> ratios);
/// Every one of them.
Table ratios_table(std::span<const NetworkRatio> ratios);

}  // namespace joulecast::cli
