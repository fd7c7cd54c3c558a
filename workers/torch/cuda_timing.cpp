#include "workers/torch/cuda_timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include <ATen/cuda/Sleep.h>
#include <c10/cuda/CUDAException.h>
#include <c10/util/Exception.h>

namespace joulecast::torch_worker {

namespace {

/// Hides the gap between the first event and the first kernel, which an idle stream would show (5 to 10 us).
constexpr double lead_s = 20e-6;
/// A held stream must not look like a hung device.
constexpr double longest_hold_s = 0.5;
constexpr std::size_t most_nodes_per_graph = 500;
constexpr double longest_graph_s = 5e-3;
/// Beyond this many graphs the sets that are left out no longer matter.
constexpr std::int64_t most_graphs = 64;

double now_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Keeps the current stream busy for so long.
void hold_stream(double seconds, double clock_hz) {
    const double cycles = std::clamp(seconds, 0.0, longest_hold_s) * clock_hz;
    if (cycles >= 1.0) at::cuda::sleep(static_cast<std::int64_t>(cycles));
}

std::size_t nodes_of(at::cuda::CUDAGraph& graph) {
    std::size_t count = 0;
    C10_CUDA_CHECK(cudaGraphGetNodes(graph.raw_cuda_graph(), nullptr, &count));
    return count;
}

/// A capture that failed leaves the stream capturing, the error with the runtime, and the random generator in the
/// belief that a capture goes on: it would refuse every dropout from then on. A capture that succeeds tells it
/// otherwise.
void abandon(at::cuda::CUDAGraph& graph) {
    try {
        graph.capture_end();
    } catch (const std::exception&) {
        // It failed before, for the reason already known.
    }
    cudaGetLastError();
    try {
        const at::Tensor any = at::zeros({1}, at::TensorOptions().device(at::kCUDA));
        at::cuda::CUDAGraph whole;
        whole.capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
        any.fill_(1.0);
        whole.capture_end();
    } catch (const std::exception&) {
        // What needs the generator will say so itself.
    }
    cudaGetLastError();
}

}  // namespace

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

CudaQueue::~CudaQueue() {
    // Tensors go back to the allocator only when nothing uses them any more.
    cudaStreamSynchronize(stream_.stream());
}

void CudaQueue::issued(std::int64_t calls) {
    auto end = std::make_unique<CudaEvent>();
    end->record(stream_);
    ends_.emplace_back(std::move(end), calls);
}

std::int64_t CudaQueue::pending() {
    while (!ends_.empty() && ends_.front().first->reached()) ends_.pop_front();
    std::int64_t calls = 0;
    for (const auto& [end, issued] : ends_) calls += issued;
    return calls;
}

void CudaQueue::wait() {
    stream_.synchronize();
    ends_.clear();
}

void CudaWorkload::run(std::int64_t calls, bool hot) {
    issued_.run(calls, hot);
    queue_.wait();
}

void CudaWorkload::issue(std::int64_t calls, bool hot) {
    issued_.run(calls, hot);
    queue_.issued(calls);
}

CudaReplay::CudaReplay(Workload& issued, bool hot, double call_s) : issued_(issued) {
    const std::size_t nodes = std::max<std::size_t>(1, nodes_of(*capture(1, false)));
    const double fit = call_s > 0.0 ? std::max(1.0, std::floor(longest_graph_s / call_s)) : 1.0;
    const auto by_nodes = static_cast<double>(std::max<std::size_t>(1, most_nodes_per_graph / nodes));
    calls_per_graph_ = static_cast<std::int64_t>(std::min(fit, by_nodes));
    const std::int64_t rotation = issued_.rotation();
    const std::int64_t wanted = (rotation + calls_per_graph_ - 1) / calls_per_graph_;
    for (std::int64_t i = 0; i < std::min(wanted, most_graphs); ++i) {
        rotating_.push_back(capture(calls_per_graph_, false));
        rotating_.back()->instantiate();
    }
    if (!hot) return;
    hot_.push_back(capture(calls_per_graph_, true));
    hot_.back()->instantiate();
}

CudaReplay::Graph CudaReplay::capture(std::int64_t calls, bool hot) {
    if (issued_.longest_run(hot) < calls) {
        throw NotCapturable("it writes to its inputs, which a replay would not renew");
    }
    queue_.wait();
    auto graph = std::make_unique<at::cuda::CUDAGraph>(true);
    try {
        // Thread-local: other threads (a power log) may go on talking to the driver.
        graph->capture_begin({0, 0}, cudaStreamCaptureModeThreadLocal);
        issued_.run(calls, hot);
        graph->capture_end();
    } catch (const c10::Error& error) {
        const std::string message = error.what_without_backtrace();
        abandon(*graph);
        throw NotCapturable(message.substr(0, std::min<std::size_t>(message.find('\n'), 300)));
    } catch (const std::exception& error) {
        abandon(*graph);
        throw NotCapturable(error.what());
    }
    return graph;
}

void CudaReplay::run(std::int64_t calls, bool hot) {
    issue(calls, hot);
    queue_.wait();
}

void CudaReplay::issue(std::int64_t calls, bool hot) {
    const auto& graphs = hot && !hot_.empty() ? hot_ : rotating_;
    for (std::int64_t left = calls; left > 0; left -= calls_per_graph_) {
        graphs[next_ % graphs.size()]->replay();
        ++next_;
    }
    queue_.issued(calls);
}

double CudaBlockTimer::run(Workload& workload, std::int64_t calls, bool hot) {
    const c10::cuda::CUDAStream stream = c10::cuda::getCurrentCUDAStream();
    const double issuing_s = std::isfinite(issue_s_) ? static_cast<double>(calls) * issue_s_ : 0.0;
    hold_stream(lead_s + (hold_ ? 1.5 * issuing_s : 0.0), clock_hz_);
    start_.record(stream);
    const double begin_s = now_s();
    workload.issue(calls, hot);
    issue_s_ = std::min(issue_s_, (now_s() - begin_s) / static_cast<double>(calls));
    end_.record(stream);
    const double device_s = end_.seconds_since(start_);
    workload.wait();
    return device_s;
}

}  // namespace joulecast::torch_worker
