#pragma once

#include <string>

#include "tests/fake_nvml/fake_state.h"

namespace joulecast::testing {

/// A pretended NVIDIA driver for tests: no test ever touches a real card. Link fake_nvml and write
///
///     FakeNvml fake;                      // one A30, idle, clocks free, at 100 ms ticks
///     fake.gpu().may_change = false;      // steer it at any time ...
///     Nvml::open(fake.library(), why);    // ... in this process, or in any started from here:
///     EXPECT_EQ(fake.gpu().locked_graphics_mhz, 0U);  // what they did stays, even after a SIGKILL
///
/// $JOULECAST_NVML (the library to load) and $FAKE_NVML_STATE (the file of the state) are set while it lives, so a
/// program under test that calls default_nvml_library() meets the fake. From a shell or Python: set both, the second to
/// path(). One FakeNvml at a time.
class FakeNvml {
  public:
    FakeNvml();
    ~FakeNvml();
    FakeNvml(const FakeNvml&) = delete;
    FakeNvml& operator=(const FakeNvml&) = delete;

    FakeState& state() { return *state_; }
    FakeGpu& gpu(unsigned index = 0) { return state_->gpus[index]; }
    const std::string& path() const { return path_; }

    /// The fake as a driver of today has it, and one as a driver of 2016 had it: no _v2 or _v3 names, no locks, no
    /// energy counter, no field values.
    static std::string library();
    static std::string old_library();

    /// Adds a card with the next index, like the first.
    FakeGpu& add_gpu();
    /// Makes time stand still until the test moves it.
    void take_over_time(double call_s = 0);
    void advance(double seconds) { state_->now_s += seconds; }
    /// What a reboot or a reload of the driver does: locks and limits are forgotten.
    void reboot();

  private:
    std::string path_;
    FakeState* state_ = nullptr;
};

}  // namespace joulecast::testing
