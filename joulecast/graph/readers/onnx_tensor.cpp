#include "joulecast/graph/readers/onnx_tensor.h"

#include <bit>
#include <cmath>
#include <limits>

#include "joulecast/error.h"

namespace joulecast::onnx {

namespace {

constexpr std::size_t most_dimensions = 64;

/// Where a tensor's numbers lie; onnx.proto has one field for raw bytes and one for each kind of number.
struct Payload {
    std::optional<Range> raw;
    std::optional<Range> packed_reals;
    /// Bytes of one of packed_reals: 4 or 8.
    std::uint64_t real_bytes = 4;
    Integers integers;
    std::vector<double> reals;
    bool is_elsewhere = false;
};

std::uint64_t little_endian(const std::string& bytes, std::size_t at, std::size_t count) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < count; ++i) value |= std::uint64_t{static_cast<std::uint8_t>(bytes[at + i])} << (8 * i);
    return value;
}

std::int64_t signed_of(std::uint64_t bits, std::size_t bytes) {
    const auto shift = static_cast<unsigned>(64 - 8 * bytes);
    return static_cast<std::int64_t>(bits << shift) >> shift;
}

/// IEEE half precision.
double half(std::uint64_t bits) {
    const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    const auto exponent = static_cast<int>((bits >> 10U) & 0x1FU);
    const auto mantissa = static_cast<double>(bits & 0x3FFU);
    if (exponent == 31) return mantissa == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(mantissa + 1024, exponent - 25);
}

/// The bits of one element as a float; absent for those of 8 bits, which are never arguments.
std::optional<double> real_of(std::uint64_t bits, Dtype dtype) {
    switch (dtype) {
        case Dtype::f16:
            return half(bits);
        case Dtype::bf16:
            return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits << 16U)));
        case Dtype::f32:
            return decimal_of(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
        case Dtype::f64:
            return std::bit_cast<double>(bits);
        default:
            return std::nullopt;
    }
}

std::optional<Constant> from_raw(Source& source, Range raw, Constant constant, std::int64_t count) {
    const auto bytes = static_cast<std::size_t>(element_bytes(constant.dtype));
    if (raw.length != bytes * static_cast<std::size_t>(count))
        throw FormatError("it has " + std::to_string(raw.length) + " bytes of numbers, which do not fit its sizes");
    const std::string content = source.read(raw.offset, raw.length);
    for (std::size_t at = 0; at < content.size(); at += bytes) {
        const std::uint64_t bits = little_endian(content, at, bytes);
        if (constant.is_real()) {
            const auto number = real_of(bits, constant.dtype);
            if (!number) return std::nullopt;
            constant.reals.push_back(*number);
        } else {
            const bool is_unsigned = constant.dtype == Dtype::u8 || constant.dtype == Dtype::boolean;
            constant.integers.push_back(is_unsigned ? static_cast<std::int64_t>(bits) : signed_of(bits, bytes));
        }
    }
    return constant;
}

/// int32_data also holds the bits of f16 and bf16; float_data and double_data, packed, are read here.
std::optional<Constant> from_fields(Source& source, const Payload& payload, Constant constant, std::size_t count) {
    if (!constant.is_real()) {
        if (payload.integers.size() != count) return std::nullopt;
        constant.integers = payload.integers;
        return constant;
    }
    if (!payload.integers.empty()) {
        for (const std::int64_t bits : payload.integers) {
            const auto number = real_of(static_cast<std::uint64_t>(bits) & 0xFFFFU, constant.dtype);
            if (!number || constant.dtype == Dtype::f32 || constant.dtype == Dtype::f64) return std::nullopt;
            constant.reals.push_back(*number);
        }
    } else if (payload.packed_reals && payload.packed_reals->length == count * payload.real_bytes) {
        const std::string content = source.read(payload.packed_reals->offset, payload.packed_reals->length);
        for (std::size_t at = 0; at < content.size(); at += payload.real_bytes)
            constant.reals.push_back(*real_of(little_endian(content, at, payload.real_bytes),
                                              payload.real_bytes == 8 ? Dtype::f64 : Dtype::f32));
    } else {
        constant.reals = payload.reals;
    }
    if (constant.reals.size() != count) return std::nullopt;
    return constant;
}

