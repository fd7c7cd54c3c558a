// The pretended worker keeps every promise of the protocol, on each of its devices.
#include <gtest/gtest.h>

#include "joulecast/worker/supervision/conformance.h"

namespace joulecast {
namespace {

class PretendedWorker : public ::testing::TestWithParam<const char*> {};

TEST_P(PretendedWorker, KeepsEveryPromise) {
    for (const Claim& claim : check_worker({"exec '" PRETEND "' --device " + std::string(GetParam())}))
        EXPECT_TRUE(claim.held) << claim.name << ": " << claim.found;
}

INSTANTIATE_TEST_SUITE_P(Devices, PretendedWorker,
                         ::testing::Values("pretend-a", "pretend-b", "pretend-c", "pretend-cpu"),
                         [](const auto& device) { return std::string(device.param).substr(8); });

}  // namespace
}  // namespace joulecast
