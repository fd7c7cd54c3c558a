#include "joulecast/graph/strides.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace joulecast::records {

namespace {

/// computeStride for a tensor with elements and dimensions: both shapes are cut into the chunks whose memory lies in
/// one piece, from the fastest dimension on.
std::optional<Strides> viewed_strides(const Sizes& old_sizes, const Strides& old_strides, const Sizes& sizes) {
    Strides strides(sizes.size());
    std::size_t left = sizes.size();
    std::int64_t chunk_stride = old_strides.back();
    std::int64_t chunk = 1;
    std::int64_t viewed = 1;
    for (std::size_t d = old_sizes.size(); d-- > 0;) {
        chunk *= old_sizes[d];
        const bool ends = d == 0 || (old_sizes[d - 1] != 1 && old_strides[d - 1] != chunk * chunk_stride);
        if (!ends) continue;
        while (left > 0 && (viewed < chunk || sizes[left - 1] == 1)) {
            --left;
            strides[left] = viewed * chunk_stride;
            viewed *= sizes[left];
        }
        if (viewed != chunk) return std::nullopt;
        if (d > 0) chunk_stride = old_strides[d - 1];
        chunk = 1;
        viewed = 1;
    }
    if (left != 0) return std::nullopt;
    return strides;
}

}  // namespace

std::optional<TensorType> view_of(const TensorType& self, Sizes sizes) {
    TensorType plain{self.dtype, std::move(sizes), {}, false};
    if (is_contiguous(self)) return plain;  // also what has no elements or no dimensions
    const auto strides = viewed_strides(self.sizes, self.strides, plain.sizes);
    if (!strides) return std::nullopt;
    return strided(self.dtype, std::move(plain.sizes), *strides);
}

TensorType reshape_of(const TensorType& self, Sizes sizes) {
    if (auto view = view_of(self, sizes)) return *std::move(view);
    return {self.dtype, std::move(sizes), {}, false};
}

TensorType permuted(const TensorType& self, const std::vector<std::size_t>& from) {
    const Strides strides = strides_of(self);
    Sizes sizes;
    Strides moved;
    for (const std::size_t d : from) {
        sizes.push_back(self.sizes[d]);
        moved.push_back(strides[d]);
    }
    return strided(self.dtype, std::move(sizes), moved);
}

namespace {

/// An operand's strides under the sizes that it is broadcast to.
Strides broadcast_strides(const TensorType& type, const Sizes& sizes) {
    const Strides own = strides_of(type);
    Strides strides(sizes.size(), 0);
    if (own.size() > sizes.size()) return strides;  // not broadcast: a parameter of its own shape
    const std::size_t offset = sizes.size() - own.size();
    for (std::size_t i = 0; i < own.size(); ++i) {
        if (type.sizes[i] == sizes[offset + i]) strides[offset + i] = own[i];
    }
    return strides;
}

/// Below zero where dimension a is the faster one, above zero where b is, 0 where no operand tells.
int compare(const Sizes& sizes, const std::vector<Strides>& operands, std::size_t a, std::size_t b) {
    for (const Strides& strides : operands) {
        if (strides[a] == 0 || strides[b] == 0) continue;
        if (strides[a] != strides[b]) return strides[a] < strides[b] ? -1 : 1;
        if (sizes[a] > sizes[b]) return 1;
    }
    return 0;
}

/// Dimensions from the fastest on: TensorIterator's insertion sort, which passes over comparisons that tell nothing.
std::vector<std::size_t> iteration_order(const Sizes& sizes, const std::vector<Strides>& operands) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.rbegin(), order.rend(), std::size_t{0});
    for (std::size_t i = 1; i < order.size(); ++i) {
        std::size_t moving = i;
        for (std::size_t j = i; j-- > 0;) {
            const int comparison = compare(sizes, operands, order[j], order[moving]);
            if (comparison < 0) break;
            if (comparison == 0) continue;
            std::swap(order[j], order[moving]);
            moving = j;
        }
    }
    return order;
}

TensorType dense_in(Dtype dtype, const Sizes& sizes, const std::vector<std::size_t>& fastest_first) {
    Strides strides(sizes.size());
    std::int64_t stride = 1;
    for (const std::size_t d : fastest_first) {
        strides[d] = stride;
        stride *= std::max<std::int64_t>(sizes[d], 1);
    }
    return strided(dtype, sizes, strides);
}

bool is_plain(const TensorType* type) {
    return is_contiguous(*type);
}

}  // namespace

TensorType iterated(Dtype dtype, const Sizes& sizes, std::span<const TensorType* const> operands) {
    if (std::ranges::all_of(operands, is_plain)) return {dtype, sizes, {}, false};
    const TensorType& first = *operands.front();
    const bool alike = std::ranges::all_of(operands, [&](const TensorType* operand) {
        return operand->sizes == sizes && operand->strides == first.strides;
    });
    if (alike && is_dense(first)) return {dtype, sizes, first.strides, false};
    std::vector<Strides> strides;
    for (const TensorType* operand : operands) strides.push_back(broadcast_strides(*operand, sizes));
    return dense_in(dtype, sizes, iteration_order(sizes, strides));
}

TensorType like(const TensorType& self, Dtype dtype) {
    const TensorType* const operand = &self;
    return iterated(dtype, self.sizes, {&operand, 1});
}

bool suggests_channels_last(const TensorType& type) {
    const bool volume = type.sizes.size() == 5;
    if (is_contiguous(type) || (type.sizes.size() != 4 && !volume)) return false;
    if (type.strides[1] == 0) return false;
    static constexpr std::array<std::size_t, 4> image_order{1, 3, 2, 0};
    static constexpr std::array<std::size_t, 5> volume_order{1, 4, 3, 2, 0};
    const std::span<const std::size_t> order = volume ? std::span<const std::size_t>(volume_order) : image_order;
    std::int64_t least = 0;
    for (const std::size_t d : order) {
        if (type.strides[d] < least) return false;
        // One pixel in one channel: torch takes it for contiguous.
        if (d == 0 && least == type.strides[1]) return false;
        least = type.strides[d] * type.sizes[d];
    }
    return true;
}

}  // namespace joulecast::records
