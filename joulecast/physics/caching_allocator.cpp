#include "joulecast/physics/caching_allocator.h"

#include <algorithm>
#include <string>

#include "joulecast/error.h"

namespace joulecast {
namespace {

constexpr std::int64_t mib = 1 << 20;
constexpr std::int64_t smallest_block = 512;
constexpr std::int64_t largest_small = mib;
constexpr std::int64_t small_segment = 2 * mib;
constexpr std::int64_t large_segment = 20 * mib;
constexpr std::int64_t own_segment_from = 10 * mib;
constexpr std::int64_t segment_rounding = 2 * mib;

constexpr std::int64_t rounded_up(std::int64_t bytes, std::int64_t to) {
    return (bytes + to - 1) / to * to;
}

constexpr std::int64_t segment_for(std::int64_t bytes) {
    if (bytes <= largest_small) return small_segment;
    if (bytes < own_segment_from) return large_segment;
    return rounded_up(bytes, segment_rounding);
}

}  // namespace

CachingAllocator::Handle CachingAllocator::allocate(std::int64_t bytes) {
    if (bytes < 0) throw Error("cannot allocate " + std::to_string(bytes) + " bytes");
    if (bytes == 0) return none;
    const std::int64_t size = rounded_up(bytes, smallest_block);
    const std::size_t pool = size <= largest_small ? 0 : 1;
    const auto found = std::ranges::lower_bound(free_[pool], Free{size, 0, 0});
    std::size_t block = none;
    if (found != free_[pool].end()) {
        block = found->block;
        free_[pool].erase(found);
        blocks_[block].is_free = false;
    } else {
        block = new_segment(segment_for(size), pool);
    }
    const std::int64_t left = blocks_[block].bytes - size;
    if (pool == 0 ? left >= smallest_block : left > largest_small) split(block, size);
    allocated_ += blocks_[block].bytes;
    return block;
}

void CachingAllocator::release(Handle handle) {
    if (handle == none) return;
    allocated_ -= blocks_.at(handle).bytes;
    const auto can_join = [&](std::size_t neighbour) { return neighbour != none && blocks_[neighbour].is_free; };
    if (const std::size_t behind = blocks_[handle].behind; can_join(behind)) {
        erase_free(behind);
        merge(handle, behind);
    }
    std::size_t whole = handle;
    if (const std::size_t before = blocks_[handle].before; can_join(before)) {
        erase_free(before);
        merge(before, handle);
        whole = before;
    }
    set_free(whole);
}

std::size_t CachingAllocator::new_segment(std::int64_t bytes, std::size_t pool) {
    // Addresses order blocks of one size; segments come one behind the other.
    blocks_.push_back({bytes, pool, none, none, reserved_, false});
    reserved_ += bytes;
    return blocks_.size() - 1;
}

void CachingAllocator::split(std::size_t block, std::int64_t bytes) {
    const std::size_t rest = blocks_.size();
    const Block& whole = blocks_[block];
    blocks_.push_back({whole.bytes - bytes, whole.pool, block, whole.behind, whole.address + bytes, false});
    if (blocks_[rest].behind != none) blocks_[blocks_[rest].behind].before = rest;
    blocks_[block].behind = rest;
    blocks_[block].bytes = bytes;
    set_free(rest);
}

void CachingAllocator::merge(std::size_t into, std::size_t block) {
    blocks_[into].bytes += blocks_[block].bytes;
    blocks_[into].behind = blocks_[block].behind;
    if (blocks_[into].behind != none) blocks_[blocks_[into].behind].before = into;
}

void CachingAllocator::set_free(std::size_t block) {
    blocks_[block].is_free = true;
    std::vector<Free>& free = free_[blocks_[block].pool];
    free.insert(std::ranges::lower_bound(free, key(block)), key(block));
}

void CachingAllocator::erase_free(std::size_t block) {
    std::vector<Free>& free = free_[blocks_[block].pool];
    free.erase(std::ranges::lower_bound(free, key(block)));
}

}  // namespace joulecast
