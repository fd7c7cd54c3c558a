#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "joulecast/dataset/table_reader.h"
#include "joulecast/model/jcp.h"
#include "tests/model/sample_forecasts.h"

namespace joulecast {
namespace {

/// A predictor file of an earlier version in tests/model/data, and what was forecast with it when it was written
/// (write_sample.cpp).
class EarlierVersion : public ::testing::TestWithParam<int> {
  protected:
    std::string file(const std::string& extension) const {
        return std::string(JOULECAST_SOURCE_DIR) + "/tests/model/data/version_" + std::to_string(GetParam()) +
               extension;
    }
};

void expect_near(double found, double kept, const std::string& what) {
    if (std::isnan(kept)) {
        EXPECT_TRUE(std::isnan(found)) << what << ": " << found;
    } else {
        EXPECT_NEAR(found / kept, 1, 1e-9) << what << ": " << found << ", when it was written " << kept;
    }
}

TEST_P(EarlierVersion, OpensAndForecastsTheNumbersOfItsDay) {
    const Predictor predictor = read_jcp(file(".jcp"));
    const auto forecasts = testing::sample_forecasts(predictor);
    std::ifstream kept(file(".csv"));
    ASSERT_TRUE(kept) << file(".csv");
    TableReader table(kept, file(".csv"));
    for (const testing::SampleForecast& forecast : forecasts) {
        ASSERT_TRUE(table.next());
        ASSERT_EQ(table.text("name"), forecast.name);
        expect_near(forecast.time_s, table.number("time_s"), forecast.name + " time");
        expect_near(forecast.time_low_s, table.number("time_low_s"), forecast.name + " low");
        expect_near(forecast.time_high_s, table.number("time_high_s"), forecast.name + " high");
        expect_near(forecast.energy_j, table.number("energy_j"), forecast.name + " energy");
        expect_near(forecast.energy_high_j, table.number("energy_high_j"), forecast.name + " high energy");
        expect_near(forecast.peak_memory_bytes, table.number("peak_memory_bytes"), forecast.name + " memory");
    }
    EXPECT_FALSE(table.next());
}

TEST_P(EarlierVersion, BeginsWithItsNumber) {
    std::ifstream in(file(".jcp"), std::ios::binary);
    in.seekg(8);  // behind the magic bytes
    EXPECT_EQ(in.get(), GetParam());
}

/// Every version before today's has a sample, and today's once it is released.
INSTANTIATE_TEST_SUITE_P(Kept, EarlierVersion, ::testing::Values(1, 2, 3, 4),
                         [](const auto& tested) { return "Version" + std::to_string(tested.param); });

TEST(EarlierVersions, AreAllKept) {
    for (std::uint32_t version = 1; version < jcp_version; ++version) {
        EXPECT_TRUE(std::filesystem::exists(std::string(JOULECAST_SOURCE_DIR) + "/tests/model/data/version_" +
                                            std::to_string(version) + ".jcp"))
            << "before the format's version is raised, the program before writes a sample (write_sample.cpp)";
    }
}

TEST(EarlierVersions, HaveEveryKindOfModelInTheSecond) {
    const Predictor predictor = read_jcp(std::string(JOULECAST_SOURCE_DIR) + "/tests/model/data/version_2.jcp");
    std::set<std::size_t> kinds;
    for (const FamilyModel& model : predictor.devices.at(0).models) {
        for (const ModelPart& part : model.parts) kinds.insert(part.model.index());
    }
    EXPECT_EQ(kinds.size(), 6U);  // forest, boosted trees, polynomial, neighbours, perceptron, support vectors
}

}  // namespace
}  // namespace joulecast
