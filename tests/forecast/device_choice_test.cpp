#include "joulecast/forecast/device_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

Device device(const std::string& id, Device::Kind kind = Device::Kind::gpu) {
    Device made;
    made.id = id;
    made.kind = kind;
    return made;
}

struct Chosen {
    std::optional<DeviceChoice> choice;
    std::size_t asked = 0;  ///< covers that were looked at
};

Chosen choose(const std::string& text, const std::vector<JcpCover>& covers) {
    Chosen chosen;
    chosen.choice = choose_device(text, [&](std::size_t i) -> const JcpCover* {
        if (i >= covers.size()) return nullptr;
        chosen.asked = i + 1;
        return &covers[i];
    });
    return chosen;
}

TEST(DeviceChoice, TakesTheFirstPredictorThatHasTheIdAndLooksNoFurther) {
    const std::vector<JcpCover> covers{{{device("x")}, {}}, {{device("y"), device("a30")}, {}}, {{device("a30")}, {}}};
    const Chosen chosen = choose("a30", covers);
    ASSERT_TRUE(chosen.choice);
    EXPECT_EQ(chosen.choice->predictor, 1U);
    EXPECT_EQ(chosen.choice->model, 1U);
    EXPECT_EQ(chosen.asked, 2U);
}

TEST(DeviceChoice, KnowsWhichDeviceWasMeasuredWithAllEnginesAskedFor) {
    const JcpCover cover{{device("x"), device("x"), device("y")}, {}, {}, {"torch", "tvm", "openvino"}};
    const auto knows = [&](const std::vector<std::string>& engines) { return knows_with(cover, engines); };
    EXPECT_TRUE(knows({"tvm"}));
    EXPECT_TRUE(knows({"tvm", "torch"}));
    EXPECT_FALSE(knows({"tvm", "openvino"})) << "of two devices";
    EXPECT_FALSE(knows({"onnxruntime"}));
}

TEST(DeviceChoice, AnIdGoesBeforeAnotherNameAndThatBeforeAModelOverDevices) {
    const JcpCover pooled{{}, {Device::Kind::gpu}};
    const JcpCover by_id{{device("a100-40g-pcie")}, {}};
    const JcpCover by_text{{device("a100")}, {}};
    EXPECT_EQ(choose("a100", {pooled, by_id, by_text}).choice->predictor, 2U);
    EXPECT_EQ(choose("a100", {pooled, by_id}).choice->predictor, 1U);
    const auto unseen = choose("a100", {{{device("t4")}, {}}, pooled}).choice;
    ASSERT_TRUE(unseen);
    EXPECT_EQ(unseen->predictor, 1U);
    EXPECT_FALSE(unseen->model);
    EXPECT_EQ(unseen->device.id, "a100-40g-pcie");
}

TEST(DeviceChoice, OperationsThatAPredictorKeepsGoBeforeAModelOverDevices) {
    const JcpCover pooled{{}, {Device::Kind::gpu}};
    Device measured = device("a100-40g-pcie");
    measured.units = 107;
    const JcpCover kept{{}, {Device::Kind::gpu}, {measured}};
    for (const char* name : {"a100-40g-pcie", "a100"}) {
        const auto choice = choose(name, {pooled, kept}).choice;
        ASSERT_TRUE(choice) << name;
        EXPECT_EQ(choice->predictor, 1U);
        EXPECT_TRUE(choice->is_kept);
        EXPECT_FALSE(choice->model);
        EXPECT_EQ(choice->device.units, 107);  // as it was measured
    }
    const auto other = choose("t4", {kept, pooled}).choice;
    EXPECT_EQ(other->predictor, 1U);
    EXPECT_FALSE(other->is_kept);
    EXPECT_EQ(choose("t4", {kept}).choice->predictor, 0U);
    EXPECT_TRUE(choose("a100-40g-pcie", {{{device("a100-40g-pcie")}, {}}, kept}).choice->model);
}

TEST(DeviceChoice, AnyCpuStandsInForThisMachineAndForNothingElse) {
    const std::vector<JcpCover> covers{{{device("a30")}, {Device::Kind::gpu}},
                                       {{device("t4"), device("cpu-of-nobody", Device::Kind::cpu)}, {}}};
    const auto choice = choose("cpu", covers).choice;
    ASSERT_TRUE(choice);
    EXPECT_TRUE(choice->is_stand_in);
    EXPECT_EQ(choice->predictor, 1U);
    EXPECT_EQ(choice->model, 1U);
    EXPECT_FALSE(choose("epyc-7763", covers).choice);
    const auto own = choose("cpu", {covers[1], {{device(this_cpu().id, Device::Kind::cpu)}, {}}}).choice;
    ASSERT_TRUE(own);
    EXPECT_FALSE(own->is_stand_in);
}

TEST(DeviceChoice, IsAbsentWithoutAModelAndRefusesWhatNobodyKnows) {
    EXPECT_FALSE(choose("a30", {{{device("t4")}, {}}}).choice);
    EXPECT_FALSE(choose("a30", {}).choice);
    EXPECT_THROW(choose("no-such-device", {{{}, {Device::Kind::gpu}}}), UsageError);
}

}  // namespace
}  // namespace joulecast
