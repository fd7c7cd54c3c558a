#include "joulecast/worker/supervision/conformance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

std::vector<Claim> check(const std::string& behaviour) {
    const auto timeout = std::chrono::seconds(20);
    return check_worker({std::string(FAKE_WORKER) + " " + behaviour, timeout, timeout});
}

bool held(const std::vector<Claim>& claims, const std::string& words) {
    const auto found = std::find_if(claims.begin(), claims.end(),
                                    [&](const Claim& claim) { return claim.name.find(words) != std::string::npos; });
    if (found == claims.end()) throw Error("no claim speaks of " + words);
    return found->held;
}

TEST(Conformance, ClaimsThatHoldAndThatDoNotAreToldApart) {
    // The fake worker keeps the protocol but "measures" whatever it is given.
    const auto claims = check("serve");
    EXPECT_TRUE(held(claims, "hello names"));
    EXPECT_TRUE(held(claims, "an operation is timed"));
    EXPECT_TRUE(held(claims, "training is forward + backward"));
    EXPECT_TRUE(held(claims, "an unknown operation"));
    EXPECT_TRUE(held(claims, "not JSON"));
    EXPECT_TRUE(held(claims, "another protocol version"));
    EXPECT_TRUE(held(claims, "quit ends"));
    EXPECT_FALSE(held(claims, "shapes that do not fit"));
    EXPECT_FALSE(held(claims, "4 TB"));
}

TEST(Conformance, AWorkerThatOnlyInfersIsNotAskedToTrain) {
    // Networks were: a worker without the mode `training` could not pass.
    const auto claims = check("infers");
    EXPECT_TRUE(held(claims, "a graph is run as a network"));
    EXPECT_TRUE(held(claims, "training is forward + backward"));
    EXPECT_TRUE(held(claims, "a graph is trained as a network"));
}

TEST(Conformance, AWorkerThatCannotStartFailsEveryClaim) {
    const auto claims = check("exit");
    EXPECT_TRUE(std::none_of(claims.begin(), claims.end(), [](const Claim& claim) { return claim.held; }));
    EXPECT_NE(claims.front().found.find("cannot open shared object"), std::string::npos) << claims.front().found;
}

}  // namespace
}  // namespace joulecast
