#include "joulecast/profile/other_machine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace joulecast {
namespace {

Device card() {
    Device device;
    device.id = "card";
    device.units = 56;
    device.peak_flop_per_s_fp32 = 1e13;
    device.idle_w = 30;
    return device;
}

TEST(OtherMachine, IsSeenByItsFigures) {
    Device now = card();
    EXPECT_EQ(changed_figures(card(), now), "");
    now.peak_flop_per_s_fp32 = 1.05e13;  // read from another clock
    now.idle_w = 60;                     // measured each time
    now.bandwidth_bytes_per_s = 1e12;    // not told before
    EXPECT_EQ(changed_figures(card(), now), "");
    now.units = 28;
    now.peak_flop_per_s_fp32 = 5e12;
    EXPECT_EQ(changed_figures(card(), now), "units 56, now 28, peak_flop_per_s_fp32 1e+13, now 5e+12");
}

ReferenceRow reference(const std::string& session, double time_s, double clock_mhz) {
    ReferenceRow row;
    row.operation = "aten::mm";
    row.time_mean_s = time_s;
    row.asked.sm_clock_mhz = clock_mhz;
    row.provenance.session = session;
    return row;
}

OperationRow measured(const std::string& session, int threads) {
    OperationRow row;
    row.measurement.asked.threads = threads;
    row.provenance.session = session;
    return row;
}

TEST(OtherMachine, IsSeenByItsPaceAtTheSameSettings) {
    const std::vector<ReferenceRow> stored = {reference("a", 0.010, 900), reference("a", 0.011, 900),
                                              reference("b", 0.012, 900), reference("b", 0.006, 1800),
                                              reference("now", 0.5, 900), reference("eight threads", 0.002, 900)};
    ReferenceRow now = reference("now", 0.022, 900);
    now.asked.threads = 1;
    const std::vector<OperationRow> rows = {measured("a", 1), measured("b", 1), measured("eight threads", 8)};
    // The median of 10, 11 and 12 ms: other clocks, other settings and the session itself do not count.
    EXPECT_DOUBLE_EQ(reference_ratio(stored, rows, now), 2);
    now.asked.sm_clock_mhz = 300;
    EXPECT_TRUE(std::isnan(reference_ratio(stored, rows, now)));
    EXPECT_TRUE(std::isnan(reference_ratio({}, {}, now)));
}

}  // namespace
}  // namespace joulecast
