// Writes the text form of operations, which operation_parser.cpp reads.

#include <cmath>

#include "joulecast/graph/operation.h"
#include "joulecast/units/digits.h"

namespace joulecast {

namespace {

void append_real(std::string& text, double value) {
    if (std::isnan(value)) {
        text += "nan";
    } else if (std::isinf(value)) {
        text += value < 0 ? "-inf" : "inf";
    } else {
        append_digits(text, value);
    }
}

void append_string(std::string& text, std::string_view value) {
    constexpr std::string_view hex = "0123456789abcdef";
    text += '"';
    for (const char c : value) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\') {
            text += '\\';
            text += c;
        } else if (byte < 0x20) {
            text += "\\u00";
            text += hex[byte >> 4U];
            text += hex[byte & 15U];
        } else {
            text += c;
        }
    }
    text += '"';
}

template <class List, class Append>
void append_list(std::string& text, const List& list, Append append) {
    text += '[';
    bool first = true;
    for (const auto& item : list) {
        if (!first) text += ',';
        first = false;
        append(item);
    }
    text += ']';
}

void append_tensor(std::string& text, const TensorType& tensor) {
    text += name(tensor.dtype);
    append_list(text, tensor.sizes, [&](std::int64_t size) { append_digits(text, size); });
    if (is_channels_last(tensor)) {
        text += "{cl}";
    } else if (!is_contiguous(tensor)) {
        text += '{';
        for (std::size_t i = 0; i < tensor.strides.size(); ++i) {
            if (i > 0) text += ',';
            append_digits(text, tensor.strides[i]);
        }
        text += '}';
    }
    if (tensor.requires_grad) text += '~';
}

struct ValueWriter {
    std::string& text;

    void operator()(None) const { text += "none"; }
    void operator()(bool value) const { text += value ? "true" : "false"; }
    void operator()(std::int64_t value) const { append_digits(text, value); }
    void operator()(double value) const { append_real(text, value); }
    void operator()(const std::string& value) const { append_string(text, value); }
    void operator()(Dtype value) const { text += name(value); }
    void operator()(const TensorType& value) const { append_tensor(text, value); }
    void operator()(const std::optional<TensorType>& value) const {
        if (value) {
            append_tensor(text, *value);
        } else {
            text += "none";
        }
    }
    template <class List>
    void operator()(const List& list) const {
        // const auto& would bind to vector<bool>'s proxy.
        append_list(text, list, [this](const typename List::value_type& item) { (*this)(item); });
    }
};

}  // namespace

std::string signature(const Operation& operation) {
    std::string text;
    text.reserve(operation.target.size() + 48 * operation.arguments.size() + 2);
    text += operation.target;
    text += '(';
    bool first = true;
    for (const Argument& argument : operation.arguments) {
        if (!first) text += ", ";
        first = false;
        text += argument.name;
        text += '=';
        std::visit(ValueWriter{text}, argument.value);
    }
    text += ')';
    return text;
}

}  // namespace joulecast
