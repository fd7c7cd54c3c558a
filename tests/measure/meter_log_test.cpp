#include "joulecast/measure/meter_log.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

namespace joulecast {
namespace {

/// Its value renews itself with every fifth reading; it is lost after `most` readings.
class SlowCounter final : public Meter {
  public:
    explicit SlowCounter(int most) : most_(most) { facts_.counts_energy = true; }
    const MeterFacts& facts() const override { return facts_; }
    MeterReading read() override {
        if (++reads_ > most_) throw MeterLost("the card fell off the bus");
        return {static_cast<double>(reads_), static_cast<double>(reads_ / 5), std::nan("")};
    }

  private:
    MeterFacts facts_;
    int most_;
    std::atomic<int> reads_{0};
};

TEST(MeterLog, StopWaitsForTheCounterToRenewItself) {
    SlowCounter meter(1'000'000);
    MeterLog log(meter, 1e-4);
    log.stop(60);
    const auto& readings = log.readings();
    ASSERT_GE(readings.size(), 3U);
    EXPECT_NE(readings.back().energy_j, readings[readings.size() - 2].energy_j);
    EXPECT_EQ(log.lost(), "");
}

TEST(MeterLog, KeepsWhatWasReadBeforeTheMeterWasLost) {
    SlowCounter meter(1);
    MeterLog log(meter, 1e-4);
    log.stop(60);
    EXPECT_EQ(log.readings().size(), 1U);
    EXPECT_EQ(log.lost(), "the card fell off the bus");
}

}  // namespace
}  // namespace joulecast
