#include "joulecast/graph/operation_hash.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace joulecast {
namespace {

/// Mixes 64 bits at a time: multiply, then let the high half meet the low one.
class Hash {
  public:
    void add(std::uint64_t value) {
        state_ = (state_ ^ value) * 0x9E3779B97F4A7C15ULL;
        state_ ^= state_ >> 32U;
    }
    void add(std::string_view text) {
        add(text.size());
        for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) add(bits(text));
        if (!text.empty()) add(bits(text));
    }
    void add(const std::vector<std::int64_t>& values) {
        add(values.size());
        for (const std::int64_t value : values) add(static_cast<std::uint64_t>(value));
    }
    void add(const TensorType& tensor) {
        add(static_cast<std::uint64_t>(tensor.dtype) * 2 + (tensor.requires_grad ? 1 : 0));
        add(tensor.sizes);
        if (!tensor.strides.empty()) add(tensor.strides);
    }

    void operator()(None) { add(std::uint64_t{1}); }
    void operator()(bool value) { add(std::uint64_t{value ? 3U : 2U}); }
    void operator()(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
    void operator()(double value) { add(std::bit_cast<std::uint64_t>(value + 0.0)); }  // both zeros are equal
    void operator()(const std::string& value) { add(std::string_view(value)); }
    void operator()(Dtype value) { add(static_cast<std::uint64_t>(value)); }
    void operator()(const TensorType& value) { add(value); }
    void operator()(const TensorList& list) {
        add(list.size());
        for (const auto& tensor : list) {
            if (tensor) {
                add(*tensor);
            } else {
                add(std::uint64_t{0});
            }
        }
    }
    void operator()(const std::vector<bool>& list) {
        add(list.size());
        for (const bool value : list) add(std::uint64_t{value ? 1U : 0U});
    }
    void operator()(const std::vector<std::int64_t>& list) { add(list); }
    void operator()(const std::vector<double>& list) {
        add(list.size());
        for (const double value : list) (*this)(value);
    }

    std::uint64_t value() const { return state_; }

  private:
    static std::uint64_t bits(std::string_view text) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data(), std::min(text.size(), sizeof(word)));
        return word;
    }

    std::uint64_t state_ = 0x243F6A8885A308D3ULL;
};

}  // namespace

std::size_t hash(const Operation& operation) {
    Hash state;
    state.add(std::string_view(operation.target));
    for (const Argument& argument : operation.arguments) {
        state.add(std::string_view(argument.name));
        std::visit(state, argument.value);
    }
    return state.value();
}

}  // namespace joulecast