std::optional<Constant> values_of(Source& source, const Tensor& tensor, const Payload& payload) {
    if (payload.is_elsewhere) return std::nullopt;
    TensorType type;
    type.dtype = tensor.dtype;
    type.sizes = tensor.sizes;
    const std::int64_t count = element_count(type);
    const bool is_real = is_floating(tensor.dtype);
    if (tensor.dtype == Dtype::c64 || tensor.dtype == Dtype::c128) return std::nullopt;
    if (count > (is_real ? most_reals : most_integers)) return std::nullopt;
    Constant constant{tensor.dtype, tensor.sizes, {}, {}};
    if (payload.raw) return from_raw(source, *payload.raw, std::move(constant), count);
    return from_fields(source, payload, std::move(constant), static_cast<std::size_t>(count));
}

/// Keeps the place of a long list, and the numbers of a short one.
void take_integers(const Fields& fields, Payload& payload) {
    constexpr std::uint64_t longest_varint = 10;
    const auto most = static_cast<std::size_t>(most_integers);
    if (fields.is_packed() && fields.payload().length > most * longest_varint) return;
    if (payload.integers.size() > most) return;
    // One more than is kept, so that a long list is known by its length.
    fields.append_integers(payload.integers, (most + 1) * longest_varint);
}

void take_reals(const Fields& fields, Payload& payload, std::uint64_t bytes) {
    payload.real_bytes = bytes;
    if (fields.is_packed()) {
        payload.packed_reals = fields.payload();
    } else if (payload.reals.size() <= static_cast<std::size_t>(most_reals)) {
        payload.reals.push_back(fields.real());
    }
}

}  // namespace

std::optional<Dtype> dtype_of(std::int64_t data_type) {
    switch (data_type) {
        case 1:
            return Dtype::f32;
        case 2:
            return Dtype::u8;
        case 3:
            return Dtype::i8;
        case 4:  // uint16
        case 5:
            return Dtype::i16;
        case 6:
        case 12:  // uint32
            return Dtype::i32;
        case 7:
        case 13:  // uint64
            return Dtype::i64;
        case 9:
            return Dtype::boolean;
        case 10:
            return Dtype::f16;
        case 11:
            return Dtype::f64;
        case 14:
            return Dtype::c64;
        case 15:
            return Dtype::c128;
        case 16:
            return Dtype::bf16;
        case 17:
        case 18:  // the variants without infinities or negative zero
            return Dtype::f8e4m3fn;
        case 19:
        case 20:
            return Dtype::f8e5m2;
        default:
            return std::nullopt;
    }
}

Dtype required_dtype(std::int64_t data_type) {
    if (const auto dtype = dtype_of(data_type)) return *dtype;
    const std::string what = data_type == 8 ? "strings" : "elements of ONNX's type " + std::to_string(data_type);
    throw FormatError("it holds " + what + ", which joulecast cannot cost. Export the network without them");
}

Tensor parse_tensor(Source& source, Fields fields) {
    Tensor tensor;
    Payload payload;
    std::int64_t data_type = 0;
    while (fields.next()) {
        switch (fields.number()) {
            case 1:
                fields.append_integers(tensor.sizes, most_dimensions);
                break;
            case 2:
                data_type = fields.integer();
                break;
            case 4:
                take_reals(fields, payload, 4);
                break;
            case 5:
            case 7:
            case 11:
                take_integers(fields, payload);
                break;
            case 8:
                tensor.name = fields.text();
                break;
            case 9:
                payload.raw = fields.payload();
                break;
            case 10:
                take_reals(fields, payload, 8);
                break;
            case 14:
                payload.is_elsewhere = fields.integer() == 1;
                break;
            default:
                break;
        }
    }
    try {
        // Strings are kept as tensors without numbers: they feed no operation that we cost.
        constexpr std::int64_t string_type = 8;
        tensor.dtype = data_type == string_type ? Dtype::u8 : required_dtype(data_type);
        if (data_type != string_type) tensor.values = values_of(source, tensor, payload);
    } catch (const FormatError& error) {
        throw FormatError("tensor \"" + tensor.name + "\": " + error.what());
    }
    return tensor;
}

}  // namespace joulecast::onnx
