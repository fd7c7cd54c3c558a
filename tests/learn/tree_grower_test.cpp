#include "joulecast/learn/tree_grower.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace joulecast {
namespace {

/// Values drawn from `distinct` different ones, or all different for 0; a tenth missing in column 2.
Samples random_samples(std::size_t rows, std::size_t columns, std::size_t distinct) {
    Samples samples(rows, columns);
    Random random(3);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t column = 0; column < columns; ++column) {
            const double drawn =
                distinct == 0 ? random.uniform() : static_cast<double>(random.below(distinct)) / 16 - 2;
            const bool missing = column == 2 && random.below(10) == 0;
            samples.set(row, column, missing ? std::nanf("") : static_cast<float>(drawn));
        }
    }
    return samples;
}

/// A function of three columns, in whole numbers: their sums are exact in whatever order they are added.
std::vector<double> whole_targets(const Samples& samples) {
    std::vector<double> targets;
    Random random(4);
    for (std::size_t row = 0; row < samples.rows(); ++row) {
        const float third = samples.at(row, 2);
        const double y = 900 * std::sin(3 * static_cast<double>(samples.at(row, 0))) +
                         700 * static_cast<double>(samples.at(row, 1)) +
                         (std::isinf(third) ? 300 : 500 * static_cast<double>(third * third));
        targets.push_back(std::round(y) + static_cast<double>(random.below(200)));
    }
    return targets;
}

/// Squared error left after the best cut, by trying every column and every value: the definition, slowly.
double least_error(const Samples& samples, const std::vector<double>& targets, const std::vector<std::uint32_t>& rows,
                   std::size_t min_leaf) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t column = 0; column < samples.columns(); ++column) {
        for (const std::uint32_t edge : rows) {
            const float threshold = samples.at(edge, column);
            std::vector<double> sides[2];
            for (const std::uint32_t row : rows) {
                sides[samples.at(row, column) <= threshold ? 0 : 1].push_back(targets[row]);
            }
            if (sides[0].size() < min_leaf || sides[1].size() < min_leaf) continue;
            double error = 0;
            for (const auto& side : sides) {
                const double mean = std::accumulate(side.begin(), side.end(), 0.0) / static_cast<double>(side.size());
                for (const double y : side) error += (y - mean) * (y - mean);
            }
            least = std::min(least, error);
        }
    }
    return least;
}

double error_of_leaves(const Forest& forest, const Samples& samples, const std::vector<double>& targets,
                       const std::vector<std::uint32_t>& rows) {
    double error = 0;
    for (const std::uint32_t row : rows) {
        error += std::pow(predict(forest, samples.row(row)) - targets[row], 2);
    }
    return error;
}

TEST(TreeGrower, CutsWhereTryingEveryCutFindsTheLeastError) {
    const Samples samples = random_samples(120, 4, 24);
    auto targets = whole_targets(samples);
    targets[40] = 1e5;  // a leaf of its own would be best, where leaves may be that small
    std::vector<std::uint32_t> all(samples.rows());
    std::iota(all.begin(), all.end(), 0U);
    for (const std::size_t min_leaf : {1U, 7U}) {
        TreeSettings settings;
        settings.min_leaf = min_leaf;
        settings.max_depth = 1;
        const Forest stump = fit_forest(samples, targets, settings);
        ASSERT_EQ(stump.nodes.size(), 3U);
        const double best = least_error(samples, targets, all, min_leaf);
        EXPECT_NEAR(error_of_leaves(stump, samples, targets, all) / best, 1, 1e-6);
        // And so in both children of the root.
        settings.max_depth = 2;
        const Forest two = fit_forest(samples, targets, settings);
        std::vector<std::uint32_t> sides[2];
        for (const std::uint32_t row : all) {
            const auto column = static_cast<std::size_t>(two.nodes[0].feature);
            sides[samples.at(row, column) <= two.nodes[0].value ? 0 : 1].push_back(row);
        }
        for (const auto& side : sides) {
            const double best_of_side = least_error(samples, targets, side, min_leaf);
            EXPECT_NEAR(error_of_leaves(two, samples, targets, side) / best_of_side, 1, 1e-6);
        }
    }
}

