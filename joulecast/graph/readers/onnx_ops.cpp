#include "joulecast/graph/readers/onnx_ops.h"

#include <array>
#include <map>
#include <utility>

#include "joulecast/graph/readers/onnx_fold.h"

namespace joulecast::onnx {

namespace {

using Rows = std::map<std::pair<std::string_view, std::string_view>, std::vector<const Row*>>;

Rows rows_by_name() {
    Rows rows;
    for (const auto table :
         {activation_rows(), convolution_rows(), elementwise_rows(), folded_rows(), fused_rows(), indexing_rows(),
          matmul_rows(), normalization_rows(), placing_rows(), pooling_rows(), quantized_rows(), random_rows(),
          recurrent_rows(), reduction_rows(), shape_rows(), sequence_rows(), signal_rows(), training_rows()})
        for (const Row& row : table) rows[{row.domain, row.op_type}].push_back(&row);
    return rows;
}

const Rows& table() {
    static const Rows rows = rows_by_name();
    return rows;
}

/// Control flow and sequences; what depends on the data; what no network of the known kinds uses.
constexpr std::array<std::string_view, 9> without_row{"If",         "ImageDecoder", "Loop",         "RegexFullMatch",
                                                      "Scan",       "SequenceMap",  "StringConcat", "StringNormalizer",
                                                      "StringSplit"};

}  // namespace

const Row* find_row(std::string_view domain, std::string_view op_type, std::int64_t opset) {
    const Rows& rows = table();
    const auto found = rows.find({domain, op_type});
    if (found == rows.end()) return nullptr;
    const Row* latest = nullptr;
    for (const Row* row : found->second)
        if (row->since <= opset && (latest == nullptr || row->since > latest->since)) latest = row;
    return latest;
}

std::vector<const Row*> all_rows() {
    std::vector<const Row*> sorted;
    for (const auto& [name, rows] : table())
        if (name.first != folded_domain) sorted.insert(sorted.end(), rows.begin(), rows.end());
    return sorted;
}

std::span<const std::string_view> untranslated() {
    return without_row;
}

}  // namespace joulecast::onnx
