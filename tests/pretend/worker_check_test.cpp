// The pretended worker keeps every promise of the protocol, on each of its devices.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "joulecast/worker/supervision/conformance.h"

namespace joulecast {
namespace {

class PretendedDevice : public ::testing::TestWithParam<const char*> {};

TEST_P(PretendedDevice, KeepsEveryPromise) {
    for (const Claim& claim : check_worker({"exec '" PRETEND "' --device " + std::string(GetParam())}))
        EXPECT_TRUE(claim.held) << claim.name << ": " << claim.found;
}

INSTANTIATE_TEST_SUITE_P(Devices, PretendedDevice,
                         ::testing::Values("pretend-a", "pretend-b", "pretend-c", "pretend-cpu"),
                         [](const auto& device) { return std::string(device.param).substr(8); });

// A name in a request or on a command line reached the terminal of whoever tried the worker by hand.
TEST(PretendedWorker, WhatItSaysSteersNoTerminal) {
    std::FILE* said = ::popen("'" PRETEND "' --device 'x\x1b[2J' 2>&1 </dev/null", "r");
    ASSERT_NE(said, nullptr);
    std::string text;
    for (int c = std::fgetc(said); c != EOF; c = std::fgetc(said)) text += static_cast<char>(c);
    EXPECT_NE(::pclose(said), 0);
    EXPECT_NE(text.find("x\\u001b[2J"), std::string::npos) << text;
}

}  // namespace
}  // namespace joulecast