TEST(TreeGrower, GrowsTheSameTreesFromBinsWhereValuesAreFew) {
    // 200 distinct values: each its own bin, so nothing is lost, above and below the size from which bins are used.
    const Samples samples = random_samples(3000, 5, 200);
    const auto targets = whole_targets(samples);
    for (const bool bootstrap : {false, true}) {
        TreeSettings exact;
        exact.trees = 3;
        exact.features_per_split = 0.6;
        exact.min_leaf = 3;
        exact.bootstrap = bootstrap;
        TreeSettings binned = exact;
        binned.exact_rows = 0;
        EXPECT_EQ(fit_forest(samples, targets, exact), fit_forest(samples, targets, binned));
    }
}

TEST(TreeGrower, LosesNextToNothingByBinsOfManyValues) {
    const Samples samples = random_samples(6000, 5, 0);
    const auto targets = whole_targets(samples);
    const Samples fresh = [] {
        Samples other(2000, 5);
        const Samples drawn = random_samples(8000, 5, 0);  // its first 6000 rows are those trained on
        for (std::size_t row = 0; row < 2000; ++row) {
            for (std::size_t c = 0; c < 5; ++c) other.set(row, c, drawn.at(6000 + row, c));
        }
        return other;
    }();
    const auto truth = whole_targets(fresh);
    const auto r2 = [&](std::size_t exact_rows) {
        TreeSettings settings = joulecast::settings(Learner::random_forest, 20, 1);
        settings.exact_rows = exact_rows;
        const Forest forest = fit_forest(samples, targets, settings);
        const double mean = std::accumulate(truth.begin(), truth.end(), 0.0) / static_cast<double>(truth.size());
        double error = 0;
        double all = 0;
        for (std::size_t row = 0; row < fresh.rows(); ++row) {
            error += std::pow(predict(forest, fresh.row(row)) - truth[row], 2);
            all += std::pow(truth[row] - mean, 2);
        }
        return 1 - error / all;
    };
    const double exact = r2(6000);
    EXPECT_GT(exact, 0.9);
    EXPECT_NEAR(r2(5999), exact, 0.005);
}

TEST(TreeGrower, LeavesAloneWhatIsConstantInANode) {
    // Column 1 differs only where column 0 is above 0.5; below, only column 2 is left to split by.
    Samples samples(64, 3);
    std::vector<double> targets;
    for (std::size_t row = 0; row < 64; ++row) {
        const auto i = static_cast<float>(row);
        samples.set_row(row, std::vector{row < 32 ? 0.0F : 1.0F, row < 32 ? 5.0F : i, row < 32 ? i : 9.0F});
        targets.push_back(row < 32 ? static_cast<double>(row % 8) : 1000 + static_cast<double>(row % 16));
    }
    for (const Learner learner : {Learner::decision_tree, Learner::extra_trees}) {
        TreeSettings chosen = settings(learner, 4, 1);
        chosen.min_leaf = 1;
        const Forest forest = fit_forest(samples, targets, chosen);
        for (std::size_t row = 0; row < 64; ++row) {
            const std::vector<float> values{samples.at(row, 0), samples.at(row, 1), samples.at(row, 2)};
            EXPECT_EQ(predict(forest, values), targets[row]);
        }
    }
}

