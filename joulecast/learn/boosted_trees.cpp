#include "joulecast/learn/boosted_trees.h"

#include <cmath>
#include <numeric>
#include <vector>

#include "joulecast/error.h"

namespace joulecast {

double predict(const BoostedTrees& model, std::span<const float> row) {
    std::vector<double> said(model.forest.roots.size());
    predict_trees(model.forest, row, said);
    return std::accumulate(said.begin(), said.end(), model.base);
}

void check(const BoostedTrees& model, std::size_t columns) {
    check(model.forest, columns);
    if (!std::isfinite(model.base)) throw FormatError("boosted trees stand on a number that is not finite");
}

}  // namespace joulecast
