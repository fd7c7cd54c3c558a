#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "joulecast/physics/law.h"
#include "joulecast/physics/roofline.h"

namespace joulecast {
namespace {

TEST(Tiles, CountOverhangAndIdleUnits) {
    const Tiling tiling{128, 1};
    EXPECT_DOUBLE_EQ(tile_factor(tiling, 1, 128, 128, 1), 1);
    // One tile for four units: three of them wait.
    EXPECT_DOUBLE_EQ(tile_factor(tiling, 1, 128, 128, 4), 4);
    // A row too many is a tile more.
    EXPECT_DOUBLE_EQ(tile_factor(tiling, 1, 129, 128, 1), 2.0 * 128 / 129);
    // Five tiles on four units take two waves of eight.
    EXPECT_DOUBLE_EQ(tile_factor(tiling, 5, 128, 128, 4), 8.0 / 5);
    EXPECT_DOUBLE_EQ(tile_factor(tiling, 1, std::nan(""), 128, 4), 1);
}

TEST(Tiles, AreFoundWhereTimesHaveThem) {
    std::vector<LawSample> samples, plain;
    for (int i = 1; i < 60; ++i) {
        const double rows = 70.0 * i;
        LawSample sample;
        sample.roofline.flop_s = 1e-6 * i;
        for (std::size_t t = 0; t < tilings.size(); ++t)
            sample.roofline.tiled[t] = static_cast<float>(tile_factor(tilings[t], 1, rows, 512, 40));
        sample.time_s = 2e-6 * i;
        plain.push_back(sample);
        sample.time_s *= sample.roofline.tiled[0];
        samples.push_back(sample);
    }
    EXPECT_EQ(fit_tiled_law(samples).tiling, 1U);
    EXPECT_EQ(fit_tiled_law(plain).tiling, 0U);
    EXPECT_EQ(fit_law(samples).tiling, 0U);
}

}  // namespace
}  // namespace joulecast
