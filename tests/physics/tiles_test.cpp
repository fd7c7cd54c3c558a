#include "joulecast/physics/tiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "joulecast/physics/law.h"

namespace joulecast {
namespace {

Products one_product(double batch, double rows, double columns, double depth, int units) {
    Products products;
    products.units = units;
    products.add({batch, rows, columns, depth});
    return products;
}

TEST(Tiles, CountOverhangAndIdleUnits) {
    const Tiles tiles{128, 128, 1, 1, 0, false};
    const auto factor = [&](double batch, double rows, double columns, int units) {
        return tile_factor(tiles, one_product(batch, rows, columns, 64, units));
    };
    EXPECT_DOUBLE_EQ(factor(1, 128, 128, 1), 1);
    // One tile for four units: three of them wait.
    EXPECT_DOUBLE_EQ(factor(1, 128, 128, 4), 4);
    // A row too many is a tile more.
    EXPECT_DOUBLE_EQ(factor(1, 129, 128, 1), 2.0 * 128 / 129);
    // Five tiles on four units take two waves of eight.
    EXPECT_DOUBLE_EQ(factor(5, 128, 128, 4), 8.0 / 5);
    // Two at once leave as many places free as units would be.
    EXPECT_DOUBLE_EQ(tile_factor({128, 128, 2, 1, 0, false}, one_product(5, 128, 128, 64, 2)), 8.0 / 5);
    EXPECT_DOUBLE_EQ(factor(1, std::nan(""), 128, 4), 1);
    EXPECT_DOUBLE_EQ(tile_factor({}, one_product(5, 128, 128, 64, 4)), 1);
}

TEST(Tiles, AreThoseDoneFirst) {
    // Tiles of 64 fill all four units, at 0.8 of the rate; those of 128 one of them.
    EXPECT_DOUBLE_EQ(tile_factor({128, 64, 1, 0.8, 0, false}, one_product(1, 128, 128, 64, 4)), 1 / 0.8);
    EXPECT_DOUBLE_EQ(tile_factor({128, 64, 1, 0.8, 0, false}, one_product(1, 128, 128, 64, 1)), 1);
}

TEST(Tiles, ReachHalfOfTheirRateAtTheHalfDepth) {
    const Tiles tiles{128, 128, 1, 1, 100, false};
    EXPECT_DOUBLE_EQ(tile_factor(tiles, one_product(1, 128, 128, 100, 1)), 2);
    EXPECT_DOUBLE_EQ(tile_factor(tiles, one_product(1, 128, 128, 900, 1)), 1 + 1.0 / 9);
}

TEST(Tiles, SplitDeepSumsAmongIdleUnits) {
    const Tiles tiles{128, 128, 1, 1, 0, true};
    EXPECT_DOUBLE_EQ(tile_factor(tiles, one_product(1, 128, 128, 1024, 4)), 1);
    // Too shallow for more than two parts.
    EXPECT_DOUBLE_EQ(tile_factor(tiles, one_product(1, 128, 128, 512, 4)), 2);
    EXPECT_DOUBLE_EQ(tile_factor(tiles, one_product(1, 128, 128, 511, 4)), 4);
}

TEST(Tiles, AreTheMeanOverTheProductsOfAnOperation) {
    Products products = one_product(1, 128, 128, 64, 4);
    products.add({4, 128, 128, 64});
    EXPECT_DOUBLE_EQ(tile_factor({128, 128, 1, 1, 0, false}, products), (4.0 + 1.0) / 2);
}

TEST(Tiles, LeaveUnitsIdle) {
    const Tiles tiles{128, 128, 1, 1, 0, false};
    EXPECT_DOUBLE_EQ(active_share(tiles, one_product(1, 128, 128, 64, 4)), 1.0 / 4);
    EXPECT_DOUBLE_EQ(active_share(tiles, one_product(5, 128, 128, 64, 4)), 5.0 / 8);
    EXPECT_DOUBLE_EQ(active_share({}, one_product(1, 128, 128, 64, 4)), 1);
    // Weighed by time: one product takes four times as long as its arithmetic, the other as long.
    Products products = one_product(1, 128, 128, 64, 4);
    products.add({4, 128, 128, 64});
    EXPECT_DOUBLE_EQ(active_share(tiles, products), (4 * 0.25 + 1) / 5);
}

/// Products of many sizes whose times are those of arithmetic times `factor`.
std::vector<LawSample> samples_with(const std::function<double(const Products&)>& factor) {
    std::vector<LawSample> samples;
    for (int i = 1; i < 120; ++i) {
        LawSample sample;
        const double depth = 32.0 + (i * 37) % 700;
        sample.roofline.products = one_product(1, 70.0 * i, 512, depth, 40);
        sample.roofline.flop_s = 1e-8 * i * depth;
        sample.time_s = 2 * sample.roofline.flop_s * factor(sample.roofline.products);
        samples.push_back(sample);
    }
    return samples;
}

TEST(Tiles, AreFoundWhereTimesHaveThem) {
    const Tiles wide{128, 128, 1, 1, 0, false};
    const auto tiled = samples_with([&](const Products& products) { return tile_factor(wide, products); });
    const auto plain = samples_with([](const Products&) { return 1.0; });
    EXPECT_EQ(fit_law(tiled).tiles, Tiles{});
    EXPECT_EQ(fit_tiled_law(plain).tiles, Tiles{});
    const Law law = fit_tiled_law(tiled);
    for (const LawSample& sample : tiled) EXPECT_NEAR(seconds(law, sample.roofline) / sample.time_s, 1, 0.02);
}

TEST(Tiles, ThatAreChosenAmongAreFoundWithWhatTheyReach) {
    const Tiles chosen{128, 32, 1, 0.75, 60, true};
    const auto samples = samples_with([&](const Products& products) { return tile_factor(chosen, products); });
    const Law law = fit_tiled_law(samples);
    EXPECT_EQ(law.tiles.narrowest, 32);
    EXPECT_EQ(law.tiles.at_once, 1);
    EXPECT_NEAR(law.tiles.share, 0.75, 0.05);
    EXPECT_NEAR(law.tiles.half_depth, 60, 15);
    // Far beyond what was seen, too.
    LawSample far;
    far.roofline.products = one_product(1, 30000, 3000, 4000, 40);
    far.roofline.flop_s = 1e-3;
    EXPECT_NEAR(seconds(law, far.roofline) / (2e-3 * tile_factor(chosen, far.roofline.products)), 1, 0.05);
}

}  // namespace
}  // namespace joulecast
