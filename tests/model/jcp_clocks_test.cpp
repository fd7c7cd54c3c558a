#include "joulecast/model/jcp_clocks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

ClockParameters sample_parameters() {
    ClockParameters parameters = default_clock_parameters(find_device("a100-40g-pcie"));
    parameters.knee = 0.67;
    parameters.workloads = 3;
    parameters.spread = {0.01, 0.02, 0.03};
    parameters.idle = {{600, 45, 700}, {1410, 60, 850}};
    return parameters;
}

ClockParameters there_and_back(const ClockParameters& parameters) {
    ByteWriter out;
    put_clocks(out, parameters);
    ByteReader in(out.bytes(), "sample");
    ClockParameters taken = take_clocks(in);
    EXPECT_TRUE(in.at_end());
    return taken;
}

TEST(JcpClocks, ComeBackAsTheyWere) {
    EXPECT_EQ(there_and_back(sample_parameters()), sample_parameters());
    ClockParameters no_memory = sample_parameters();
    no_memory.memory_mhz = std::nan("");
    EXPECT_TRUE(std::isnan(there_and_back(no_memory).memory_mhz));
}

TEST(JcpClocks, RefuseWhatCannotBe) {
    const auto with = [](auto change) {
        ClockParameters parameters = sample_parameters();
        change(parameters);
        return parameters;
    };
    EXPECT_THROW(there_and_back(with([](auto& p) { p.highest_mhz = 100; })), FormatError);  // below the lowest
    EXPECT_THROW(there_and_back(with([](auto& p) { p.slope = -1; })), FormatError);
    EXPECT_THROW(there_and_back(with([](auto& p) { p.knee = 1; })), FormatError);
    EXPECT_THROW(there_and_back(with([](auto& p) { p.spread.time = std::nan(""); })), FormatError);
    EXPECT_THROW(there_and_back(with([](auto& p) { p.idle[1].sm_clock_mhz = 600; })), FormatError);
    EXPECT_THROW(there_and_back(with([](auto& p) { p.idle[0].voltage_mv = 0; })), FormatError);
    ByteWriter short_one;
    short_one.real(1.0);
    ByteReader in(short_one.bytes(), "sample");
    EXPECT_THROW(take_clocks(in), FormatError);
}

std::vector<ClockResidual> there_and_back(const std::vector<ClockResidual>& residuals) {
    ByteWriter out;
    put_residuals(out, residuals);
    ByteReader in(out.bytes(), "sample");
    auto taken = take_residuals(in);
    EXPECT_TRUE(in.at_end());
    return taken;
}

TEST(JcpClocks, ResidualsComeBackAsTheyWere) {
    const std::vector<ClockResidual> residuals = {{0.5, 1, -0.3, 0.4, 12}, {0.9, 0.5, 0.1, 0, 3}};
    EXPECT_EQ(there_and_back(residuals), residuals);
    EXPECT_TRUE(there_and_back(std::vector<ClockResidual>{}).empty());
    EXPECT_THROW(there_and_back({{0, 1, 0, 0, 1}}), FormatError);
    EXPECT_THROW(there_and_back({{1, -1, 0, 0, 1}}), FormatError);
    EXPECT_THROW(there_and_back({{1, 1, std::nan(""), 0, 1}}), FormatError);
    EXPECT_THROW(there_and_back({{1, 1, 0, 0, -1}}), FormatError);
    ByteWriter many;
    many.number(std::uint32_t{1} << 30);
    ByteReader in(many.bytes(), "sample");
    EXPECT_THROW(take_residuals(in), FormatError);
}

RatioSpread there_and_back(const RatioSpread& spread) {
    ByteWriter out;
    put_ratios(out, spread);
    ByteReader in(out.bytes(), "sample");
    const RatioSpread taken = take_ratios(in);
    EXPECT_TRUE(in.at_end());
    return taken;
}

TEST(JcpClocks, RatiosComeBackAsTheyWere) {
    const RatioSpread spread{0.01, 0.02, 0.03};
    EXPECT_EQ(there_and_back(spread), spread);
    EXPECT_THROW(there_and_back(RatioSpread{0, 0.02, 0.03}), FormatError);
    EXPECT_THROW(there_and_back(RatioSpread{0.01, std::nan(""), 0.03}), FormatError);
    EXPECT_THROW(there_and_back(RatioSpread{0.01, 0.02, -0.03}), FormatError);
}

LearnedClocks sample_trees() {
    const Forest forest{{{5, 0.5F, 2}, {-1, -0.2F, 0}, {-1, 0.1F, 0}}, {0}};
    return {{{{"add"}, forest, forest, 0.5, 0.25}, {{}, {{{-1, 0.3F, 0}}, {0}}, {}, 0.25, 0}}};
}

LearnedClocks there_and_back(const LearnedClocks& learned) {
    ByteWriter out;
    put_learned(out, learned);
    ByteReader in(out.bytes(), "sample");
    LearnedClocks taken = take_learned(in);
    EXPECT_TRUE(in.at_end());
    return taken;
}

TEST(JcpClocks, TreesComeBackAsTheyWere) {
    EXPECT_EQ(there_and_back(sample_trees()), sample_trees());
}

TEST(JcpClocks, RefuseTreesThatCannotBe) {
    const auto with = [](auto change) {
        LearnedClocks learned = sample_trees();
        change(learned.members[0]);
        return learned;
    };
    EXPECT_THROW(there_and_back(with([](auto& m) { m.time_weight = 0.8; })), FormatError);  // 1.05 together
    EXPECT_THROW(there_and_back(with([](auto& m) { m.power_weight = std::nan(""); })), FormatError);
    EXPECT_THROW(there_and_back(with([](auto& m) { m.power = {}; })), FormatError);     // weighed, but not there
    EXPECT_THROW(there_and_back(with([](auto& m) { m.words.clear(); })), FormatError);  // compares a column of a word
    EXPECT_THROW(there_and_back(with([](auto& m) { m.words = {"b", "a"}; })), FormatError);
}

}  // namespace
}  // namespace joulecast
