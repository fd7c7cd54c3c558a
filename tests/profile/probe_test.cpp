#include "joulecast/profile/probe.h"

#include <map>
#include <set>

#include <gmock/gmock.h>

#include "joulecast/graph/record.h"
#include "joulecast/profile/plan.h"

namespace joulecast {
namespace {

TEST(Probe, IsOfDifferentOperationsThatCanBeMeasured) {
    std::set<std::string> texts;
    for (const Operation& operation : probe_operations()) {
        const std::string text = signature(operation);
        ASSERT_NE(find_record(operation.target), nullptr) << text;
        EXPECT_EQ(canonical(operation), operation) << text;
        EXPECT_FALSE(find_record(operation.target)->outputs(operation).empty()) << text;
        EXPECT_TRUE(is_measurable(operation)) << text;
        texts.insert(text);
    }
    EXPECT_EQ(texts.size(), 32u);
}

TEST(Probe, HasBackwardPassesInTraining) {
    std::set<std::string> forward, texts;
    for (const Operation& operation : probe_operations()) forward.insert(operation.target);
    for (const Operation& operation : probe_operations(Mode::training)) {
        const std::string text = signature(operation);
        EXPECT_EQ(mode(operation), Mode::training) << text;
        EXPECT_EQ(canonical(operation), operation) << text;
        EXPECT_GT(backward_counts(operation).bytes_read, 0) << text;
        EXPECT_TRUE(is_measurable(operation)) << text;
        EXPECT_TRUE(forward.contains(operation.target)) << text;
        texts.insert(text);
    }
    EXPECT_EQ(texts.size(), 14U);
}

TEST(Probe, CoversTheFamiliesThatNetworksSpendTimeIn) {
    std::map<Family, int> families;
    for (const Operation& operation : probe_operations()) ++families[family(operation)];
    for (const Family kind :
         {Family::convolution, Family::matmul, Family::attention, Family::normalization, Family::softmax,
          Family::elementwise, Family::pooling, Family::reduction, Family::copy, Family::indexing})
        EXPECT_GE(families[kind], 1) << name(kind);
}

TEST(Probe, ReachesFromMemoryToArithmeticAndFitsIntoSmallDevices) {
    double least = 1e9, most = 0;
    for (const Operation& operation : probe_operations()) {
        const Counts counts = forward_counts(operation);
        const double bytes = static_cast<double>(counts.bytes_read + counts.bytes_written);
        EXPECT_LT(bytes, 1e8) << signature(operation);
        const double intensity = static_cast<double>(counts.flop + counts.other_flop) / bytes;
        least = std::min(least, intensity);
        most = std::max(most, intensity);
    }
    EXPECT_EQ(least, 0);   // copies
    EXPECT_GT(most, 100);  // 1024^3 * 2 / (3 * 1024^2 * 4) = 171 FLOP per byte
}

}  // namespace
}  // namespace joulecast
