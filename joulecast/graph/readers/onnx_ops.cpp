#include "joulecast/graph/readers/onnx_ops.h"

#include <map>
#include <utility>

namespace joulecast::onnx {

namespace {

using Rows = std::map<std::pair<std::string_view, std::string_view>, std::vector<const Row*>>;

Rows all_rows() {
    Rows rows;
    for (const auto table : {activation_rows(), convolution_rows(), elementwise_rows(), folded_rows(), fused_rows(),
                             indexing_rows(), matmul_rows(), normalization_rows(), placing_rows(), pooling_rows(),
                             quantized_rows(), random_rows(), recurrent_rows(), reduction_rows(), shape_rows()})
        for (const Row& row : table) rows[{row.domain, row.op_type}].push_back(&row);
    return rows;
}

}  // namespace

const Row* find_row(std::string_view domain, std::string_view op_type, std::int64_t opset) {
    static const Rows rows = all_rows();
    const auto found = rows.find({domain, op_type});
    if (found == rows.end()) return nullptr;
    const Row* latest = nullptr;
    for (const Row* row : found->second)
        if (row->since <= opset && (latest == nullptr || row->since > latest->since)) latest = row;
    return latest;
}

}  // namespace joulecast::onnx
