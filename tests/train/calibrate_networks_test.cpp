#include "joulecast/train/calibrate_networks.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

NetworkSample sample(const std::string& model, double host_s, double device_s, double measured_s) {
    NetworkSample s;
    s.model = model;
    s.key = "inference|fp32";
    s.parts.host_s = host_s;
    s.parts.device_s = device_s;
    s.parts.dynamic_j = std::nan("");
    s.measured_s = measured_s;
    return s;
}

TEST(FitCorrection, IsTheMeanRatioPulledToOne) {
    const std::vector all{sample("a", 0, 1, 1.2), sample("b", 0, 1, 1.2), sample("b", 0, 2, 2.4)};
    // Two models, batches of one counted once, and a ninth of one that says 1: 1.2^(2 / (2 + 1/9)).
    EXPECT_NEAR(fit_correction(all, {}).factor, std::pow(1.2, 18.0 / 19), 1e-9);
    EXPECT_EQ(fit_correction(all, {}).networks, 2);
    EXPECT_EQ(fit_correction({}, {}).factor, 1);
}

TEST(FitCorrection, TellsTheHostsFactorFromTheDevices) {
    // Made with 0.6 of the host's time and 1.1 of the device's, one of the two always hidden.
    std::vector<NetworkSample> all;
    for (int i = 1; i <= 40; ++i) {
        all.push_back(sample("host " + std::to_string(i), 1.0 * i, 0.1 * i, 0.6 * i));
        all.push_back(sample("device " + std::to_string(i), 0.1 * i, 1.0 * i, 1.1 * i));
    }
    const auto found = fit_correction(all, {});
    EXPECT_NEAR(found.host_factor, 0.6, 0.01);
    EXPECT_NEAR(found.factor, 1.1, 0.01);
}

TEST(FitCorrection, BelievesOneNetworkOfItsHost) {
    // All but one are bound by the device. How the loop of one call issued is anybody's guess, so that one decides.
    std::vector<NetworkSample> all{sample("host", 1, 0.1, 0.4)};
    for (int i = 1; i <= 20; ++i) all.push_back(sample("device " + std::to_string(i), 0.1, 1, 1));
    EXPECT_NEAR(fit_correction(all, {}).host_factor, 0.4, 0.005);
}

TEST(FitCorrection, ScalesWhatIsAboveIdle) {
    PowerFacts power;
    power.idle_w = 10;
    power.busy_w = 100;
    std::vector<NetworkSample> all;
    for (int i = 1; i <= 30; ++i) {
        all.push_back(sample("m" + std::to_string(i), 0, 1, 1));
        all.back().parts.dynamic_j = 50;
        all.back().measured_j = 10 + 0.8 * 50;
    }
    // Errors of the whole count: pulled to 1 by a ninth of a model in squared log, d log E / d log eps = 0.8.
    EXPECT_NEAR(fit_correction(all, power).energy_factor, 0.8, 0.005);
}

TEST(SystematicSigma, HoldsNineOfTenErrors) {
    std::vector<NetworkError> errors;
    for (int i = 1; i <= 99; ++i) errors.push_back({0.01 * i, 0});
    // The 90th of 99 (ceil(100 * 0.9)) is 0.90, and 1.645 sigma must reach it.
    EXPECT_NEAR(systematic_sigma(errors), 0.90 / 1.645, 1e-6);
    for (NetworkError& e : errors) e.own_sigma = 1;
    EXPECT_EQ(systematic_sigma(errors), 0);
}

}  // namespace
}  // namespace joulecast
