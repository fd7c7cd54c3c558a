#include "workers/torch/torch_device.h"

#include "joulecast/error.h"

namespace joulecast::torch_worker {

TorchDevices::TorchDevices() {
    CudaDevices cuda = open_cuda_devices();
    devices_ = std::move(cuda.devices);
    cuda_missing_reason_ = std::move(cuda.missing_reason);
    devices_.push_back(open_cpu());
}

void TorchDevices::choose(const std::string& asked) {
    const TorchDevice& wanted = find(asked);
    while (devices_[chosen_].get() != &wanted) chosen_ = (chosen_ + 1) % devices_.size();
}

TorchDevice& TorchDevices::find(const std::string& asked) const {
    if (asked.empty() || asked == chosen().facts().id) return chosen();
    std::string names;
    for (const auto& device : devices_) {
        if (asked == device->name() || asked == device->facts().id) return *device;
        names += (names.empty() ? "" : ", ") + device->name() + " (" + device->facts().id + ")";
    }
    const std::string why = cuda_missing_reason_.empty() ? "" : ". " + cuda_missing_reason_;
    throw Error("cannot measure on " + asked + ": this worker has only " + names + why);
}

}  // namespace joulecast::torch_worker