TEST(TreeGrower, TakesValuesCloserThanItsBoundForEqual) {
    // Floats lie 7e-9 apart near 0.1, so these differ; scikit-learn's bound of 1e-7 says they do not.
    Samples samples(4, 1);
    for (std::size_t row = 0; row < 4; ++row) samples.set(row, 0, row < 2 ? 0.1F : 0.1F + 5e-8F);
    ASSERT_NE(samples.at(0, 0), samples.at(3, 0));
    const std::vector<double> targets{0, 0, 1, 1};
    for (const Learner learner : {Learner::decision_tree, Learner::extra_trees}) {
        EXPECT_EQ(fit_forest(samples, targets, settings(learner, 1, 1)).nodes.size(), 1U) << name(learner);
    }
}

TEST(TreeGrower, PartsNeighbouringFloatsByRandomThresholds) {
    // Nothing lies between the two values: thresholds that round up to the larger must not put all rows on the left.
    Samples samples(4, 1);
    for (std::size_t row = 0; row < 4; ++row) samples.set(row, 0, row < 2 ? 4.0F : std::nextafter(4.0F, 5.0F));
    const Forest forest = fit_forest(samples, std::vector<double>{0, 0, 1, 1}, settings(Learner::extra_trees, 20, 1));
    EXPECT_EQ(forest.nodes.size(), 20U * 3U);
}

TEST(TreeGrower, FindsTheColumnThatTellsByRandomThresholdsWhereverItIs) {
    // Sums of several columns are added up at once: none may be forgotten at the end, or taken for another's. Values
    // are 0 and 1, so that every threshold parts them; one column alone tells the targets apart.
    constexpr std::size_t rows = 64;
    for (std::size_t columns = 1; columns <= 10; ++columns) {
        for (std::size_t telling = 0; telling < columns; ++telling) {
            Samples samples(rows, columns);
            std::vector<double> targets(rows);
            Random random(1 + telling);
            for (std::size_t row = 0; row < rows; ++row) {
                for (std::size_t column = 0; column < columns; ++column)
                    samples.set(row, column, static_cast<float>(random.below(2)));
                targets[row] = samples.at(row, telling);
            }
            TreeSettings trees = settings(Learner::extra_trees, 5, 1);
            trees.features_per_split = 1;
            const Forest forest = fit_forest(samples, targets, trees);
            EXPECT_EQ(forest.nodes.size(), 5U * 3U) << telling << " of " << columns;
            EXPECT_EQ(forest.nodes[0].feature, static_cast<std::int32_t>(telling)) << columns;
        }
    }
}

TEST(TreeGrower, GoesOnBeyondTheWantedColumnsUntilOneIsNotConstant) {
    // Half of nine columns are wanted, eight are constant.
    for (std::size_t telling = 0; telling < 9; ++telling) {
        Samples samples(8, 9);
        std::vector<double> targets(8);
        for (std::size_t row = 0; row < 8; ++row) {
            targets[row] = row < 4 ? 0 : 1;
            for (std::size_t column = 0; column < 9; ++column)
                samples.set(row, column, column == telling ? static_cast<float>(targets[row]) : 7.0F);
        }
        EXPECT_EQ(fit_forest(samples, targets, settings(Learner::extra_trees, 5, 1)).nodes.size(), 5U * 3U) << telling;
    }
}

TEST(TreeGrower, TriesNoMoreColumnsThanWanted) {
    // One of two is wanted, and both part the rows: drawn first, the one that tells nothing is taken in some trees.
    Samples samples(8, 2);
    std::vector<double> targets(8);
    for (std::size_t row = 0; row < 8; ++row) {
        targets[row] = row < 4 ? 0 : 1;
        samples.set(row, 0, static_cast<float>(targets[row]));
        samples.set(row, 1, static_cast<float>(row % 2));
    }
    const Forest forest = fit_forest(samples, targets, settings(Learner::extra_trees, 20, 1));
    std::size_t of_first = 0;
    for (const std::int32_t root : forest.roots) of_first += forest.nodes[static_cast<std::size_t>(root)].feature == 0;
    EXPECT_GT(of_first, 0U);
    EXPECT_LT(of_first, 20U);
}

}  // namespace
}  // namespace joulecast
