#include "joulecast/profile/plan.h"

#include <algorithm>
#include <map>
#include <set>

#include <gmock/gmock.h>

#include "dataset/samples.h"
#include "joulecast/error.h"
#include "joulecast/profile/larger_batch.h"
#include "joulecast/profile/sweep.h"
#include "profile/sweeps.h"

namespace joulecast {
namespace {

using joulecast::testing::bag;
using joulecast::testing::fake_settings;
using joulecast::testing::relu_row;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

std::vector<std::string> signatures(const Plan& plan) {
    std::vector<std::string> texts;
    for (const PlannedOperation& planned : plan.operations) texts.push_back(signature(planned.operation));
    return texts;
}

class PlanTest : public joulecast::testing::DatasetFolder {};

TEST(MakePlan, TakesEachOperationOnceOverAllNetworks) {
    const Plan plan = make_plan({bag("a", {{1, 2}, {2, 1}}), bag("b", {{2, 5}, {3, 1}})}, nullptr, fake_settings());
    EXPECT_THAT(signatures(plan),
                UnorderedElementsAre(signature(relu_row(1)), signature(relu_row(2)), signature(relu_row(3))));
    EXPECT_EQ(plan.wanted, 3);
    EXPECT_EQ(plan.measured, 0);
    EXPECT_DOUBLE_EQ(plan.cost_s, 1.5);  // nothing known: 0.5 s each
    for (const PlannedOperation& planned : plan.operations)
        if (planned.operation == relu_row(2)) {
            // 6 calls of 2*8 elements, 4 bytes each read and written at 1 GB/s, and 5 us a call
            EXPECT_NEAR(planned.share_s, 6 * (5e-6 + 128 / 1e9), 1e-12);
        }
}

TEST(MakePlan, LeavesOutWhatCostsNothing) {
    Variation variation = bag("a", {{1, 1}});
    for (const char* target : {"aten::view", "aten::sym_size.int", "getitem"}) {
        Node node;
        node.operation = relu_row(1);
        node.operation.target = target;
        variation.graph.nodes.push_back(node);
    }
    EXPECT_THAT(signatures(make_plan({variation}, nullptr, fake_settings())), ElementsAre(signature(relu_row(1))));
}

TEST(MakePlan, TakesTheLargestSharesWithinTheBudget) {
    PlanSettings settings = fake_settings();
    settings.budget_s = 0.2;  // two first passes of 0.0875 s
    const Plan plan = make_plan({bag("a", {{1, 1}, {1000, 1}, {2, 90}, {3, 1}})}, nullptr, settings);
    EXPECT_THAT(signatures(plan), UnorderedElementsAre(signature(relu_row(1000)), signature(relu_row(2))));
    EXPECT_EQ(plan.left_out, 2);
    // Calls: 90 * (5 us + 0.128 us) + (5 us + 64 us) of these and 5.064 us + 5.192 us left out
    const double covered = 90 * 5.128 + 69;
    EXPECT_NEAR(plan.covered_share, covered / (covered + 5.064 + 5.192), 1e-9);
}

TEST(MakePlan, OrdersByTheSeed) {
    std::vector<std::pair<std::int64_t, std::int64_t>> many;
    for (std::int64_t batch = 1; batch <= 50; ++batch) many.emplace_back(batch, 1);
    PlanSettings settings = fake_settings();
    const auto first = signatures(make_plan({bag("a", many)}, nullptr, settings));
    EXPECT_EQ(first, signatures(make_plan({bag("a", many)}, nullptr, settings)));
    settings.seed = 2;
    const auto second = signatures(make_plan({bag("a", many)}, nullptr, settings));
    EXPECT_NE(first, second);
    EXPECT_EQ(std::set(first.begin(), first.end()), std::set(second.begin(), second.end()));
}

TEST(MakePlan, SharesTheWorkOutOverShards) {
    std::vector<std::pair<std::int64_t, std::int64_t>> many;
    for (std::int64_t batch = 1; batch <= 50; ++batch) many.emplace_back(batch, 1);
    std::set<std::string> all;
    std::size_t sum = 0;
    PlanSettings settings = fake_settings();
    settings.shards = 3;
    for (settings.shard = 1; settings.shard <= 3; ++settings.shard) {
        const auto part = signatures(make_plan({bag("a", many)}, nullptr, settings));
        EXPECT_GT(part.size(), 5u);
        sum += part.size();
        all.insert(part.begin(), part.end());
    }
    EXPECT_EQ(sum, 50u);
    EXPECT_EQ(all.size(), 50u);
    EXPECT_THROW(make_plan({}, nullptr, settings), UsageError);  // shard 4 of 3
}

TEST(MakePlan, LeavesAnOperationInItsShardWhenThePlanGrows) {
    PlanSettings settings = fake_settings();
    settings.shards = 4;
    for (settings.shard = 1; settings.shard <= 4; ++settings.shard) {
        const auto few = signatures(make_plan({bag("a", {{1, 1}, {2, 1}, {3, 1}, {4, 1}})}, nullptr, settings));
        const auto more = signatures(
            make_plan({bag("b", {{9, 1}, {4, 5}}), bag("a", {{5, 1}, {3, 1}, {2, 1}, {1, 1}})}, nullptr, settings));
        for (const std::string& one : few) EXPECT_NE(std::ranges::find(more, one), more.end()) << one;
    }
}

TEST_F(PlanTest, LeavesOutWhatTheDatabaseHoldsAndLearnsWhatAnOperationTakes) {
    Dataset dataset(folder / "a.db");
    dataset.insert(joulecast::testing::sample_device("cpu-fake"));
    Measurement measured = joulecast::testing::sample_measurement(relu_row(1), "cpu-fake");
    measured.wall_s = 0.25;
    dataset.insert(measured, joulecast::testing::sample_provenance());
    const Plan plan = make_plan({bag("a", {{1, 1}, {2, 1}})}, &dataset, fake_settings());
    EXPECT_EQ(plan.wanted, 2);
    EXPECT_EQ(plan.measured, 1);
    EXPECT_THAT(signatures(plan), ElementsAre(signature(relu_row(2))));
    EXPECT_DOUBLE_EQ(plan.cost_s, 0.25);
    PlanSettings other = fake_settings();
    other.point.threads = 1;
    EXPECT_EQ(make_plan({bag("a", {{1, 1}, {2, 1}})}, &dataset, other).measured, 0);
}

TEST(MakePlan, GivesNetworksHalfOfTheBudgetAtMost) {
    Variation network = bag("a", {{1, 1}});
    network.network = true;
    Variation dear = bag("b", {{1, 1}, {10'000'000, 1}});
    dear.network = true;
    PlanSettings settings = fake_settings();
    const Plan all = make_plan({network, dear}, nullptr, settings);
    EXPECT_EQ(all.networks.size(), 2u);
    EXPECT_EQ(all.wanted, 4);  // and two operations
    settings.budget_s = 3;
    const Plan some = make_plan({network, dear}, nullptr, settings);
    ASSERT_EQ(some.networks.size(), 1u);
    EXPECT_EQ(some.networks[0].variation.model, "a");
    EXPECT_EQ(some.left_out, 1);
    network.operations = dear.operations = false;
    settings.budget_s = 9;  // 1 and 7.4 s
    const Plan alone = make_plan({network, dear}, nullptr, settings);
    EXPECT_TRUE(alone.operations.empty());
    EXPECT_EQ(alone.networks.size(), 2u);  // the other half is for nothing else
}

// What a card took on the way, or a budget ends in the middle of a random order.
TEST(MakePlan, CountsWhatMeasuringTakesOnAGpu) {
    Variation network = bag("a", {{1, 1}, {2, 1}});
    network.network = true;
    PlanSettings settings = fake_settings();
    settings.device.kind = Device::Kind::gpu;
    settings.budget_s = 5.1;
    const Plan plan = make_plan({network}, nullptr, settings);
    ASSERT_EQ(plan.networks.size(), 1u);
    EXPECT_NEAR(plan.networks[0].cost_s, 2.5, 0.01);
    settings.budget_s = 0.6;
    for (const PlannedOperation& operation : make_plan({network}, nullptr, settings).operations)
        EXPECT_NEAR(operation.cost_s, 0.2025, 1e-9);
}

TEST_F(PlanTest, FinishesAWholeBudgetOnceAndForAll) {
    Dataset dataset(folder / "a.db");
    dataset.insert(joulecast::testing::sample_device("cpu-fake"));
    const auto bags = {bag("a", {{1, 1}, {2, 1}, {3, 1}, {4, 1}})};
    PlanSettings settings = fake_settings();
    settings.whole_budget_s = 0.2;  // two first passes of 0.0875 s
    const Plan first = make_plan(bags, &dataset, settings);
    EXPECT_EQ(first.operations.size(), 2u);
    EXPECT_DOUBLE_EQ(*first.limit_s, 0.2);
    const auto measure = [&](const Operation& operation, double wall_s) {
        Measurement measured = joulecast::testing::sample_measurement(operation, "cpu-fake");
        measured.wall_s = wall_s;
        dataset.insert(measured, joulecast::testing::sample_provenance());
    };
    measure(first.operations[0].operation, 0.0875);
    const Plan second = make_plan(bags, &dataset, settings);
    EXPECT_EQ(second.operations.size(), 1u);
    EXPECT_DOUBLE_EQ(*second.limit_s, 0.1125);
    measure(first.operations[1].operation, 0.0935);  // 0.181 of 0.2 s: nine tenths are spent
    EXPECT_EQ(make_plan(bags, &dataset, settings).operations.size(), 0u);
    settings.whole_budget_s.reset();
    settings.budget_s = 0.2;  // a budget of the run goes on instead
    EXPECT_EQ(make_plan(bags, &dataset, settings).operations.size(), 2u);
}

Variation ten() {
    std::vector<std::pair<std::int64_t, std::int64_t>> calls;
    for (std::int64_t batch = 1; batch <= 10; ++batch) calls.emplace_back(batch, 2);
    return bag("ten", calls);
}

TEST(MakePlan, MeasuresAllShortlyRatherThanTheDearestLong) {
    PlanSettings settings = fake_settings();
    EXPECT_EQ(make_plan({ten()}, nullptr, settings).first_pass_s, std::nullopt);
    settings.budget_s = 3;  // six of 0.5 s
    const Plan all = make_plan({ten()}, nullptr, settings);
    EXPECT_EQ(all.operations.size(), 10u);
    // 0.3 s for each, a quarter of it for timing, 0.05 s at most; a quarter of that for warm-up and 0.05 s besides.
    EXPECT_DOUBLE_EQ(all.first_pass_s.value(), 0.05);
    EXPECT_DOUBLE_EQ(all.cost_s, 10 * (0.05 * 1.25 + 0.05));
    settings.budget_s = 1;  // 0.1 s for each: the shortest
    EXPECT_DOUBLE_EQ(make_plan({ten()}, nullptr, settings).first_pass_s.value(), 0.03);
    settings.budget_s = 5;  // 0.5 s for each: as it is
    EXPECT_EQ(make_plan({ten()}, nullptr, settings).first_pass_s, std::nullopt);
    settings.budget_s = 3;
    settings.energy_required = true;  // takes a window that no first pass has
    EXPECT_EQ(make_plan({ten()}, nullptr, settings).first_pass_s, std::nullopt);
}

TEST(MakePlan, TakesOneOfEachKindBeforeTheRest) {
    Variation variation = bag("a", {{1000, 9}, {900, 9}, {800, 9}, {1, 1}});
    variation.graph.nodes.back().operation.target = "aten::gelu";
    PlanSettings settings = fake_settings();
    settings.budget_s = 0.2;  // two first passes
    Operation gelu = relu_row(1);
    gelu.target = "aten::gelu";
    EXPECT_THAT(signatures(make_plan({variation}, nullptr, settings)),
                UnorderedElementsAre(signature(relu_row(1000)), signature(gelu)));
}

/// A row that stopped after 0.04 s of timing with this half width.
void insert_rough(Dataset& dataset, const Operation& operation, double half_width_s, bool converged) {
    Measurement measured = joulecast::testing::sample_measurement(operation, "cpu-fake");
    measured.asked = measured.real = fake_settings().point;
    measured.time.half_width_s = half_width_s;
    measured.time.converged = converged;
    measured.energy.reset();
    Provenance provenance = joulecast::testing::sample_provenance();
    provenance.settings = R"({"time_budget_s":0.04})";
    dataset.insert(measured, provenance);
}

TEST_F(PlanTest, TakesUpAgainWhatAFirstPassLeftUnsettled) {
    Dataset dataset(folder / "a.db");
    dataset.insert(joulecast::testing::sample_device("cpu-fake"));
    insert_rough(dataset, relu_row(1), 2e-3, false);
    insert_rough(dataset, relu_row(2), 1e-3, true);
    PlanSettings settings = fake_settings();
    const auto bags = {bag("a", {{1, 3}, {2, 5}})};
    const Plan plan = make_plan(bags, &dataset, settings);
    EXPECT_EQ(plan.measured, 2);
    ASSERT_EQ(plan.rough.size(), 1u);
    EXPECT_EQ(plan.rough[0].planned.operation, relu_row(1));
    EXPECT_DOUBLE_EQ(plan.rough[0].weight_s(), 3 * 2e-3);
    settings.energy_wanted = true;  // of both: 30 % of the time is added to what they err
    EXPECT_EQ(make_plan(bags, &dataset, settings).rough.size(), 2u);
    settings.point.threads = 1;
    EXPECT_TRUE(make_plan(bags, &dataset, settings).rough.empty());
    settings = fake_settings();
    settings.whole_budget_s = 1e-3;  // spent: the plan is done
    EXPECT_TRUE(make_plan(bags, &dataset, settings).rough.empty());
}

TEST_F(PlanTest, DoesNotTakeUpAgainWhatTheRecipeItselfLeftUnsettled) {
    Dataset dataset(folder / "a.db");
    dataset.insert(joulecast::testing::sample_device("cpu-fake"));
    Measurement measured = joulecast::testing::sample_measurement(relu_row(1), "cpu-fake");
    measured.asked = measured.real = fake_settings().point;
    measured.time.converged = false;
    dataset.insert(measured, joulecast::testing::sample_provenance());
    const Plan plan = make_plan({bag("a", {{1, 1}})}, &dataset, fake_settings());
    EXPECT_EQ(plan.measured, 1);
    EXPECT_TRUE(plan.rough.empty());
}

TEST(MakePlan, TakesEverythingAtEveryClockStageByStage) {
    PlanSettings settings = fake_settings();
    settings.clocks = {{900}, {1200}, {900, 1e9, 100}};
    Variation one = bag("a", {{1, 1}, {2, 1}, {3, 1}, {4, 1}});
    one.network = true;
    const Plan plan = make_plan({one}, nullptr, settings);
    ASSERT_EQ(plan.operations.size(), 12u);
    EXPECT_EQ(plan.wanted, 15);  // and the network at each
    std::vector<std::string> first, second;
    for (std::size_t i = 0; i < 12; ++i) {
        EXPECT_EQ(plan.operations[i].stage, i / 4);
        EXPECT_EQ(plan.operations[i].point.sm_clock_mhz, settings.clocks[i / 4].sm_clock_mhz);
        EXPECT_EQ(plan.operations[i].point.device, "cpu-fake");
        if (i < 4) first.push_back(signature(plan.operations[i].operation));
        if (i >= 4 && i < 8) second.push_back(signature(plan.operations[i].operation));
    }
    EXPECT_EQ(plan.operations[11].point.power_limit_w, 100);
    EXPECT_EQ(std::set(first.begin(), first.end()), std::set(second.begin(), second.end()));
    ASSERT_EQ(plan.networks.size(), 3u);
    EXPECT_EQ(plan.networks[1].stage, 1u);
    EXPECT_EQ(plan.networks[1].point.sm_clock_mhz, 1200);
    EXPECT_DOUBLE_EQ(plan.networks_cost_s(1), 2 * plan.networks[0].cost_s);
}

TEST(MakePlan, CountsWhatTheSweepTakesBesideItsMeasurements) {
    PlanSettings settings = fake_settings();
    settings.budget_s = 5;
    settings.overhead_s = 4.8;  // leaves room for two first passes of 0.0875 s
    const Plan plan = make_plan({bag("a", {{1, 1}, {2, 1}, {3, 1}})}, nullptr, settings);
    EXPECT_EQ(plan.operations.size(), 2u);
    EXPECT_DOUBLE_EQ(plan.cost_s, 4.975);
    settings.overhead_s = 6;
    EXPECT_EQ(make_plan({bag("a", {{1, 1}})}, nullptr, settings).cost_s, 0);  // nothing fits, so nothing is begun
}

TEST(MakePlan, LeavesMostOfABudgetToMeasuringRatherThanToWarmingUp) {
    PlanSettings settings = fake_settings();
    EXPECT_EQ(longest_soak_s(settings), 60);
    settings.budget_s = 40;
    EXPECT_EQ(longest_soak_s(settings), 5);
    settings.clocks = {{900}, {1200}};
    EXPECT_EQ(longest_soak_s(settings), 2.5);  // before each
    settings.budget_s = 3600;
    EXPECT_EQ(longest_soak_s(settings), 60);
    settings.budget_s.reset();
    settings.whole_budget_s = 80;
    EXPECT_EQ(longest_soak_s(settings), 5);
}

TEST_F(PlanTest, MeasuresAgainByAnotherMethodAndWithAnotherOptimizer) {
    Dataset dataset(folder / "a.db");
    dataset.insert(joulecast::testing::sample_device("cpu-fake"));
    dataset.insert(joulecast::testing::sample_measurement(relu_row(1), "cpu-fake"),
                   joulecast::testing::sample_provenance());
    Variation variation = bag("a", {{1, 1}});
    variation.network = true;
    variation.mode = Mode::training;
    PlanSettings settings = fake_settings();
    settings.optimizer = Optimizer::adam;
    NetworkMeasurement network = describe({variation, settings.point, Optimizer::adam, 0, 0, 0});
    network.time.mean_s = 1;
    dataset.insert(network, joulecast::testing::sample_provenance());
    EXPECT_EQ(make_plan({variation}, &dataset, settings).measured, 2);
    settings.optimizer = Optimizer::sgd;
    EXPECT_EQ(make_plan({variation}, &dataset, settings).measured, 1);
    settings.optimizer = Optimizer::adam;
    settings.method = Method::thesis;
    const Plan thesis = make_plan({variation}, &dataset, settings);
    EXPECT_EQ(thesis.measured, 0);
    EXPECT_EQ(thesis.operations.at(0).cost_s, 25);
}

TEST(MakePlan, TakesTheProbeFirstAndAugmentationLast) {
    PlanSettings settings = fake_settings();
    settings.probe = {{relu_row(500), Math::ieee}, {relu_row(1), Math::ieee}};
    settings.augmentation = {{relu_row(700), Math::ieee}, {relu_row(2), Math::ieee}, {relu_row(500), Math::ieee}};
    const std::vector<Variation> bags{bag("a", {{1, 1}, {2, 1}, {3, 9}})};
    const auto purposes = [](const Plan& plan) {
        std::map<std::string, std::string> found;
        for (const PlannedOperation& one : plan.operations)
            found[signature(one.operation)] = std::string(name(one.purpose));
        return found;
    };
    // What a network calls is of the network, whatever else names it; the probe's is the probe's.
    const std::string r1 = signature(relu_row(1)), r2 = signature(relu_row(2)), r3 = signature(relu_row(3)),
                      r500 = signature(relu_row(500)), r700 = signature(relu_row(700));
    EXPECT_THAT(purposes(make_plan(bags, nullptr, settings)),
                UnorderedElementsAre(Pair(r1, "operation"), Pair(r2, "operation"), Pair(r3, "operation"),
                                     Pair(r500, "probe"), Pair(r700, "augmentation")));
    settings.budget_s = 0.2;  // two first passes of 0.0875 s
    const Plan two = make_plan(bags, nullptr, settings);
    EXPECT_THAT(purposes(two), UnorderedElementsAre(Pair(r500, "probe"), Pair(r3, "operation")));
    EXPECT_EQ(two.left_out, 3);
    settings.budget_s = 0.4;  // four
    EXPECT_THAT(purposes(make_plan(bags, nullptr, settings)), Not(Contains(Pair(r700, "augmentation"))));
}

TEST(MakePlan, TakesWhatAPlanNamesBeforeAllElseInItsOrder) {
    PlanSettings settings = fake_settings();
    settings.named = {{relu_row(900), Math::ieee}, {relu_row(800), Math::ieee}, {relu_row(1), Math::ieee}};
    settings.probe = {{relu_row(500), Math::ieee}};
    settings.budget_s = 0.2;  // two first passes of 0.0875 s
    const Plan plan = make_plan({bag("a", {{2, 1}})}, nullptr, settings);
    EXPECT_THAT(signatures(plan), UnorderedElementsAre(signature(relu_row(900)), signature(relu_row(800))));
    EXPECT_EQ(plan.operations.at(0).purpose, Purpose::named);
    EXPECT_EQ(name(Purpose::named), "named");
    EXPECT_EQ(plan.left_out, 3);
}

TEST(MakePlan, TellsTf32FromFullPrecision) {
    Variation full = bag("a", {{1, 1}});
    Variation tf32 = full;
    tf32.precision = "tf32";
    tf32.network = full.network = true;
    PlanSettings settings = fake_settings();
    settings.augmentation = {{relu_row(9), Math::tf32}};
    const Plan plan = make_plan({full, tf32}, nullptr, settings);
    ASSERT_EQ(plan.operations.size(), 3u);
    std::multiset<std::string> maths;
    for (const PlannedOperation& one : plan.operations)
        maths.insert(signature(one.operation) + std::string(name(one.point.math)));
    EXPECT_THAT(maths, UnorderedElementsAre(signature(relu_row(1)) + "ieee", signature(relu_row(1)) + "tf32",
                                            signature(relu_row(9)) + "tf32"));
    ASSERT_EQ(plan.networks.size(), 2u);
    EXPECT_NE(plan.networks[0].point.math, plan.networks[1].point.math);
    EXPECT_EQ(describe(plan.networks[1]).precision, "tf32");
}

TEST_F(PlanTest, MeasuresAgainAtAnotherHostMathAndClock) {
    Dataset dataset(folder / "a.db");
    dataset.insert(joulecast::testing::sample_device("cpu-fake"));
    Variation variation = bag("a", {{1, 1}});
    variation.network = true;
    const PlanSettings settings = fake_settings();
    Measurement operation = joulecast::testing::sample_measurement(relu_row(1), "cpu-fake");
    operation.asked = operation.real = settings.point;
    dataset.insert(operation, joulecast::testing::sample_provenance());
    NetworkMeasurement network = describe(make_plan({variation}, nullptr, settings).networks.at(0));
    network.time.mean_s = 1;
    dataset.insert(network, joulecast::testing::sample_provenance());
    EXPECT_EQ(make_plan({variation}, &dataset, settings).measured, 2);
    PlanSettings other = settings;
    other.point.host = Host::python;
    EXPECT_EQ(make_plan({variation}, &dataset, other).measured, 0);
    other = settings;
    other.clocks = {{1200}};
    EXPECT_EQ(make_plan({variation}, &dataset, other).measured, 0);
    variation.precision = "tf32";
    EXPECT_EQ(make_plan({variation}, &dataset, settings).measured, 0);
    variation.precision = "bf16";  // of a network alone: the operation's own types say it
    EXPECT_EQ(make_plan({variation}, &dataset, settings).measured, 1);
}

TEST(LargerBatch, IsTheSameCallWithMoreInDimensionZero) {
    EXPECT_TRUE(is_larger_batch(relu_row(2), relu_row(3)));
    EXPECT_FALSE(is_larger_batch(relu_row(3), relu_row(2)));
    EXPECT_FALSE(is_larger_batch(relu_row(2), relu_row(2)));
    Operation wider = relu_row(3);
    std::get<TensorType>(wider.arguments[0].value).sizes[1] = 9;
    EXPECT_FALSE(is_larger_batch(relu_row(2), wider));
    Operation other = relu_row(3);
    other.target = "aten::gelu";
    EXPECT_FALSE(is_larger_batch(relu_row(2), other));
    NetworkMeasurement small, large;
    small.model = large.model = "a";
    small.symbols = {{"batch", 8}};
    large.symbols = {{"batch", 16}};
    EXPECT_TRUE(is_larger_batch(small, large));
    EXPECT_FALSE(is_larger_batch(large, small));
    large.precision = "bf16";
    EXPECT_FALSE(is_larger_batch(small, large));
    large.precision = small.precision;
    large.mode = Mode::training;
    EXPECT_FALSE(is_larger_batch(small, large));
    small.mode = Mode::training;
    EXPECT_TRUE(is_larger_batch(small, large));
    small.optimizer = Optimizer::adam;  // holds two more copies of the weights
    EXPECT_FALSE(is_larger_batch(small, large));
    Operation half = relu_row(3), trained = relu_row(3);
    std::get<TensorType>(half.arguments[0].value).dtype = Dtype::bf16;
    EXPECT_FALSE(is_larger_batch(relu_row(2), half));
    std::get<TensorType>(trained.arguments[0].value).requires_grad = true;
    EXPECT_FALSE(is_larger_batch(relu_row(2), trained));
}

}  // namespace
}  // namespace joulecast
