#include "joulecast/train/fit_hosts.h"

#include <gtest/gtest.h>

#include <cmath>

namespace joulecast {
namespace {

DeviceModel cpu(Host host = Host::cpp) {
    DeviceModel model;
    model.device.kind = Device::Kind::cpu;
    model.point.host = host;
    return model;
}

/// 100 calls in `device_s` from C++, and what they take with `extra` for each.
HostSample sample(const std::string& model, double device_s, double extra, double error = 1) {
    HostSample s;
    s.model = model;
    s.parts.device_s = device_s;
    s.parts.calls = 100;
    s.measured_s = (device_s + 100 * extra) * error;
    return s;
}

TEST(FitHostExtra, FindsWhatWasPlanted) {
    std::vector<HostSample> samples;
    for (int i = 1; i <= 12; ++i) samples.push_back(sample("m" + std::to_string(i), 1e-3 * i, 20e-6));
    const HostExtra found = fit_host_extra(samples, cpu());
    EXPECT_NEAR(found.seconds_per_call, 20e-6, 0.5e-6);
    EXPECT_EQ(found.networks, 12);
    EXPECT_EQ(found.host, Host::python);
    EXPECT_LT(found.sigma, 0.1) << "all networks agree";
}

TEST(FitHostExtra, IsTheDefaultWhereNothingCanBeSeen) {
    // 100 us in 10 s: no news, in whichever direction the measurements are off.
    const std::vector<HostSample> samples{sample("a", 10, 1e-6, 1.02), sample("b", 10, 1e-6, 0.99)};
    const HostExtra found = fit_host_extra(samples, cpu());
    EXPECT_NEAR(found.seconds_per_call, 8e-6, 0.01e-6);
    EXPECT_GT(found.sigma, 0.5) << "the default's, and that networks may differ";
}

TEST(FitHostExtra, LiesBetweenTheDefaultAndOneMeasurementByTheirCertainty) {
    HostSample one = sample("a", 1e-3, 12e-6);
    const double sure = fit_host_extra(std::vector{one}, cpu()).seconds_per_call;
    one.sigma = 0.5;
    const double unsure = fit_host_extra(std::vector{one}, cpu()).seconds_per_call;
    EXPECT_GT(sure, 9e-6);
    EXPECT_LT(sure, 12e-6);
    // log T is off by log(2.2 / 1.8) = 0.20 of a sigma of 0.5, for a change of 0.44 in log: much less than the
    // default's 1 / 0.5 in log weighs.
    EXPECT_GT(unsure, 8e-6);
    EXPECT_LT(unsure, 8.7e-6);
}

TEST(FitHostExtra, IsNotDecidedByOneThatSomethingElseDisturbed) {
    std::vector<HostSample> samples;
    for (int i = 1; i <= 10; ++i) samples.push_back(sample("m" + std::to_string(i), 2e-3, 10e-6, 1 + 0.002 * (i - 5)));
    samples.push_back(sample("disturbed", 2e-3, 10e-6, 3));
    EXPECT_NEAR(fit_host_extra(samples, cpu()).seconds_per_call, 10e-6, 1.5e-6);
}

TEST(FitHostExtra, CountsBatchesOfAModelOnce) {
    // Five models say 10 us, one says 30 us once or three times over.
    std::vector<HostSample> samples;
    for (int i = 1; i <= 5; ++i) samples.push_back(sample("m" + std::to_string(i), 2e-3, 10e-6));
    samples.push_back(sample("other", 2e-3, 30e-6));
    const double once = fit_host_extra(samples, cpu()).seconds_per_call;
    for (int i = 0; i < 2; ++i) samples.push_back(sample("other", 2e-3, 30e-6));
    EXPECT_NEAR(fit_host_extra(samples, cpu()).seconds_per_call, once, 0.01e-6);
}

TEST(FitHostExtra, SaysHowFarNetworksDiffer) {
    // Seven take 5 us and seven 20 us, 0.69 to either side of 10 us in log; the same seen in networks that take a
    // thousand times as long could be noise, but not where networks without any Python in sight agree to 1 %.
    std::vector<HostSample> samples;
    for (int i = 1; i <= 14; ++i) {
        samples.push_back(sample("small " + std::to_string(i), 1e-4, i % 2 == 0 ? 5e-6 : 20e-6));
        samples.push_back(sample("large " + std::to_string(i), 10, 10e-6, i % 2 == 0 ? 0.99 : 1.01));
    }
    const HostExtra found = fit_host_extra(samples, cpu());
    EXPECT_GT(found.sigma, 0.4);
    EXPECT_LT(found.sigma, 1.2);
    for (HostSample& s : samples) s = sample(s.model, s.parts.device_s, 10e-6);
    EXPECT_LT(fit_host_extra(samples, cpu()).sigma, 0.1);
}

TEST(FitHostExtra, MayBeNegative) {
    std::vector<HostSample> samples;
    for (int i = 1; i <= 12; ++i) {
        samples.push_back(sample("m" + std::to_string(i), 5e-3 * i, -20e-6));
        samples.back().host = Host::cpp;
    }
    EXPECT_NEAR(fit_host_extra(samples, cpu(Host::python)).seconds_per_call, -20e-6, 1e-6);
}

TEST(FitHosts, TellsModesApartAndFitsNothingToGraphs) {
    std::vector<HostSample> samples;
    for (int i = 1; i <= 6; ++i) {
        samples.push_back(sample("m" + std::to_string(i), 1e-3, 20e-6));
        samples.push_back(sample("m" + std::to_string(i), 1e-3, 5e-6));
        samples.back().mode = Mode::training;
        samples.push_back(sample("m" + std::to_string(i), 1e-3, -5e-6));
        samples.back().host = Host::graph;
    }
    const auto found = fit_hosts(samples, cpu());
    ASSERT_EQ(found.size(), 2U);
    EXPECT_EQ(found[0].mode, Mode::inference);
    EXPECT_NEAR(found[0].seconds_per_call, 20e-6, 0.5e-6);
    EXPECT_EQ(found[1].mode, Mode::training);
    EXPECT_NEAR(found[1].seconds_per_call, 5e-6, 0.5e-6);
}

}  // namespace
}  // namespace joulecast
