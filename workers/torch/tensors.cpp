#include "workers/torch/tensors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "joulecast/error.h"

namespace joulecast::torch_worker {

namespace {

/// Elements per pool; not a power of two, so that copies of it do not line up with rows of common sizes.
constexpr std::int64_t pool_elements = (std::int64_t{1} << 20) + 77;

/// Copies within the device's memory.
void tile_elsewhere(at::Tensor& dense, const at::Tensor& pool, std::int64_t start) {
    const at::Tensor flat = dense.view({dense.numel()});
    for (std::int64_t done = 0; done < dense.numel();) {
        const std::int64_t part = std::min(dense.numel() - done, pool.numel() - start);
        flat.narrow(0, done, part).copy_(pool.narrow(0, start, part));
        done += part;
        start = 0;
    }
}

using PoolKey = std::tuple<std::uint64_t, std::pair<c10::DeviceType, c10::DeviceIndex>, at::ScalarType, Content::Kind>;

/// Repeats the pool's bytes over the tensor, from a given element on.
void tile(at::Tensor& dense, const at::Tensor& pool, std::size_t start_element) {
    const std::size_t item = dense.element_size();
    const std::size_t pool_bytes = static_cast<std::size_t>(pool.numel()) * item;
    if (!dense.is_cpu()) {
        tile_elsewhere(dense, pool, static_cast<std::int64_t>(start_element));
        return;
    }
    auto* to = static_cast<char*>(dense.data_ptr());
    std::size_t left = static_cast<std::size_t>(dense.numel()) * item;
    std::size_t start = start_element * item;
    while (left > 0) {
        const std::size_t part = std::min(left, pool_bytes - start);
        std::memcpy(to, static_cast<const char*>(pool.data_ptr()) + start, part);
        to += part;
        left -= part;
        start = 0;
    }
}

}  // namespace

at::ScalarType scalar_type(Dtype dtype) {
    switch (dtype) {
        case Dtype::u8:
            return at::kByte;
        case Dtype::i8:
            return at::kChar;
        case Dtype::i16:
            return at::kShort;
        case Dtype::i32:
            return at::kInt;
        case Dtype::i64:
            return at::kLong;
        case Dtype::f16:
            return at::kHalf;
        case Dtype::f32:
            return at::kFloat;
        case Dtype::f64:
            return at::kDouble;
        case Dtype::c64:
            return at::kComplexFloat;
        case Dtype::c128:
            return at::kComplexDouble;
        case Dtype::boolean:
            return at::kBool;
        case Dtype::bf16:
            return at::kBFloat16;
        case Dtype::f8e4m3fn:
            return at::kFloat8_e4m3fn;
        case Dtype::f8e5m2:
            return at::kFloat8_e5m2;
    }
    throw Error("dtype is not known to the torch worker");
}

const at::Tensor& TensorMaker::pool(at::ScalarType type, Content::Kind kind) {
    // Never destroyed: a GPU's memory cannot be given back when the process is ending.
    static auto& pools = *new std::map<PoolKey, at::Tensor>;
    if (!pools.empty() && std::get<0>(pools.begin()->first) != seed_) pools.clear();
    at::Tensor& values = pools[{seed_, {place_.type(), place_.index()}, type, kind}];
    if (values.defined()) return values;
    std::mt19937_64 random(seed_);  // its own, so that contents do not depend on what was drawn before
    std::vector<float> drawn(pool_elements);
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> uniform(0.05F, 0.95F);
    for (float& value : drawn) {
        value = normal(random);
        if (kind == Content::Kind::positive) value = std::abs(value) + 0.5F;
        if (kind == Content::Kind::sign) value = value < 0.0F ? -1.0F : 1.0F;
        if (kind == Content::Kind::unit) value = uniform(random);
    }
    values = at::from_blob(drawn.data(), {pool_elements}, at::kFloat).to(type, false, true).to(place_);
    return values;
}

namespace {

/// Place i of n: 0 and even steps towards `high`, or the share of `high`.
std::int64_t ordered_value(const Content& content, std::int64_t i, std::int64_t n) {
    if (content.kind == Content::Kind::ascending) return i * (content.high / std::max<std::int64_t>(n, 1));
    return content.high / n + (i < content.high % n ? 1 : 0);
}

void fill_ordered(at::Tensor& dense, const Content& content) {
    std::vector<std::int64_t> values(static_cast<std::size_t>(dense.numel()));
    const std::int64_t count = dense.numel();
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = ordered_value(content, i, count);
    dense.view({count}).copy_(at::from_blob(values.data(), {count}, at::kLong));
}

}  // namespace

void TensorMaker::fill_integers(at::Tensor& dense, const Content& content) {
    if (content.kind == Content::Kind::ascending || content.kind == Content::Kind::shares) {
        fill_ordered(dense, content);
        return;
    }
    const std::int64_t high = std::max(content.high, content.low + 1);
    std::uniform_int_distribution<std::int64_t> draw(content.low, high - 1);
    const std::int64_t count = std::min<std::int64_t>(dense.numel(), pool_elements);
    std::vector<std::int64_t> drawn(static_cast<std::size_t>(count));
    for (auto& value : drawn) value = draw(random_);
    tile(dense, at::from_blob(drawn.data(), {count}, at::kLong).to(dense.scalar_type(), false, true).to(place_), 0);
}

void TensorMaker::fill(at::Tensor& dense, const Content& content) {
    if (dense.numel() == 0) return;
    if (!at::isFloatingType(dense.scalar_type()) && !at::isComplexType(dense.scalar_type())) {
        fill_integers(dense, content);
        return;
    }
    const bool of_integers = content.kind == Content::Kind::index || content.kind == Content::Kind::ascending ||
                             content.kind == Content::Kind::shares;
    const Content::Kind kind = of_integers ? Content::Kind::normal : content.kind;
    const at::Tensor& values = pool(dense.scalar_type(), kind);
    std::uniform_int_distribution<std::size_t> start(0, pool_elements - 1);
    tile(dense, values, start(random_));
    if (content.scale == 1.0F && content.offset == 0.0F) return;
    if (c10::isFloat8Type(dense.scalar_type())) {  // has no arithmetic of its own
        dense.copy_(dense.to(at::kFloat).mul_(content.scale).add_(content.offset));
        return;
    }
    if (content.scale != 1.0F) dense.mul_(content.scale);
    if (content.offset != 0.0F) dense.add_(content.offset);
}

TensorType as_parameter(TensorType type) {
    type.requires_grad = is_floating(type.dtype);
    return type;
}

at::Tensor TensorMaker::make(const TensorType& type, const Content& content) {
    const at::NoGradGuard no_grad;
    const auto options = at::TensorOptions().dtype(scalar_type(type.dtype)).device(place_);
    const std::int64_t elements = span(type);  // throws on negative or overflowing sizes and strides
    // No view: some operations in place refuse those.
    at::Tensor tensor =
        is_contiguous(type) ? at::empty(type.sizes, options) : at::empty_strided(type.sizes, type.strides, options);
    // Gaps are filled too: a cache line may hold both.
    at::Tensor storage = tensor.as_strided({elements}, {1});
    fill(storage, content);
    if (type.requires_grad && is_floating(type.dtype)) tensor.requires_grad_(true);
    return tensor;
}

at::Tensor TensorMaker::normal_like(const at::Tensor& like) {
    const at::NoGradGuard no_grad;
    at::Tensor tensor = at::empty_like(like);
    if (tensor.is_non_overlapping_and_dense()) {
        at::Tensor storage = tensor.as_strided({tensor.numel()}, {1});  // dimensions in another order have no flat view
        fill(storage, Content{});
    } else {
        tensor.normal_();
    }
    return tensor;
}

}  // namespace joulecast::torch_worker
