#include "joulecast/learn/folds.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"

namespace joulecast {
namespace {

void require_two(std::size_t folds) {
    if (folds < 2) throw Error("cross-validation needs at least two folds, not " + std::to_string(folds));
}

template <class Group>
std::vector<std::size_t> deal_groups(std::span<const Group> groups, std::size_t folds, std::uint64_t seed) {
    require_two(folds);
    std::map<Group, std::vector<std::size_t>> rows_of;
    for (std::size_t row = 0; row < groups.size(); ++row) rows_of[groups[row]].push_back(row);
    std::vector<const std::vector<std::size_t>*> order;
    order.reserve(rows_of.size());
    for (const auto& [group, rows] : rows_of) order.push_back(&rows);
    Random random(seed);
    shuffle(order, random);
    std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->size() > b->size(); });
    std::vector<std::size_t> size(folds, 0);
    std::vector<std::size_t> fold_of(groups.size(), 0);
    for (const auto* rows : order) {
        const auto fold = static_cast<std::size_t>(std::min_element(size.begin(), size.end()) - size.begin());
        size[fold] += rows->size();
        for (const std::size_t row : *rows) fold_of[row] = fold;
    }
    return fold_of;
}

}  // namespace

std::vector<std::size_t> group_folds(std::span<const std::string> groups, std::size_t folds, std::uint64_t seed) {
    return deal_groups(groups, folds, seed);
}

std::vector<std::size_t> group_folds(std::span<const std::size_t> groups, std::size_t folds, std::uint64_t seed) {
    return deal_groups(groups, folds, seed);
}

std::vector<std::size_t> random_folds(std::size_t rows, std::size_t folds, std::uint64_t seed) {
    require_two(folds);
    std::vector<std::size_t> order(rows);
    std::iota(order.begin(), order.end(), std::size_t{0});
    Random random(seed);
    shuffle(order, random);
    std::vector<std::size_t> fold_of(rows);
    for (std::size_t place = 0; place < rows; ++place) fold_of[order[place]] = place % folds;
    return fold_of;
}

}  // namespace joulecast
