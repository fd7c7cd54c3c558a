#include "workers/torch/call.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <torch/version.h>

#include "workers/torch/tensors.h"

namespace joulecast::torch_worker {

namespace {

/// "aten::add.Tensor" -> {"aten::add", "Tensor"}; "default" is how Python spells the nameless overload.
c10::OperatorName operator_name(const std::string& target) {
    const auto colons = target.find("::");
    const auto dot = target.find('.', colons == std::string::npos ? 0 : colons);
    if (dot == std::string::npos) return {target, ""};
    const std::string overload = target.substr(dot + 1);
    return {target.substr(0, dot), overload == "default" ? "" : overload};
}

c10::OperatorHandle find_operator(const std::string& target) {
    const auto handle = c10::Dispatcher::singleton().findSchema(operator_name(target));
    if (!handle) throw Unsupported("torch " TORCH_VERSION " has no operation " + target);
    return *handle;
}

[[noreturn]] void mismatch(const c10::Argument& formal, const std::string& given) {
    throw Unsupported("argument " + formal.name() + " is " + formal.type()->str() + " in torch's schema, given was " +
                      given);
}

/// The type without Optional[...] around it.
c10::TypePtr inner_type(const c10::Argument& formal) {
    c10::TypePtr type = formal.real_type();
    if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
    return type;
}

/// "torch.channels_last", "MemoryFormat.channels_last" and "channels_last" mean the same.
std::string last_word(const std::string& text) {
    return text.substr(text.rfind('.') + 1);
}

c10::IValue named_value(const c10::Argument& formal, const std::string& text, at::Device place) {
    const auto type = inner_type(formal);
    const std::string word = last_word(text);
    switch (type->kind()) {
        case c10::TypeKind::StringType:
            return text;
        case c10::TypeKind::DeviceObjType:
            return place;
        case c10::TypeKind::MemoryFormatType:
            if (word == "contiguous_format") return at::MemoryFormat::Contiguous;
            if (word == "channels_last") return at::MemoryFormat::ChannelsLast;
            if (word == "channels_last_3d") return at::MemoryFormat::ChannelsLast3d;
            if (word == "preserve_format") return at::MemoryFormat::Preserve;
            break;
        case c10::TypeKind::LayoutType:
            if (word == "strided") return at::kStrided;
            break;
        case c10::TypeKind::ScalarTypeType:
            if (const auto dtype = parse_dtype(word)) return scalar_type(*dtype);
            break;
        default:
            break;
    }
    mismatch(formal, "\"" + text + "\"");
}

/// A plain number where a list, a number of another kind or a tensor is expected.
c10::IValue number_value(const c10::Argument& formal, const c10::Scalar& number) {
    const auto type = inner_type(formal);
    switch (type->kind()) {
        case c10::TypeKind::TensorType: {
            // x + 1 is exported as add.Tensor(x, 1): Python wraps the number, and so do we.
            at::Tensor tensor = at::scalar_tensor(number, number.isIntegral(true)
                                                              ? at::dtype(number.isBoolean() ? at::kBool : at::kLong)
                                                              : at::dtype(at::kDouble));
            tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
            return tensor;
        }
        case c10::TypeKind::FloatType:
            return number.toDouble();
        case c10::TypeKind::ListType: {
            const auto element = type->expectRef<c10::ListType>().getElementType()->kind();
            const auto length = static_cast<std::size_t>(std::max(formal.N().value_or(1), 1));
            if (element == c10::TypeKind::FloatType) return std::vector<double>(length, number.toDouble());
            if (number.isIntegral(true)) return std::vector<std::int64_t>(length, number.toLong());
            break;
        }
        default:
            break;
    }
    return number;
}

c10::IValue empty_list(const c10::Argument& formal) {
    const auto type = inner_type(formal);
    if (type->kind() != c10::TypeKind::ListType) mismatch(formal, "an empty list");
    const auto element = type->expectRef<c10::ListType>().getElementType();
    switch (element->kind()) {
        case c10::TypeKind::FloatType:
            return std::vector<double>();
        case c10::TypeKind::BoolType:
            return c10::List<bool>();
        case c10::TypeKind::TensorType:
            return c10::List<at::Tensor>();
        case c10::TypeKind::OptionalType:
            return c10::List<std::optional<at::Tensor>>();
        default:
            return std::vector<std::int64_t>();
    }
}

struct PlainValue {
    const c10::Argument& formal;
    at::Device place;

