#include "joulecast/graph/tensor_type.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {

namespace {

struct DtypeRow {
    std::string_view name;
    std::string_view long_name;
    std::int64_t bytes;
    bool floating;
};

// In the order of enum Dtype.
constexpr std::array<DtypeRow, 14> dtypes{{{"u8", "uint8", 1, false},
                                           {"i8", "int8", 1, false},
                                           {"i16", "int16", 2, false},
                                           {"i32", "int32", 4, false},
                                           {"i64", "int64", 8, false},
                                           {"f16", "float16", 2, true},
                                           {"f32", "float32", 4, true},
                                           {"f64", "float64", 8, true},
                                           {"c64", "complex64", 8, true},
                                           {"c128", "complex128", 16, true},
                                           {"bool", "boolean", 1, false},
                                           {"bf16", "bfloat16", 2, true},
                                           {"f8e4m3fn", "float8_e4m3fn", 1, true},
                                           {"f8e5m2", "float8_e5m2", 1, true}}};
static_assert(static_cast<std::size_t>(Dtype::f8e5m2) + 1 == dtypes.size());

const DtypeRow& row(Dtype dtype) {
    return dtypes[static_cast<std::size_t>(dtype)];
}

/// Far above any memory; sums of a few such numbers still fit into 64 bits.
constexpr std::int64_t largest_count = std::int64_t{1} << 62;

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || product > largest_count) {
        throw FormatError("tensor is too large: its sizes multiply to more than 2^62");
    }
    return product;
}

}  // namespace

std::string_view name(Dtype dtype) {
    return row(dtype).name;
}

std::optional<Dtype> parse_dtype(std::string_view text) {
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
        if (text == dtypes[i].name || text == dtypes[i].long_name) return static_cast<Dtype>(i);
    }
    return std::nullopt;
}

std::int64_t element_bytes(Dtype dtype) {
    return row(dtype).bytes;
}

bool is_floating(Dtype dtype) {
    return row(dtype).floating;
}

namespace {

void check_strides(const TensorType& type) {
    if (!type.strides.empty() && type.strides.size() != type.sizes.size()) {
        throw FormatError("tensor has more or fewer strides than sizes");
    }
}

}  // namespace

std::int64_t element_count(const TensorType& type) {
    check_strides(type);
    std::int64_t count = 1;
    bool empty = false;
    for (const std::int64_t size : type.sizes) {
        if (size < 0) throw FormatError("tensor has a negative size: " + std::to_string(size));
        // A zero must not hide an overflow elsewhere or make the answer depend on the order.
        if (size == 0) {
            empty = true;
        } else {
            count = checked_product(count, size);
        }
    }
    return empty ? 0 : count;
}

std::int64_t byte_count(const TensorType& type) {
    return checked_product(element_count(type), element_bytes(type.dtype));
}

namespace {

/// More than any memory holds; sizes and strides below it multiply within 128 bits.
constexpr std::int64_t largest_span = std::int64_t{1} << 50;

bool is_empty(const Sizes& sizes) {
    return std::find(sizes.begin(), sizes.end(), 0) != sizes.end();
}

/// Fills strides along `order`, slowest dimension first.
template <class Order>
Strides dense_strides(const Sizes& sizes, const Order& order) {
    Strides strides(sizes.size());
    std::int64_t stride = 1;
    for (auto dim = order.rbegin(); dim != order.rend(); ++dim) {
        strides[*dim] = stride;
        if (sizes[*dim] > 1) stride = checked_product(stride, sizes[*dim]);
    }
    return strides;
}

/// True where the strides of all dimensions of more than one element agree.
bool lies_as(const Sizes& sizes, const Strides& a, const Strides& b) {
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] > 1 && a[i] != b[i]) return false;
    }
    return true;
}

bool may_be_image(const Sizes& sizes) {
    return sizes.size() == 4 || sizes.size() == 5;
}

std::int64_t checked_span(const Sizes& sizes, const Strides& strides) {
    std::int64_t last = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (strides[i] < 0) throw FormatError("tensor has a negative stride: " + std::to_string(strides[i]));
        std::int64_t reach = 0;
        if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) || __builtin_add_overflow(last, reach, &last) ||
            last >= largest_span) {
            throw FormatError("tensor is too large: its strides reach over more than 2^50 elements");
        }
    }
    return last + 1;
}

}  // namespace

