#include "joulecast/learn/neighbours.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// x = 0 1 2 10 with targets 1 2 4 100; mean 3.25, so distances keep their order and ratios.
Neighbours line(std::size_t k, bool by_distance) {
    Samples samples(4, 1);
    for (const auto& [row, x] : {std::pair{0, 0.0F}, {1, 1.0F}, {2, 2.0F}, {3, 10.0F}})
        samples.set(static_cast<std::size_t>(row), 0, x);
    return fit_neighbours(samples, std::vector<double>{1, 2, 4, 100}, {k, by_distance, true});
}

double at(const Neighbours& model, float x) {
    return predict(model, std::vector{x});
}

TEST(Neighbours, AreTheNearest) {
    EXPECT_EQ(at(line(1, false), 0.4F), 1);
    EXPECT_EQ(at(line(1, false), 7), 100);
    EXPECT_DOUBLE_EQ(at(line(2, false), 1.6F), 3);        // 1 and 2
    EXPECT_DOUBLE_EQ(at(line(3, false), -5), 7.0 / 3);    // 0, 1, 2
    EXPECT_DOUBLE_EQ(at(line(9, false), -5), 107.0 / 4);  // all there are
}

TEST(Neighbours, CountByTheInverseOfTheirDistance) {
    // From 1.25: 1 is 0.25 away and 2 is 0.75: weights 4 and 4/3, so (2 * 4 + 4 * 4/3) / (16/3) = 2.5.
    EXPECT_NEAR(at(line(2, true), 1.25F), 2.5, 1e-6);
}

TEST(Neighbours, AtDistanceZeroCountAlone) {
    EXPECT_EQ(at(line(3, true), 2), 4);
}

TEST(Neighbours, OfEqualDistanceTheFirstCount) {
    EXPECT_EQ(at(line(1, false), 1.5F), 2);
}

TEST(Neighbours, RefuseToBeNone) {
    EXPECT_THROW(line(0, false), Error);
}

TEST(CheckNeighbours, WantsAPointForEveryTarget) {
    EXPECT_NO_THROW(check(line(2, true), 1));
    EXPECT_THROW(check(line(2, true), 2), FormatError);
    const auto broken = [](auto change) {
        Neighbours model = line(2, true);
        change(model);
        EXPECT_THROW(check(model, 1), FormatError);
    };
    broken([](Neighbours& m) { m.k = 0; });
    broken([](Neighbours& m) { m.k = 5; });
    broken([](Neighbours& m) { m.points.pop_back(); });
    broken([](Neighbours& m) { m.points[0] = std::nanf(""); });
    broken([](Neighbours& m) { m.targets[0] = std::nan(""); });
    broken([](Neighbours& m) {
        m.points.clear();
        m.targets.clear();
    });
}

}  // namespace
}  // namespace joulecast
