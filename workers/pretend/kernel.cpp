#include "workers/pretend/kernel.h"

#include <algorithm>
#include <array>

#include "joulecast/error.h"
#include "joulecast/graph/family.h"

namespace joulecast::pretend {
namespace {

Dtype compute_dtype(const Operation& operation) {
    const auto inputs = tensors(operation);
    for (const TensorType* tensor : inputs) {
        if (is_floating(tensor->dtype)) return tensor->dtype;
    }
    return inputs.empty() ? Dtype::f32 : inputs.front()->dtype;
}

std::vector<TensorType> results_of(const Operation& operation) {
    const Record* record = find_record(operation.target);
    return record == nullptr ? std::vector<TensorType>{} : record->outputs(operation);
}

double groups_of(const Operation& operation) {
    const Value* value = find_argument(operation, "groups");
    const auto* groups = value == nullptr ? nullptr : std::get_if<std::int64_t>(value);
    return groups == nullptr ? 1.0 : static_cast<double>(std::max<std::int64_t>(1, *groups));
}

/// Rows, columns and batch of a product that fills this tensor: the channels of images are columns, else the last
/// dimension is; what stands before the last two is a batch where the product is one of batches.
void shape_product(Kernel& kernel, const TensorType& result, double groups, bool batched) {
    const auto elements = static_cast<double>(element_count(result));
    const std::size_t rank = result.sizes.size();
    if (elements <= 0 || kernel.flop <= 0) return;
    if (kernel.family == Family::convolution && rank >= 2) {
        const auto channels = static_cast<double>(result.sizes[1]);
        kernel.batch = groups;
        kernel.columns = std::max(1.0, channels / groups);
        kernel.rows = elements / std::max(1.0, channels);
    } else {
        kernel.columns = rank == 0 ? 1.0 : static_cast<double>(result.sizes[rank - 1]);
        const double lines = elements / kernel.columns;
        kernel.rows = batched && rank >= 2 ? static_cast<double>(result.sizes[rank - 2]) : lines;
        kernel.batch = lines / kernel.rows;
    }
    kernel.depth = std::max(1.0, kernel.flop / (2.0 * elements));
}

bool is_batched(const Operation& operation) {
    const auto inputs = tensors(operation);
    return inputs.size() >= 2 && inputs[1]->sizes.size() >= 3;
}

Kernel kernel_of(const Operation& operation, const Counts& counts) {
    Kernel kernel;
    kernel.family = family(operation);
    kernel.dtype = compute_dtype(operation);
    kernel.flop = static_cast<double>(counts.flop);
    kernel.other_flop = static_cast<double>(counts.other_flop);
    kernel.bytes_read = static_cast<double>(counts.bytes_read);
    kernel.bytes_written = static_cast<double>(counts.bytes_written);
    const auto inputs = tensors(operation);
    kernel.strided = std::ranges::any_of(inputs, [](const TensorType* type) { return !is_contiguous(*type); });
    return kernel;
}

Kernel share_of(Kernel kernel, double parts) {
    kernel.flop /= parts;
    kernel.other_flop /= parts;
    kernel.bytes_read /= parts;
    kernel.bytes_written /= parts;
    return kernel;
}

}  // namespace

Step forward_step(const Operation& operation) {
    Step step;
    step.synchronises = waits_for_result(operation);
    if (costs_nothing(family(operation))) return step;
    const Counts counts = forward_counts(operation);
    if (counts == Counts{}) return step;
    Kernel kernel = kernel_of(operation, counts);
    const auto results = results_of(operation);
    if (!results.empty()) shape_product(kernel, results.front(), groups_of(operation), is_batched(operation));
    step.kernels.push_back(kernel);
    return step;
}

Step backward_step(const Operation& operation) {
    Step step;
    step.backward = true;
    const Counts counts = backward_counts(operation);
    if (counts == Counts{}) return step;
    const Kernel whole = kernel_of(operation, counts);
    std::vector<const TensorType*> wanted;
    for (const TensorType* type : tensors(operation)) {
        if (type->requires_grad && type->sizes.size() >= 2) wanted.push_back(type);
    }
    // Of a product there is one more product for each operand that gets a gradient.
    if (whole.flop <= 0 || wanted.empty()) {
        step.kernels.push_back(whole);
        return step;
    }
    for (const TensorType* type : wanted) {
        Kernel kernel = share_of(whole, static_cast<double>(wanted.size()));
        shape_product(kernel, *type, groups_of(operation), is_batched(operation));
        step.kernels.push_back(kernel);
    }
    return step;
}

Work work_of(const Operation& operation, bool whole) {
    Work work = {forward_step(operation)};
    if (whole && mode(operation) == Mode::training) work.push_back(backward_step(operation));
    return work;
}

Step update_step(double parameter_bytes, int passes) {
    Step step;
    for (int pass = 0; pass < passes; ++pass) {
        Kernel kernel;
        kernel.family = Family::elementwise;
        kernel.other_flop = parameter_bytes / 4;
        kernel.bytes_read = 2 * parameter_bytes;
        kernel.bytes_written = parameter_bytes;
        step.kernels.push_back(kernel);
    }
    return step;
}

double tensor_bytes(const Operation& operation) {
    double bytes = 0;
    for (const TensorType* type : tensors(operation)) bytes += static_cast<double>(distinct_bytes(*type));
    return bytes;
}

std::string why_unsupported(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (record == nullptr) return "the pretended framework has no operation " + operation.target.substr(0, 100);
    try {
        record->outputs(operation);
        forward_counts(operation);
        backward_counts(operation);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "";
}

bool waits_for_result(const Operation& operation) {
    constexpr std::array<std::string_view, 5> names = {"aten::item", "aten::_local_scalar_dense", "aten::nonzero",
                                                       "aten::masked_select", "aten::_unique2"};
    return std::ranges::find(names, operation.target) != names.end();
}

}  // namespace joulecast::pretend
