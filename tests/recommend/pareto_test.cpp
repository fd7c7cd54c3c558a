#include "joulecast/recommend/pareto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/recommend/candidates.h"

namespace joulecast::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Pareto, KeepsWhatNothingBeatsFromTheFastestOn) {
    const std::vector<Candidate> all{run_of("slow", 4, 1), run_of("beaten", 3, 3), run_of("fast", 1, 4),
                                     run_of("middle", 2, 2), run_of("as slow, dearer", 4, 1.5)};
    const std::vector<std::size_t> everyone{0, 1, 2, 3, 4};
    EXPECT_THAT(pareto_front(all, everyone), ElementsAre(2, 3, 0));
    const std::vector<std::size_t> some{0, 1, 4};
    EXPECT_THAT(pareto_front(all, some), ElementsAre(1, 0));
}

TEST(Pareto, ComparesSamplesNotRuns) {
    Candidate batch = run_of("batch", 4, 4);
    batch.samples = 8;
    const std::vector<Candidate> all{run_of("single", 1, 1), batch};
    const std::vector<std::size_t> both{0, 1};
    EXPECT_THAT(pareto_front(all, both), ElementsAre(1));
}

TEST(Pareto, NamesTheFirstOfEqualsAndNobodyWithoutEnergy) {
    Candidate unmetered = run_of("unmetered", 0.1, 1);
    unmetered.energy = {};
    const std::vector<Candidate> all{unmetered, run_of("a", 1, 1), run_of("b", 1, 1)};
    const std::vector<std::size_t> everyone{0, 1, 2};
    EXPECT_THAT(pareto_front(all, everyone), ElementsAre(1));
    const std::vector<std::size_t> one{0};
    EXPECT_THAT(pareto_front(all, one), IsEmpty());
}

}  // namespace
}  // namespace joulecast::testing
