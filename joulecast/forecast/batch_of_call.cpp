#include "joulecast/forecast/batch_of_call.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

bool has_batch(Family family) {
    constexpr std::array without{Family::indexing, Family::creation, Family::view, Family::symbolic, Family::other};
    return std::ranges::find(without, family) == without.end();
}

/// Parameters and running statistics, and the second factor of a plain product: none of them has a batch.
bool is_weight(std::string_view argument, const TensorType& tensor) {
    constexpr std::array weights{"weight", "bias", "running_mean", "running_var", "normalized_shape"};
    if (std::ranges::find(weights, argument) != weights.end()) return true;
    constexpr std::array second_factors{"mat2", "other", "tensor2"};
    return tensor.sizes.size() < 3 && std::ranges::find(second_factors, argument) != second_factors.end();
}

/// A call of each tensor that may have a batch: `visit(tensor)`. The tensors of a list are joined to one.
template <class SomeOperation, class Visit>
void visit_batched(SomeOperation& operation, const Record& record, Visit visit) {
    const bool multiplies = record.family == Family::matmul;
    for (auto& argument : operation.arguments) {
        if (auto* tensor = std::get_if<TensorType>(&argument.value)) {
            const bool is_second = !multiplies && argument.name == "other";
            if (is_second || !is_weight(argument.name, *tensor)) visit(*tensor);
        } else if (auto* list = std::get_if<TensorList>(&argument.value); list && argument.name == "tensors") {
            for (auto& listed : *list) {
                if (listed) visit(*listed);
            }
        }
    }
}

struct Lead {
    std::size_t rank = 0;
    std::int64_t size = 0;
};

/// Of the first of those tensors that have the most dimensions: others are broadcast along it.
std::optional<Lead> lead_of(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (!record) return std::nullopt;
    const bool looks_up = operation.target.starts_with("aten::embedding");
    if (!has_batch(record->family) && !looks_up) return std::nullopt;
    Lead lead;
    visit_batched(operation, *record, [&](const TensorType& tensor) {
        if (tensor.sizes.size() > lead.rank) lead = {tensor.sizes.size(), tensor.sizes.front()};
    });
    if (lead.rank == 0) return std::nullopt;
    return lead;
}

void set_lead(TensorType& tensor, std::int64_t size) {
    Sizes sizes = tensor.sizes;
    sizes[0] = size;
    if (is_contiguous(tensor)) {
        tensor.sizes = std::move(sizes);
        return;
    }
    const Strides strides = is_dense(tensor) ? strides_in_order_of(tensor, sizes) : strides_of(tensor);
    const bool requires_grad = tensor.requires_grad;
    tensor = strided(tensor.dtype, std::move(sizes), strides);
    tensor.requires_grad = requires_grad;
}

}  // namespace

std::optional<std::int64_t> batch_of(const Operation& operation) {
    const auto lead = lead_of(operation);
    return lead && lead->size > 0 ? std::optional(lead->size) : std::nullopt;
}

Operation with_batch(Operation operation, std::int64_t batch) {
    const Lead lead = lead_of(operation).value();
    visit_batched(operation, *find_record(operation.target), [&](TensorType& tensor) {
        if (tensor.sizes.size() == lead.rank && tensor.sizes.front() == lead.size) set_lead(tensor, batch);
    });
    return operation;
}

}  // namespace joulecast
