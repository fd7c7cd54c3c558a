#pragma once

#include <deque>
#include <memory>
#include <utility>

#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "joulecast/measure/workload.h"

namespace joulecast::torch_worker {

/// A moment on a stream.
class CudaEvent {
  public:
    CudaEvent();
    ~CudaEvent();
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    void record(const c10::cuda::CUDAStream& stream);
    bool reached() const;
    /// Waits for this event; seconds since the other.
    double seconds_since(const CudaEvent& start);

  private:
    cudaEvent_t event_ = nullptr;
};

/// Calls issued to the current stream of a GPU, which runs them while the host goes on. The workload that issues them
/// must outlive it.
class CudaWorkload final : public Workload {
  public:
    explicit CudaWorkload(Workload& issued) : issued_(issued), stream_(c10::cuda::getCurrentCUDAStream()) {}
    ~CudaWorkload() override;

    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return issued_.rotation(); }
    void prepare(std::int64_t calls, bool hot) override { issued_.prepare(calls, hot); }
    std::int64_t longest_run(bool hot) const override { return issued_.longest_run(hot); }

  private:
    Workload& issued_;
    c10::cuda::CUDAStream stream_;
};

}  // namespace joulecast::torch_worker
