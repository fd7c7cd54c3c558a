#pragma once

#include <filesystem>
#include <limits>
#include <vector>

#include "joulecast/meter/device_state.h"

namespace joulecast {

/// A CPU's clock (mean of scaling_cur_freq over the used cores), frequency governor, temperature and thermal
/// throttling, as Linux tells them below `root`. What a machine does not tell stays NaN, as in most virtual machines.
///
/// thermally_limited_s is the longest of the used cores and packages. Kernels that only count throttle events have
/// none; then a read after which events were counted says so by throttle_reasons (NVML's bit "hardware thermal"). On
/// boards it is "software thermal" while the kernel cools by lowering the clock or a Raspberry Pi's firmware does, and
/// "power brake" while the firmware sees too low a voltage.
class CpuStateProbe final : public DeviceStateProbe {
  public:
    /// `processors`: the logical ones in use; empty: those this process may run on.
    explicit CpuStateProbe(std::filesystem::path root = "/", std::vector<int> processors = {});
    DeviceState read() override;

  private:
    double clock_mhz() const;
    void read_throttling(DeviceState& state);

    std::filesystem::path root_;
    std::vector<int> processors_;
    std::vector<std::filesystem::path> temperature_files_;  ///< millidegrees; the hottest counts
    double throttle_events_ = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace joulecast
