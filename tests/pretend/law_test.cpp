#include "workers/pretend/law.h"

#include <gtest/gtest.h>

#include "workers/pretend/card.h"

namespace joulecast::pretend {
namespace {

Card card_named(const std::string& id) {
    for (const Card& card : built_in_cards()) {
        if (card.sheet.id == id) return card;
    }
    throw std::runtime_error("no card " + id);
}

Setting at(const Card& card, double sm_clock_mhz = 0) {
    Setting setting;
    setting.sm_clock_mhz = sm_clock_mhz > 0 ? sm_clock_mhz : card.sheet.boost_clock_mhz;
    setting.memory_clock_mhz = card.memory_clocks_mhz.empty() ? 0 : card.memory_clocks_mhz.back();
    return setting;
}

Work work(const std::string& signature) {
    return work_of(parse_operation(signature), true);
}

Work product(int n) {
    const std::string size = std::to_string(n) + "," + std::to_string(n);
    return work("aten::matmul(self=f32[" + size + "], other=f32[" + size + "])");
}

Kernel tiles(double rows) {
    Kernel kernel;
    kernel.family = Family::matmul;
    kernel.rows = rows;
    kernel.columns = 128;
    kernel.depth = 8192;
    kernel.flop = 2 * kernel.rows * kernel.columns * kernel.depth;
    return kernel;
}

TEST(PretendedLaw, MoreWorkTakesLongerOnEveryCard) {
    for (const Card& card : built_in_cards()) {
        double before_s = 0;
        for (int n = 32; n <= 8192; n *= 2) {
            const double now_s = effort(card, product(n), at(card)).busy_s;
            EXPECT_GT(now_s, before_s) << card.sheet.id << " at " << n;
            before_s = now_s;
        }
    }
}

TEST(PretendedLaw, OneTileMoreThanThereAreUnitsIsAnotherWave) {
    // 56 tiles of 128 x 128 fill the 56 units of card A once. One row more needs a second wave, or narrower tiles:
    // those of 64 are 226, so five waves of a quarter at 0.75 of the rate: 5/3 of the time.
    const Card card = card_named("pretend-a");
    const double full_s = effort(card, tiles(56 * 128), at(card)).busy_s;
    const double over_s = effort(card, tiles(56 * 128 + 1), at(card)).busy_s;
    EXPECT_NEAR(over_s / full_s, 5.0 / 3.0, 0.01);
}

TEST(PretendedLaw, NoProductIsFasterThanTheDataSheet) {
    for (const Card& card : built_in_cards()) {
        const double flop_s = 2.0 * 8192 * 8192 * 8192 / effort(card, product(8192), at(card)).busy_s;
        EXPECT_LT(flop_s, card.sheet.peak_flop_per_s_fp32) << card.sheet.id;
        EXPECT_GT(flop_s, 0.4 * card.sheet.peak_flop_per_s_fp32) << card.sheet.id;
    }
}

TEST(PretendedLaw, StreamsFollowTheCoreClockBelowTheKneeOnly) {
    // Card A: 0.87 x 920 GB/s over 56 units of 14 bytes a cycle is 1021 MHz.
    const Card card = card_named("pretend-a");
    const Work stream = work("aten::relu(self=f32[512,512,512])");
    const double top_s = effort(card, stream, at(card, 1500)).busy_s;
    const double above_s = effort(card, stream, at(card, 1050)).busy_s;
    const double below_s = effort(card, stream, at(card, 500)).busy_s;
    EXPECT_LT(above_s / top_s, 1.1);
    EXPECT_GT(below_s / above_s, 1.8);
}

TEST(PretendedLaw, StreamsFollowTheMemoryClock) {
    const Card card = card_named("pretend-b");
    Setting slow = at(card);
    slow.memory_clock_mhz = card.memory_clocks_mhz.front();
    const Work stream = work("aten::relu(self=f32[512,512,512])");
    EXPECT_GT(effort(card, stream, slow).busy_s, 1.7 * effort(card, stream, at(card)).busy_s);
}

TEST(PretendedLaw, HalfOfTheBytesAreHeldWhenTheCacheIsJustFull) {
    const Card card = card_named("pretend-a");
    EXPECT_DOUBLE_EQ(cached_share(card, card.sheet.last_level_cache_bytes), 0.5);
    EXPECT_GT(cached_share(card, 0.1 * card.sheet.last_level_cache_bytes), 0.99);
    EXPECT_LT(cached_share(card, 3 * card.sheet.last_level_cache_bytes), 0.05);
}

TEST(PretendedLaw, OnlyBytesThatMissGoToTheMemory) {
    const Card card = card_named("pretend-a");
    Kernel kernel;
    kernel.bytes_read = 1e6;
    kernel.bytes_written = 1e5;
    EXPECT_DOUBLE_EQ(effort(card, kernel, at(card)).memory_j, 1.1e6 * card.joule_per_memory_byte);
    kernel.cached = 1;
    EXPECT_DOUBLE_EQ(effort(card, kernel, at(card)).memory_j, 0.5 * 1e5 * card.joule_per_memory_byte);
}

TEST(PretendedLaw, TypesOfMatrixUnitsAreFasterWhereACardHasThem) {
    const Card card = card_named("pretend-a");
    Setting tf32 = at(card);
    tf32.math = Math::tf32;
    EXPECT_LT(effort(card, product(4096), tf32).busy_s, 0.3 * effort(card, product(4096), at(card)).busy_s);
    EXPECT_FALSE(card_named("pretend-b").has(Dtype::bf16));
    EXPECT_FALSE(card_named("pretend-b").has_tf32());
}

TEST(PretendedLaw, TheHostOfManySmallCallsDecides) {
    const Card card = card_named("pretend-c");
    Work small;
    for (int i = 0; i < 100; ++i) small.push_back(product(32).front());
    Setting setting = at(card);
    setting.host = Host::python;
    const Effort python = effort(card, small, setting);
    // 100 calls of 6.2 us each, the last of which still has to be computed.
    EXPECT_NEAR(python.host_s, 100 * 6.2e-6, 1e-9);
    EXPECT_NEAR(python.span_s, python.host_s + python.busy_s / 100, 1e-9);
    setting.host = Host::graph;
    const Effort graph = effort(card, small, setting);
    EXPECT_NEAR(graph.span_s, 1.2e-6 + graph.busy_s, 1e-9);
}

TEST(PretendedLaw, ACallThatIsWaitedForHoldsTheHostUp) {
    const Card card = card_named("pretend-a");
    Work calls = {product(4096).front(), product(32).front()};
    const double free_s = effort(card, calls, at(card)).host_s;
    calls[0].synchronises = true;
    EXPECT_NEAR(effort(card, calls, at(card)).host_s, free_s + effort(card, product(4096), at(card)).busy_s, 1e-9);
}

TEST(PretendedLaw, ACpuWithMoreThreadsIsFaster) {
    const Card card = card_named("pretend-cpu");
    Setting one = at(card);
    one.threads = 1;
    EXPECT_GT(effort(card, product(1024), one).busy_s, 6 * effort(card, product(1024), at(card)).busy_s);
}

TEST(PretendedLaw, BackwardOfAProductIsAProductForEachOperand) {
    const Operation both = parse_operation("aten::linear(input=f32[64,256]~, weight=f32[512,256]~)");
    const Step step = backward_step(both);
    ASSERT_EQ(step.kernels.size(), 2U);
    EXPECT_DOUBLE_EQ(step.kernels[0].flop, 2.0 * 64 * 256 * 512);
    EXPECT_DOUBLE_EQ(step.kernels[0].depth, 512);
    EXPECT_DOUBLE_EQ(step.kernels[1].depth, 64);
}

}  // namespace
}  // namespace joulecast::pretend
