#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace joulecast {

/// SplitMix64 (Steele, Lea, Flood 2014). Own, because the distributions of <random> differ between libraries and a
/// predictor must come out the same everywhere from the same seed.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31U);
    }
    /// In [0, 1), 53 bits.
    double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
    /// In [0, bound); bound > 0. The bias of the modulo is below 2^-40 for the row counts met here.
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

  private:
    std::uint64_t state_;
};

/// Fisher and Yates; std::shuffle differs between standard libraries.
template <class Item>
void shuffle(std::vector<Item>& items, Random& random) {
    for (std::size_t left = items.size(); left > 1; --left) std::swap(items[left - 1], items[random.below(left)]);
}

}  // namespace joulecast
