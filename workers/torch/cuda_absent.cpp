// Stands in for cuda_device.cpp where the wheel was built without CUDA.
#include "workers/torch/torch_device.h"

namespace joulecast::torch_worker {

CudaDevices open_cuda_devices() {
    return {{}, "this worker was built against a torch without CUDA"};
}

}  // namespace joulecast::torch_worker
