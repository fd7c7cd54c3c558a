#pragma once

#include <array>
#include <cstddef>

namespace joulecast {

/// A batch of matrix products.
struct ProductSize {
    double batch = 0;
    double rows = 0;     ///< of the result
    double columns = 0;  ///< of the result
    double depth = 0;    ///< of the sums

    bool known() const { return batch > 0 && rows > 0 && columns > 0 && depth > 0; }
};

/// The products that an operation is made of, each of the same arithmetic, and the units of the device that compute
/// them: in training forward, gradient of the input, gradient of the weights.
struct Products {
    std::array<ProductSize, 3> sizes;
    std::size_t count = 0;
    int units = 0;

    void add(const ProductSize& size) {
        if (size.known() && count < sizes.size()) sizes[count++] = size;
    }
};

/// How a device cuts the results of matrix products into square tiles. What a library does with a choice of kernels:
/// it takes the tiles that are done first. (NVIDIA, "Matrix Multiplication Background User's Guide": tile and wave
/// quantisation; Osama et al. 2023, "Stream-K": cutting along the depth.)
struct Tiles {
    int widest = 0;         ///< edge; 0: as if endless fine
    int narrowest = 0;      ///< edges between are halves of halves of the widest
    int at_once = 1;        ///< how many of them a unit computes at once
    double share = 1;       ///< of the rate of tiles twice as wide
    double half_depth = 0;  ///< depth at which a tile reaches half of its rate
    bool splits = false;    ///< where tiles leave units idle, deep sums are cut into parts

    friend bool operator==(const Tiles&, const Tiles&) = default;
};

/// Parts of a sum are no shallower than this.
inline constexpr double least_split_depth = 256;

/// One way to cut a product, before what its tiles reach.
struct TileCut {
    double factor = 1;  ///< arithmetic of whole tiles in whole waves of them / that of the product
    double depth = 0;   ///< of each part of the sums
    double active = 1;  ///< share of the units' places that have a tile
};

/// With square tiles of this edge, the sums in one part or, where `splits`, in as many as units would else be idle.
TileCut tile_cut(const ProductSize& size, int units, double edge, int at_once, bool splits);

/// How many times as long the arithmetic takes as that of endless fine tiles at the rate of the widest, the mean over
/// the products; 1 where there is none, and for no tiles.
double tile_factor(const Tiles& tiles, const Products& products);

/// The share of the units that have a tile, on average over the waves and the products; 1 where there is none, and for
/// no tiles.
double active_share(const Tiles& tiles, const Products& products);

}  // namespace joulecast
