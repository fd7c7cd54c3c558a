#pragma once

#include "joulecast/meter/device_state.h"
#include "joulecast/meter/nvml.h"

namespace joulecast {

/// A card's clocks, limits, temperature and throttling, by NVML.
class NvmlStateProbe final : public DeviceStateProbe {
  public:
    explicit NvmlStateProbe(NvmlGpu gpu);
    DeviceState read() override;

  private:
    NvmlGpu gpu_;
};

}  // namespace joulecast