Strides contiguous_strides(const Sizes& sizes) {
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return dense_strides(sizes, order);
}

Strides channels_last_strides(const Sizes& sizes) {
    if (!may_be_image(sizes)) throw FormatError("channels_last is an order of 4 or 5 dimensions");
    return sizes.size() == 4 ? dense_strides(sizes, std::array<std::size_t, 4>{0, 2, 3, 1})
                             : dense_strides(sizes, std::array<std::size_t, 5>{0, 2, 3, 4, 1});
}

Strides strides_in_order_of(const TensorType& model, const Sizes& sizes) {
    if (model.sizes.size() != sizes.size()) throw FormatError("tensor has more or fewer strides than sizes");
    const Strides strides = strides_of(model);
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return strides[a] > strides[b]; });
    return dense_strides(sizes, order);
}

Strides strides_of(const TensorType& type) {
    check_strides(type);
    return type.strides.empty() ? contiguous_strides(type.sizes) : type.strides;
}

TensorType strided(Dtype dtype, Sizes sizes, const Strides& strides) {
    TensorType type{dtype, std::move(sizes), {}, false};
    if (strides.size() != type.sizes.size()) throw FormatError("tensor has more or fewer strides than sizes");
    for (const std::int64_t stride : strides) {
        if (stride < 0) throw FormatError("tensor has a negative stride: " + std::to_string(stride));
    }
    element_count(type);
    if (is_empty(type.sizes)) return type;
    checked_span(type.sizes, strides);
    if (lies_as(type.sizes, strides, contiguous_strides(type.sizes))) return type;
    if (may_be_image(type.sizes)) {
        Strides last = channels_last_strides(type.sizes);
        if (lies_as(type.sizes, strides, last)) {
            type.strides = std::move(last);
            return type;
        }
    }
    type.strides = strides;
    std::int64_t extent = 1;
    for (std::size_t i = strides.size(); i-- > 0;) {
        if (type.sizes[i] == 1) type.strides[i] = extent;
        extent = std::max(extent, type.sizes[i] * type.strides[i]);  // at most twice the span
    }
    return type;
}

TensorType channels_last(Dtype dtype, Sizes sizes) {
    const Strides strides = channels_last_strides(sizes);
    return strided(dtype, std::move(sizes), strides);
}

bool is_channels_last(const TensorType& type) {
    return !type.strides.empty() && may_be_image(type.sizes) && type.strides == channels_last_strides(type.sizes);
}

bool is_dense(const TensorType& type) {
    check_strides(type);
    std::vector<std::pair<std::int64_t, std::int64_t>> extents;
    for (std::size_t i = 0; i < type.strides.size(); ++i) {
        if (type.sizes[i] > 1) extents.emplace_back(type.strides[i], type.sizes[i]);
    }
    std::sort(extents.begin(), extents.end());
    std::int64_t expected = 1;
    for (const auto& [stride, size] : extents) {
        if (stride != expected) return false;
        if (__builtin_mul_overflow(expected, size, &expected)) return false;
    }
    return true;
}

Layout layout(const TensorType& type) {
    if (is_contiguous(type)) return Layout::contiguous;
    if (is_channels_last(type)) return Layout::channels_last;
    for (std::size_t i = 0; i < type.strides.size(); ++i) {
        if (type.sizes[i] > 1 && type.strides[i] == 0) return Layout::expanded;
    }
    return is_dense(type) ? Layout::permuted : Layout::gapped;
}

std::int64_t span(const TensorType& type) {
    const std::int64_t count = element_count(type);
    return type.strides.empty() || count == 0 ? count : checked_span(type.sizes, type.strides);
}

std::int64_t distinct_count(const TensorType& type) {
    const std::int64_t count = element_count(type);
    if (type.strides.empty() || count == 0) return count;
    std::int64_t distinct = 1;
    for (std::size_t i = 0; i < type.strides.size(); ++i) {
        if (type.strides[i] != 0) distinct *= type.sizes[i];  // divides count
    }
    // Windows that overlap touch no more than the storage they lie in.
    return std::min(distinct, span(type));
}

std::int64_t distinct_bytes(const TensorType& type) {
    return checked_product(distinct_count(type), element_bytes(type.dtype));
}

}  // namespace joulecast
