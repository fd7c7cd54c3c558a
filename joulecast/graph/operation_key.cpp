#include "joulecast/graph/operation_key.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace joulecast {
namespace {

/// Read from the front, every word says what follows and how long it is: so no two operations have the same words.
class KeyWriter {
  public:
    KeyWriter(std::vector<std::uint64_t>& words, bool with_gradients)
        : words_(words), with_gradients_(with_gradients) {}

    void operation(const Operation& operation) {
        (*this)(operation.target);
        for (const Argument& argument : operation.arguments) {
            word(std::uint64_t{argument.name.size()} << 8U | argument.value.index());
            text(argument.name);
            std::visit(*this, argument.value);
        }
    }

    void text(std::string_view text) {
        const std::size_t at = words_.size();
        words_.resize(at + (text.size() + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t));
        std::memcpy(words_.data() + at, text.data(), text.size());
    }
    void word(std::uint64_t word) { words_.push_back(word); }

    void operator()(None) {}
    void operator()(bool value) { word(value ? 1 : 0); }
    void operator()(std::int64_t value) { word(static_cast<std::uint64_t>(value)); }
    void operator()(double value) { word(std::bit_cast<std::uint64_t>(value + 0.0)); }  // both zeros are equal
    void operator()(const std::string& value) {
        word(value.size());
        text(value);
    }
    void operator()(Dtype value) { word(static_cast<std::uint64_t>(value)); }
    void operator()(const TensorType& tensor) {
        // A bit that is always set: a hole in a list of tensors is a zero.
        word(std::uint64_t{1} | std::uint64_t{with_gradients_ && tensor.requires_grad ? 2U : 0U} |
             static_cast<std::uint64_t>(tensor.dtype) << 2U | std::uint64_t{tensor.sizes.size()} << 16U |
             std::uint64_t{tensor.strides.size()} << 40U);
        numbers(tensor.sizes);
        numbers(tensor.strides);
    }
    void operator()(const TensorList& list) {
        word(list.size());
        for (const auto& tensor : list) {
            if (tensor) {
                (*this)(*tensor);
            } else {
                word(0);
            }
        }
    }
    void operator()(const std::vector<bool>& list) {
        word(list.size());
        for (const bool value : list) (*this)(value);
    }
    void operator()(const Integers& list) {
        word(list.size());
        numbers(list);
    }
    void operator()(const std::vector<double>& list) {
        word(list.size());
        for (const double value : list) (*this)(value);
    }

  private:
    void numbers(const Integers& numbers) {
        for (const std::int64_t number : numbers) word(static_cast<std::uint64_t>(number));
    }

    std::vector<std::uint64_t>& words_;
    bool with_gradients_;
};

/// Mixes 64 bits at a time: multiply, then let the high half meet the low one.
std::uint64_t mixed(std::uint64_t state, std::uint64_t word) {
    state = (state ^ word) * 0x9E3779B97F4A7C15ULL;
    return state ^ state >> 32U;
}

}  // namespace

void append_key(const Operation& operation, std::vector<std::uint64_t>& words) {
    KeyWriter(words, true).operation(operation);
}

void append_key_of_inference(const Operation& operation, std::vector<std::uint64_t>& words) {
    KeyWriter(words, false).operation(operation);
}

std::uint64_t hash(std::span<const std::uint64_t> words) {
    // Four at a time, each waiting for nobody but itself.
    std::array<std::uint64_t, 4> lanes{0x243F6A8885A308D3ULL, 0x13198A2E03707344ULL, 0xA4093822299F31D0ULL,
                                       0x082EFA98EC4E6C89ULL};  // digits of pi
    std::size_t at = 0;
    for (; at + lanes.size() <= words.size(); at += lanes.size()) {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) lanes[lane] = mixed(lanes[lane], words[at + lane]);
    }
    std::uint64_t state = mixed(lanes[0], words.size());
    for (; at < words.size(); ++at) state = mixed(state, words[at]);
    for (std::size_t lane = 1; lane < lanes.size(); ++lane) state = mixed(state, lanes[lane]);
    return state;
}

}  // namespace joulecast
