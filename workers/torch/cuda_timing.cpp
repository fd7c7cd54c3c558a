#include "workers/torch/cuda_timing.h"

#include <c10/cuda/CUDAException.h>

namespace joulecast::torch_worker {

CudaEvent::CudaEvent() {
    C10_CUDA_CHECK(cudaEventCreate(&event_));
}

CudaEvent::~CudaEvent() {
    cudaEventDestroy(event_);
}

void CudaEvent::record(const c10::cuda::CUDAStream& stream) {
    C10_CUDA_CHECK(cudaEventRecord(event_, stream.stream()));
}

bool CudaEvent::reached() const {
    const cudaError_t status = cudaEventQuery(event_);
    if (status == cudaErrorNotReady) {
        cudaGetLastError();
        return false;
    }
    C10_CUDA_CHECK(status);
    return true;
}

double CudaEvent::seconds_since(const CudaEvent& start) {
    C10_CUDA_CHECK(cudaEventSynchronize(event_));
    float milliseconds = 0.0F;
    C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, start.event_, event_));
    return static_cast<double>(milliseconds) / 1e3;
}

CudaWorkload::~CudaWorkload() {
    // Tensors go back to the allocator only when nothing uses them any more.
    cudaStreamSynchronize(stream_.stream());
}

void CudaWorkload::run(std::int64_t calls, bool hot) {
    issued_.run(calls, hot);
    stream_.synchronize();
}

}  // namespace joulecast::torch_worker
