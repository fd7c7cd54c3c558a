#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include "joulecast/error.h"
#include "joulecast/measure/block_timer.h"
#include "joulecast/measure/workload.h"

namespace joulecast::torch_worker {

/// The calls cannot be captured as a CUDA graph: they wait for the device, or allocate behind the allocator's back.
class NotCapturable : public Error {
  public:
    using Error::Error;
};

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

/// What was issued to the current stream and is not done yet.
class CudaQueue {
  public:
    CudaQueue() : stream_(c10::cuda::getCurrentCUDAStream()) {}
    ~CudaQueue();
    CudaQueue(const CudaQueue&) = delete;
    CudaQueue& operator=(const CudaQueue&) = delete;

    /// `calls` calls were issued just now.
    void issued(std::int64_t calls);
    std::int64_t pending();
    void wait();

  private:
    c10::cuda::CUDAStream stream_;
    std::deque<std::pair<std::unique_ptr<CudaEvent>, std::int64_t>> ends_;
};

/// Calls issued one by one to the current stream of a GPU, which runs them while the host goes on. The workload that
/// issues them must outlive it.
class CudaWorkload final : public Workload {
  public:
    explicit CudaWorkload(Workload& issued) : issued_(issued) {}

    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return issued_.rotation(); }
    void prepare(std::int64_t calls, bool hot) override { issued_.prepare(calls, hot); }
    std::int64_t longest_run(bool hot) const override { return issued_.longest_run(hot); }
    bool runs_apart() const override { return true; }
    void issue(std::int64_t calls, bool hot) override;
    std::int64_t pending() override { return queue_.pending(); }
    void wait() override { queue_.wait(); }

  private:
    Workload& issued_;
    CudaQueue queue_;
};

/// The same calls as captured graphs of unrolled calls, at most 500 nodes and about 5 ms each, as many graphs as it
/// takes to go through all sets of tensors: a graph's addresses are fixed. The host issues one graph for many calls.
class CudaReplay final : public Workload {
  public:
    /// Throws NotCapturable. `call_s`: about what a call takes.
    CudaReplay(Workload& issued, bool hot, double call_s);

    void run(std::int64_t calls, bool hot) override;
    std::int64_t rotation() const override { return issued_.rotation(); }
    std::int64_t run_multiple() const override { return calls_per_graph_; }
    bool runs_apart() const override { return true; }
    void issue(std::int64_t calls, bool hot) override;
    std::int64_t pending() override { return queue_.pending(); }
    void wait() override { queue_.wait(); }

  private:
    using Graph = std::unique_ptr<at::cuda::CUDAGraph>;
    Graph capture(std::int64_t calls, bool hot);

    Workload& issued_;
    std::int64_t calls_per_graph_ = 1;
    std::vector<Graph> rotating_;
    std::vector<Graph> hot_;
    std::size_t next_ = 0;
    CudaQueue queue_;
};

/// Times blocks by events, so that the host's share does not count.
class CudaBlockTimer final : public BlockTimer {
  public:
    /// With `hold`, a spinning kernel keeps the stream until about all calls of the block were issued, so that none of
    /// them waits for the host. `clock_hz`: of the multiprocessors, in which the spinning is counted.
    CudaBlockTimer(double clock_hz, bool hold) : clock_hz_(clock_hz), hold_(hold) {}
    double run(Workload& workload, std::int64_t calls, bool hot) override;

  private:
    double clock_hz_;
    bool hold_;
    /// Host's time per call, the shortest of the blocks so far: calls that wait for the device wait for the spinning
    /// kernel too, and each block would hold the next one longer.
    double issue_s_ = std::numeric_limits<double>::infinity();
    CudaEvent start_;
    CudaEvent end_;
};

}  // namespace joulecast::torch_worker
