#include "joulecast/physics/caching_allocator.h"

#include <gtest/gtest.h>

#include <vector>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::int64_t mib = 1 << 20;

TEST(CachingAllocator, RoundsBlocksToHalfAKibibyteAndSmallSegmentsToTwoMebibytes) {
    CachingAllocator allocator;
    allocator.allocate(1);
    allocator.allocate(513);
    EXPECT_EQ(allocator.allocated_bytes(), 512 + 1024);
    EXPECT_EQ(allocator.reserved_bytes(), 2 * mib);
}

TEST(CachingAllocator, NothingIsTakenForNothing) {
    CachingAllocator allocator;
    allocator.release(allocator.allocate(0));
    EXPECT_EQ(allocator.reserved_bytes(), 0);
    EXPECT_THROW(allocator.allocate(-1), Error);
}

TEST(CachingAllocator, BlocksBelowTenMebibytesShareSegmentsOfTwenty) {
    CachingAllocator allocator;
    for (int i = 0; i < 6; ++i) allocator.allocate(3 * mib);
    EXPECT_EQ(allocator.reserved_bytes(), 20 * mib);
    allocator.allocate(3 * mib);  // 18 of the 20 are taken
    EXPECT_EQ(allocator.reserved_bytes(), 40 * mib);
}

TEST(CachingAllocator, LargerBlocksHaveSegmentsOfWholeTwoMebibytes) {
    CachingAllocator allocator;
    allocator.allocate(10 * mib);
    EXPECT_EQ(allocator.reserved_bytes(), 10 * mib);
    allocator.allocate(11 * mib);
    EXPECT_EQ(allocator.reserved_bytes(), 22 * mib);
    // One mebibyte would be left of the second segment: that is not split off.
    EXPECT_EQ(allocator.allocated_bytes(), 22 * mib);
}

TEST(CachingAllocator, FreeNeighboursGrowTogether) {
    for (const std::vector<std::size_t>& order : {std::vector<std::size_t>{0, 1, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2}}) {
        CachingAllocator allocator;
        std::vector<CachingAllocator::Handle> blocks;
        for (int i = 0; i < 3; ++i) blocks.push_back(allocator.allocate(3 * mib));
        for (const std::size_t block : order) allocator.release(blocks[block]);
        EXPECT_EQ(allocator.allocated_bytes(), 0);
        for (int i = 0; i < 2; ++i) allocator.allocate(9 * mib);  // 18 of 20, in one piece each
        EXPECT_EQ(allocator.reserved_bytes(), 20 * mib);
    }
}

TEST(CachingAllocator, TakesTheSmallestBlockThatFits) {
    CachingAllocator allocator;
    const auto large = allocator.allocate(16 * mib);
    const auto small = allocator.allocate(12 * mib);
    allocator.release(large);
    allocator.release(small);
    allocator.allocate(12 * mib);
    allocator.allocate(16 * mib);  // would not fit any more had the first come out of the larger one
    EXPECT_EQ(allocator.reserved_bytes(), 28 * mib);
}

TEST(CachingAllocator, SmallAndLargeBlocksNeverShareASegment) {
    CachingAllocator allocator;
    allocator.release(allocator.allocate(20 * mib));
    allocator.allocate(1000);
    EXPECT_EQ(allocator.reserved_bytes(), 22 * mib);
}

}  // namespace
}  // namespace joulecast
