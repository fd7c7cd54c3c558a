#include "joulecast/physics/kept_on_cpu.h"

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

const TensorType* tensor_argument(const Operation& operation, std::string_view name) {
    const Value* value = find_argument(operation, name);
    return value ? std::get_if<TensorType>(value) : nullptr;
}

std::optional<KeptTensors> kept_by_dropout(const Operation& operation, const Record& record) {
    const auto operands = tensors(operation);
    if (operands.empty() || !record.hidden_bytes || record.hidden_bytes(operation) == 0) return std::nullopt;
    return KeptTensors{{}, static_cast<double>(byte_count(*operands.front()))};
}

std::optional<KeptTensors> kept_by_attention(const Operation& operation) {
    const TensorType* query = tensor_argument(operation, "query");
    const TensorType* key = tensor_argument(operation, "key");
    const TensorType* value = tensor_argument(operation, "value");
    const TensorType* mask = tensor_argument(operation, "attn_mask");
    if (!query || !key || !value || query->sizes.size() < 2 || key->sizes.size() < 2) return std::nullopt;
    const bool drops = argument_or_default<double>(operation, "dropout_p") > 0;
    if (!drops && !(mask && mask->requires_grad)) return std::nullopt;
    KeptTensors kept;
    for (const TensorType* operand : {query, key, value})
        kept.hidden_bytes += static_cast<double>(byte_count(*operand));
    const auto depth = static_cast<double>(query->sizes.back());
    const auto keys = static_cast<double>(key->sizes[key->sizes.size() - 2]);
    if (!(depth > 0)) return std::nullopt;
    const double weights = static_cast<double>(byte_count(*query)) / depth * keys;
    kept.hidden_bytes += (drops ? 3 : 1) * weights;
    return kept;
}

}  // namespace

std::optional<KeptTensors> kept_on_cpu(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (!record || mode(operation) != Mode::training) return std::nullopt;
    if (operation.target == "aten::dropout") return kept_by_dropout(operation, *record);
    if (operation.target == "aten::scaled_dot_product_attention") return kept_by_attention(operation);
    return std::nullopt;
}

}  // namespace joulecast
