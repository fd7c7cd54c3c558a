#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace joulecast {

/// How much memory PyTorch's CUDACachingAllocator takes from the device: a replay of its rules with its default
/// settings on one stream, for a device that never runs out (c10/cuda/CUDACachingAllocator.cpp: round_size,
/// get_allocation_size, get_free_block, should_split, free_block). Blocks are multiples of 512 bytes. Those up to 1 MiB
/// come out of segments of 2 MiB; those below 10 MiB out of segments of 20 MiB; larger ones have segments of their own
/// of whole 2 MiB. The smallest free block that is large enough is taken, and split where more than 512 bytes (in the
/// large pool, more than 1 MiB) would be left; neighbours that are free grow together. Segments are never given back.
class CachingAllocator {
  public:
    using Handle = std::size_t;

    /// A block of that many bytes; none is taken for 0. Throws Error for a negative number.
    Handle allocate(std::int64_t bytes);
    void release(Handle handle);

    std::int64_t allocated_bytes() const { return allocated_; }  ///< torch.cuda.memory_allocated
    std::int64_t reserved_bytes() const { return reserved_; }    ///< torch.cuda.memory_reserved

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    struct Block {
        std::int64_t bytes = 0;
        std::size_t pool = 0;
        std::size_t before = none;  ///< neighbours in the segment
        std::size_t behind = none;
        std::int64_t address = 0;
        bool is_free = false;
    };
    struct Free {
        std::int64_t bytes;
        std::int64_t address;
        std::size_t block;
        friend auto operator<=>(const Free&, const Free&) = default;
    };

    std::size_t new_segment(std::int64_t bytes, std::size_t pool);
    void split(std::size_t block, std::int64_t bytes);
    void merge(std::size_t into, std::size_t block);
    void set_free(std::size_t block);
    void erase_free(std::size_t block);
    Free key(std::size_t block) const { return {blocks_[block].bytes, blocks_[block].address, block}; }

    std::vector<Block> blocks_;
    /// Of small and of large blocks, ascending. They are few: a set's memory for each takes longer than moving them.
    std::array<std::vector<Free>, 2> free_;
    std::int64_t allocated_ = 0;
    std::int64_t reserved_ = 0;
};

}  // namespace joulecast
