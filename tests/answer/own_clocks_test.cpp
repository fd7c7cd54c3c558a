#include "joulecast/answer/own_clocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

OperationRow operation_at(double asked_mhz, Outcome outcome = Outcome::ok) {
    OperationRow row;
    row.measurement.asked.sm_clock_mhz = asked_mhz;
    row.measurement.outcome = outcome;
    return row;
}

NetworkRow network_at(double asked_mhz, Outcome outcome = Outcome::ok) {
    NetworkRow row;
    row.measurement.asked.sm_clock_mhz = asked_mhz;
    row.measurement.outcome = outcome;
    return row;
}

TEST(OwnClocks, AreThoseThatMeasurementsWereAskedForAndCarriedOutAt) {
    const std::vector<OperationRow> operations{operation_at(1200), operation_at(607.5), operation_at(1200),
                                               operation_at(std::nan("")), operation_at(900, Outcome::crashed)};
    const std::vector<NetworkRow> networks{network_at(1500, Outcome::unstable), network_at(607.5)};
    EXPECT_THAT(measured_clocks_mhz(operations, networks), ElementsAre(607.5, 1200, 1500));
    EXPECT_THAT(measured_clocks_mhz({}, {}), IsEmpty());
}

}  // namespace
}  // namespace joulecast
