#include "workers/torch/peak_memory.h"

#include <algorithm>
#include <memory>
#include <mutex>

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

namespace joulecast::torch_worker {

namespace {

/// ATen's allocator reports each allocation (and the release of those it reported) to the profiler of the thread.
class PeakRecorder final : public c10::MemoryReportingInfoBase {
  public:
    void reportMemoryUsage(void* /*pointer*/, int64_t size, std::size_t /*allocated*/, std::size_t /*reserved*/,
                           c10::Device device) override {
        if (!device.is_cpu()) return;
        const std::lock_guard lock(mutex_);
        now_ += size;
        peak_ = std::max(peak_, now_);
    }
    bool memoryProfilingEnabled() const override { return true; }

    std::int64_t peak() const { return peak_; }

  private:
    std::mutex mutex_;
    std::int64_t now_ = 0;
    std::int64_t peak_ = 0;
};

}  // namespace

std::int64_t peak_memory(const std::function<void()>& work) {
    const auto recorder = std::make_shared<PeakRecorder>();
    {
        const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, recorder);
        work();
    }
    return recorder->peak();
}

}  // namespace joulecast::torch_worker
