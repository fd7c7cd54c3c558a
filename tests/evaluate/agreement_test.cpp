#include "joulecast/evaluate/agreement.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/dataset/samples.h"

namespace joulecast {
namespace {

using joulecast::testing::relu;
using joulecast::testing::sample_device;
using joulecast::testing::sample_measurement;
using joulecast::testing::sample_network;
using joulecast::testing::sample_provenance;
using joulecast::testing::sample_reference;

Measurement timed(std::int64_t batch, double mean_s, double half_width_s) {
    Measurement measurement = sample_measurement(relu(batch));
    measurement.time.mean_s = mean_s;
    measurement.time.half_width_s = half_width_s;
    measurement.time.effective_blocks = 1e6;  // Student's quantile is 1.96
    return measurement;
}

class AgreementTest : public joulecast::testing::DatasetFolder {
  protected:
    void SetUp() override {
        DatasetFolder::SetUp();
        before = std::make_unique<Dataset>(folder / "a.db");
        after = std::make_unique<Dataset>(folder / "b.db");
        for (Dataset* one : {before.get(), after.get()}) one->insert(sample_device());
    }
    void put(Dataset& dataset, const Measurement& measurement, const std::string& session = "s1") const {
        dataset.insert(measurement, sample_provenance(session));
    }
    std::unique_ptr<Dataset> before, after;
};

TEST_F(AgreementTest, ComparesNoTwoEngines) {
    put(*before, timed(1, 1.0, 0.01));
    Measurement other = timed(1, 1.0, 0.01);
    other.asked.engine = other.real.engine = "onnxruntime";
    put(*after, other);
    const Agreement found = agreement(*before, *after);
    EXPECT_TRUE(found.shared.empty());
    EXPECT_EQ(found.only_before + found.only_after, 2);
}

TEST_F(AgreementTest, ARepeatMayLieTheRootOfTwoHalfWidthsAway) {
    // sqrt(2) * 0.01 = 0.01414
    put(*before, timed(1, 1.0, 0.01));
    put(*after, timed(1, 1.014, 0.001));
    put(*before, timed(2, 1.0, 0.01));
    put(*after, timed(2, 1.0143, 0.001));
    const Agreement found = agreement(*before, *after);
    ASSERT_EQ(found.shared.size(), 2u);
    EXPECT_EQ(found.shared[0].what, signature(relu(2)));  // the more surprising first
    EXPECT_FALSE(found.shared[0].after_inside());
    EXPECT_TRUE(found.shared[1].after_inside());
    EXPECT_FALSE(found.shared[1].before_inside());  // 0.014 against 0.0014
    EXPECT_DOUBLE_EQ(found.operations_inside, 0.25);
    EXPECT_TRUE(std::isnan(found.networks_inside));
    EXPECT_NEAR(found.median_difference, 0.01415, 1e-9);
}

TEST_F(AgreementTest, WhatLiesBetweenRepeatsWidensTheInterval) {
    put(*before, timed(1, 1.0, 0.0));
    put(*after, timed(1, 1.05, 0.0));
    EXPECT_EQ(agreement(*before, *after).operations_inside, 0);
    // Repeats of 0.98, 1, 1 and 1.02: sigma sqrt(0.0008 / 3) = 0.01633; interval 1.96 * sqrt(2) * 0.01633 = 0.0453 s
    // of the one second, 0.0475 s of 1.05 s.
    for (Dataset* one : {before.get(), after.get()})
        for (const double time_s : {0.98, 1.0, 1.0, 1.02})
            one->insert(sample_reference("t" + std::to_string(one->references().size()), time_s));
    const SharedMeasurement shared = agreement(*before, *after).shared.at(0);
    EXPECT_NEAR(shared.before_interval_s, 0.04526, 1e-4);
    EXPECT_NEAR(shared.after_interval_s, 0.04753, 1e-4);
    EXPECT_FALSE(shared.after_inside());
    put(*after, timed(1, 1.047, 0.0), "s2");  // the last row counts, with what is known of its device
    EXPECT_TRUE(agreement(*before, *after).shared.at(0).before_inside());
}

TEST_F(AgreementTest, ComparesOnlyWhatWasMeasuredAlike) {
    put(*before, timed(1, 1.0, 0.01));
    put(*before, timed(2, 1.0, 0.01));
    Measurement failed = timed(3, 1.0, 0.01);
    put(*before, failed);
    failed.outcome = Outcome::out_of_memory;
    put(*after, failed);
    Measurement slower = timed(1, 1.0, 0.01);
    slower.asked.sm_clock_mhz = 900;
    put(*after, slower);
    put(*after, timed(2, 1.0, 0.01));
    NetworkMeasurement network = sample_network("resnet18", 8);
    before->insert(network, sample_provenance());
    network.time.mean_s *= 2;
    after->insert(network, sample_provenance());
    const Agreement found = agreement(*before, *after);
    ASSERT_EQ(found.shared.size(), 2u);
    EXPECT_EQ(found.shared[0].what, "resnet18 batch=8;seq=128 fp32 adam");
    EXPECT_DOUBLE_EQ(found.shared[0].difference(), 1);
    EXPECT_EQ(found.networks_inside, 0);
    EXPECT_EQ(found.operations_inside, 1);
    EXPECT_EQ(found.only_before, 2);
    EXPECT_EQ(found.only_after, 1);
}

}  // namespace
}  // namespace joulecast
