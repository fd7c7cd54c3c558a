#include "joulecast/train/outliers.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

DeviceModel frame() {
    DeviceModel device;
    device.device = testing::synthetic_cpu();
    device.point = testing::synthetic_point();
    return device;
}

std::vector<TrainingRow> rows() {
    return testing::synthetic_training(
        {testing::synthetic_graph("resnet50", 2), testing::synthetic_graph("mobilenet_v2", 2)});
}

/// A convolution among the rows, not the first, which is odd by its three channels.
std::size_t some_convolution(const std::vector<TrainingRow>& all) {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (all[i].operation.family() == Family::convolution) places.push_back(i);
    }
    return places.at(places.size() / 2);
}

TEST(FindOutliers, FindsTheRowWhoseTimeIsOdd) {
    auto all = rows();
    const std::size_t odd = some_convolution(all);
    all[odd].time_s *= 40;  // another program held the machine meanwhile
    const auto found = find_outliers(frame(), all, {});
    ASSERT_FALSE(found.empty());
    EXPECT_EQ(found.front().row, odd);
    EXPECT_GE(found.front().score, 0.6);
    for (std::size_t i = 1; i < found.size(); ++i) EXPECT_LE(found[i].score, found[i - 1].score);
}

TEST(FindOutliers, TakesAHundredthOfAFamilyAtMost) {
    const auto all = rows();
    std::map<Family, std::size_t> rows_of, found_of;
    for (const TrainingRow& row : all) ++rows_of[row.operation.family()];
    OutlierSettings every;
    every.least_score = 0;  // as if all were odd
    for (const Outlier& outlier : find_outliers(frame(), all, every)) ++found_of[all[outlier.row].operation.family()];
    ASSERT_FALSE(found_of.empty());
    for (const auto& [family, count] : found_of) {
        EXPECT_GE(rows_of[family], every.least_rows);
        EXPECT_EQ(count, (rows_of[family] + 99) / 100);
    }
    for (const auto& [family, count] : rows_of) {
        const bool is_small = count < every.least_rows;
        EXPECT_TRUE(!is_small || !found_of.contains(family));
    }
}

TEST(Without, KeepsTheOthersInOrder) {
    const auto all = rows();
    const std::vector<Outlier> outliers{{2, 0.9}, {0, 0.8}};
    const auto kept = without(all, outliers);
    ASSERT_EQ(kept.size(), all.size() - 2);
    EXPECT_EQ(kept[0].operation.signature, all[1].operation.signature);
    EXPECT_EQ(kept[1].operation.signature, all[3].operation.signature);
}

}  // namespace
}  // namespace joulecast
