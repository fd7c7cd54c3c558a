#include "joulecast/graph/retyping.h"

#include "joulecast/error.h"
#include "joulecast/graph/record.h"

namespace joulecast {

bool lies_alike(const TensorType& a, const TensorType& b) {
    return a.dtype == b.dtype && a.sizes == b.sizes && a.strides == b.strides;
}

void arrive(TensorType& type, const TensorType& source, const TensorType& now) {
    if (lies_alike(type, source))
        type = now;
    else if (type.dtype == source.dtype)
        type.dtype = now.dtype;
}

std::optional<std::vector<TensorType>> outputs_by_record(const Operation& operation) {
    const Record* record = find_record(operation.target);
    if (record == nullptr || record->outputs == nullptr) return std::nullopt;
    try {
        return record->outputs(operation);
    } catch (const FormatError&) {
        return std::nullopt;
    }
}

}  // namespace joulecast
