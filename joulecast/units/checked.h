#pragma once

#include <cstdint>

#include "joulecast/error.h"

// Arithmetic in 64 bits that throws FormatError, with the message given, where the result does not fit.
namespace joulecast {

inline std::int64_t checked_sum(std::int64_t a, std::int64_t b, const char* message) {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) throw FormatError(message);
    return result;
}

inline std::int64_t checked_difference(std::int64_t a, std::int64_t b, const char* message) {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result)) throw FormatError(message);
    return result;
}

inline std::int64_t checked_product(std::int64_t a, std::int64_t b, const char* message) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) throw FormatError(message);
    return result;
}

}  // namespace joulecast
