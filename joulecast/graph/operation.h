#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "joulecast/graph/tensor_type.h"

namespace joulecast {

enum class Mode { inference, training };

std::string_view name(Mode mode);
std::optional<Mode> parse_mode(std::string_view text);

/// An optional argument that was explicitly given as None where None is not the default.
struct None {
    friend bool operator==(const None&, const None&) = default;
};

/// Tensor lists may have holes (index with None).
using TensorList = std::vector<std::optional<TensorType>>;

/// One argument of an operation as the ATen schema types it. Devices, layouts and memory formats are strings.
using Value = std::variant<None, bool, std::int64_t, double, std::string, Dtype, TensorType, TensorList,
                           std::vector<bool>, Integers, std::vector<double>>;

struct Argument {
    std::string name;
    Value value;

    friend bool operator==(const Argument&, const Argument&) = default;
};

/// An ATen call reduced to what decides its cost. Two operations are equal iff they would be measured the same:
/// no layer name, no values, arguments equal to the schema's default left out, arguments in schema order.
/// Outputs, FLOPs and bytes are computed (graph/record.h), never stored.
struct Operation {
    /// ATen name with overload: "aten::conv2d", "aten::add.Tensor".
    std::string target;
    std::vector<Argument> arguments;

    friend bool operator==(const Operation&, const Operation&) = default;
};

/// Training as soon as one of the tensors requires a gradient: its cost is then forward + backward.
Mode mode(const Operation& operation);

/// The argument of that name, or nullptr (left out: the schema's default holds).
const Value* find_argument(const Operation& operation, std::string_view name);

/// The tensor in the argument of that name, or nullptr where it is left out, None or of another type.
const TensorType* find_tensor(const Operation& operation, std::string_view name);
TensorType* find_tensor(Operation& operation, std::string_view name);

/// Pointers to tensors of a call. Up to `few` lie in the list itself, as of nearly all calls: a forecast asks for a
/// hundred thousand such lists.
template <class Tensor>
class TensorPointers {
  public:
    static constexpr std::size_t few = 6;

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Tensor* const* begin() const { return size_ > few ? many_.data() : few_.data(); }
    Tensor* const* end() const { return begin() + size_; }
    Tensor* operator[](std::size_t place) const { return begin()[place]; }
    Tensor* front() const { return *begin(); }
    Tensor* back() const { return end()[-1]; }
    void push_back(Tensor* tensor) {
        if (size_ < few) {
            few_[size_] = tensor;
        } else {
            if (size_ == few) many_.assign(few_.begin(), few_.end());
            many_.push_back(tensor);
        }
        ++size_;
    }

  private:
    std::array<Tensor*, few> few_{};
    std::vector<Tensor*> many_;  ///< all of them, once they are more
    std::size_t size_ = 0;
};

/// All tensors in argument order, lists flattened, holes skipped. The order in which Node::inputs lists its edges.
TensorPointers<const TensorType> tensors(const Operation& operation);
TensorPointers<TensorType> tensors(Operation& operation);

/// The text form, canonical: equal operations have equal text. It is the key everywhere (database, CSV, protocol):
///   aten::conv2d(input=f32[8,3,224,224], weight=f32[64,3,7,7]~, stride=[2,2], padding=[3,3])
/// Tensor: dtype[sizes], then `{cl}` if it lies in channels_last order or its strides in elements, `{768,64,2304,1}`,
/// if in any other than contiguous, then `~` if it requires a gradient.
/// Lists in brackets, `none`, `true`, `false`, integers, floats (always with '.', 'e', 'inf' or 'nan'),
/// "strings" with JSON escapes, dtypes as bare names. An empty list is `[]`.
std::string signature(const Operation& operation);

/// Inverse of signature(); throws FormatError naming the position. Bounds: 1 MB of text, 4096 arguments or list items.
/// Also reads `{t}`, which older texts have in the place of strides: two dimensions exchanged (docs/decisions/0010).
Operation parse_operation(std::string_view text);

}  // namespace joulecast
