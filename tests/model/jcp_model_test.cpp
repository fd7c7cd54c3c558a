#include "joulecast/model/jcp_model.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

/// A small model of every kind, on two columns of which one is sometimes missing.
Model small_model(Learner learner) {
    Samples samples(40, 2);
    std::vector<double> targets;
    Random random(1);
    for (std::size_t i = 0; i < 40; ++i) {
        const auto a = static_cast<float>(random.uniform());
        samples.set_row(i, std::vector{a, i % 4 == 0 ? std::numeric_limits<float>::quiet_NaN() : 2 * a});
        targets.push_back(static_cast<double>(a));
    }
    LearnerSettings settings = learner_settings(learner, 2, 1);
    settings.boost.rounds = 3;
    settings.perceptron.hidden = {4};
    settings.perceptron.epochs = 2;
    return fit_model(learner, samples, targets, settings);
}

std::vector<std::byte> written(const Model& model) {
    ByteWriter out;
    put(out, model);
    return out.bytes();
}

class EveryKind : public ::testing::TestWithParam<Learner> {};

TEST_P(EveryKind, ComesBackAsItWasWritten) {
    const Model model = small_model(GetParam());
    const auto bytes = written(model);
    ByteReader in(bytes, "model");
    EXPECT_EQ(take_model(in, 2), model);
    EXPECT_TRUE(in.at_end());
}

TEST_P(EveryKind, IsRefusedWhenCutShort) {
    const auto bytes = written(small_model(GetParam()));
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 200) {
        ByteReader in{std::span(bytes).first(size), "model"};
        EXPECT_THROW(take_model(in, 2), FormatError) << size;
    }
}

TEST_P(EveryKind, IsRefusedOrUsableWhenDamaged) {
    // Checksums keep most damage away; what passes them all the same must not lead outside of any array.
    const auto bytes = written(small_model(GetParam()));
    Random random(2);
    for (int trial = 0; trial < 300; ++trial) {
        auto damaged = bytes;
        damaged[random.below(damaged.size())] ^= static_cast<std::byte>(1U << random.below(8));
        ByteReader in(damaged, "model");
        try {
            predict(take_model(in, 2), std::vector{0.5F, 0.5F});
        } catch (const FormatError&) {
            continue;
        }
    }
}

TEST_P(EveryKind, IsRefusedForRowsOfAnotherWidth) {
    if (GetParam() == Learner::extra_trees || GetParam() == Learner::xgboost)
        return;  // they need no more than they ask
    const auto bytes = written(small_model(GetParam()));
    ByteReader in(bytes, "model");
    EXPECT_THROW(take_model(in, 3), FormatError);
}

INSTANTIATE_TEST_SUITE_P(All, EveryKind,
                         ::testing::Values(Learner::extra_trees, Learner::xgboost, Learner::knn, Learner::polynomial,
                                           Learner::mlp, Learner::svr),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(TakeModel, RefusesAKindItDoesNotKnow) {
    auto bytes = written(small_model(Learner::extra_trees));
    bytes[0] = std::byte{6};
    ByteReader in(bytes, "model");
    EXPECT_THROW(take_model(in, 2), FormatError);
}

}  // namespace
}  // namespace joulecast
