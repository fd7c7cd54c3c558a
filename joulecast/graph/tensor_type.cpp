#include "joulecast/graph/tensor_type.h"

#include <array>
#include <string>

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

std::int64_t element_count(const TensorType& type) {
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

}  // namespace joulecast