    c10::IValue operator()(const None&) const { return {}; }
    c10::IValue operator()(bool value) const { return value; }
    c10::IValue operator()(std::int64_t value) const { return number_value(formal, value); }
    c10::IValue operator()(double value) const { return number_value(formal, value); }
    c10::IValue operator()(const std::string& value) const { return named_value(formal, value, place); }
    c10::IValue operator()(Dtype value) const { return scalar_type(value); }
    c10::IValue operator()(const std::vector<bool>& value) const {
        if (value.empty()) return empty_list(formal);
        c10::List<bool> list;
        for (const bool item : value) list.push_back(item);
        return list;
    }
    c10::IValue operator()(const Integers& value) const {
        if (value.empty()) return empty_list(formal);
        const auto type = inner_type(formal);
        const auto* list = type->castRaw<c10::ListType>();
        if (list != nullptr && list->getElementType()->kind() == c10::TypeKind::FloatType) {
            return std::vector<double>(value.begin(), value.end());
        }
        return std::vector<std::int64_t>(value.begin(), value.end());
    }
    c10::IValue operator()(const std::vector<double>& value) const {
        if (value.empty()) return empty_list(formal);
        return value;
    }
    c10::IValue operator()(const TensorType&) const { return {}; }
    c10::IValue operator()(const TensorList& value) const { return value.empty() ? empty_list(formal) : c10::IValue(); }
};

}  // namespace

Call::Call(const Operation& operation, at::Device place) : handle_(find_operator(operation.target)), place_(place) {
    const auto& formals = handle_.schema().arguments();
    std::vector<bool> given(formals.size(), false);
    template_.resize(formals.size());
    for (const auto& argument : operation.arguments) {
        const auto formal = std::find_if(formals.begin(), formals.end(), [&](const c10::Argument& candidate) {
            return candidate.name() == argument.name;
        });
        if (formal == formals.end()) {
            throw Unsupported(operation.target + " has no argument " + argument.name + " in torch " TORCH_VERSION);
        }
        const auto index = static_cast<std::size_t>(formal - formals.begin());
        fill_in(*formal, index, argument.value);
        given[index] = true;
    }
    for (std::size_t i = 0; i < formals.size(); ++i) {
        if (given[i]) continue;
        if (!place.is_cpu() && inner_type(formals[i])->kind() == c10::TypeKind::DeviceObjType) {
            template_[i] = place;  // left open it would be the CPU
        } else if (formals[i].default_value()) {
            template_[i] = *formals[i].default_value();
        } else if (formals[i].real_type()->kind() != c10::TypeKind::OptionalType) {
            // Python fills in None for optional ones; anything else must be given.
            throw Unsupported(operation.target + ": argument " + formals[i].name() + " is missing");
        }
    }
}

void Call::fill_in(const c10::Argument& formal, std::size_t index, const Value& value) {
    template_[index] = std::visit(PlainValue{formal, place_}, value);
    const bool written = formal.alias_info() != nullptr && formal.alias_info()->isWrite();
    const auto type = inner_type(formal);
    if (std::holds_alternative<TensorType>(value)) {
        if (type->kind() != c10::TypeKind::TensorType) mismatch(formal, "a tensor");
        slots_.push_back({index, false, false, mutated_.size(), {}});
        mutated_.push_back(written);
    } else if (const auto* list = std::get_if<TensorList>(&value); list != nullptr && !list->empty()) {
        if (type->kind() != c10::TypeKind::ListType) mismatch(formal, "a list of tensors");
        Slot slot{index, true, false, mutated_.size(), {}};
        slot.optional_items = type->expectRef<c10::ListType>().getElementType()->kind() == c10::TypeKind::OptionalType;
        for (const auto& item : *list) {
            slot.present.push_back(item.has_value());
            if (item) mutated_.push_back(written);
        }
        slots_.push_back(std::move(slot));
    }
}

Stack Call::stack(std::span<const at::Tensor> tensors) const {
    Stack result = template_;
    for (const auto& slot : slots_) {
        std::size_t next = slot.first;
        if (!slot.list) {
            result[slot.argument] = tensors[next];
        } else if (slot.optional_items) {
            c10::List<std::optional<at::Tensor>> list;
            for (const bool present : slot.present) {
                list.push_back(present ? std::optional<at::Tensor>(tensors[next++]) : std::nullopt);
            }
            result[slot.argument] = std::move(list);
        } else {
            c10::List<at::Tensor> list;
            for (const bool present : slot.present) list.push_back(present ? tensors[next++] : at::Tensor());
            result[slot.argument] = std::move(list);
        }
    }
    return result;
}

void flatten(const Stack& results, std::vector<at::Tensor>& tensors) {
    for (const auto& value : results) {
        if (value.isTensor()) {
            tensors.push_back(value.toTensor());
        } else if (value.isTensorList()) {
            for (const at::Tensor& tensor : value.toTensorVector()) tensors.push_back(tensor);
        } else if (value.isNone()) {
            tensors.emplace_back();
        }
    }
}

}  // namespace joulecast::torch_worker
