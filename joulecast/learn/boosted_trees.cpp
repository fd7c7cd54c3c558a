#include "joulecast/learn/boosted_trees.h"

#include <cmath>

#include "joulecast/error.h"

namespace joulecast {

double predict(const BoostedTrees& model, std::span<const float> row) {
    double sum = model.base;
    for (std::size_t tree = 0; tree < model.forest.roots.size(); ++tree) sum += predict_tree(model.forest, tree, row);
    return sum;
}

void check(const BoostedTrees& model, std::size_t columns) {
    check(model.forest, columns);
    if (!std::isfinite(model.base)) throw FormatError("boosted trees stand on a number that is not finite");
}

}  // namespace joulecast
