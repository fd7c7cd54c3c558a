#include "joulecast/physics/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace joulecast {
namespace {

/// The cut that is done first, and how many times as long it takes.
std::pair<TileCut, double> first_done(const Tiles& tiles, const ProductSize& size, int units) {
    std::pair<TileCut, double> best{{}, std::numeric_limits<double>::infinity()};
    double rate = 1;
    for (int edge = tiles.widest; edge >= std::max(1, tiles.narrowest); edge /= 2, rate *= tiles.share) {
        for (const bool splits : {false, true}) {
            if (splits && !tiles.splits) continue;
            const TileCut cut = tile_cut(size, units, edge, tiles.at_once, splits);
            const double times = cut.factor * (1 + tiles.half_depth / cut.depth) / rate;
            if (times < best.second) best = {cut, times};
        }
    }
    return best;
}

bool has_tiles(const Tiles& tiles, const Products& products) {
    return tiles.widest > 0 && products.count > 0 && products.units > 0;
}

}  // namespace

TileCut tile_cut(const ProductSize& size, int units, double edge, int at_once, bool splits) {
    const double across = std::ceil(size.columns / edge), down = std::ceil(size.rows / edge);
    const double tiles = size.batch * across * down;
    const double slots = static_cast<double>(units) * at_once;
    const double room = std::min(std::floor(slots / tiles), std::floor(size.depth / least_split_depth));
    const double parts = splits ? std::max(1.0, room) : 1;
    const double waves = tiles * parts / slots;
    const double overhang = across * down * edge * edge / (size.rows * size.columns);
    return {overhang * std::ceil(waves) / waves, size.depth / parts, waves / std::ceil(waves)};
}

double tile_factor(const Tiles& tiles, const Products& products) {
    if (!has_tiles(tiles, products)) return 1;
    double sum = 0;
    for (std::size_t i = 0; i < products.count; ++i) sum += first_done(tiles, products.sizes[i], products.units).second;
    return sum / static_cast<double>(products.count);
}

double active_share(const Tiles& tiles, const Products& products) {
    if (!has_tiles(tiles, products)) return 1;
    double active = 0, whole = 0;
    for (std::size_t i = 0; i < products.count; ++i) {
        const auto [cut, times] = first_done(tiles, products.sizes[i], products.units);
        active += times * cut.active;
        whole += times;
    }
    return active / whole;
}

}  // namespace joulecast
