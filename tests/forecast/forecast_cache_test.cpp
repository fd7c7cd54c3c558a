#include "joulecast/forecast/forecast_cache.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "joulecast/error.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

/// A device trained on few trees, and the operations of one network at two batches.
struct Trained {
    DeviceModel device;
    MeasuredOperations measured;
    std::vector<Operation> operations;
};

const Trained& trained() {
    static const Trained all = [] {
        Trained t;
        OperatingPoint setting;
        TrainSettings settings;
        settings.trees = 3;
        settings.folds = 2;
        const auto rows = testing::synthetic_rows({testing::synthetic_graph("resnet18", 2)});
        t.device = train_device(testing::synthetic_cpu(), setting,
                                training_rows(rows, testing::synthetic_cpu(), setting), {}, settings);
        t.measured = measured_operations(std::span(rows).first(5));
        for (const std::int64_t batch : {2, 3}) {
            for (const CountedOperation& counted : count_operations(testing::synthetic_graph("resnet18", batch))) {
                t.operations.push_back(counted.operation);
            }
        }
        return t;
    }();
    return all;
}

void expect_same(const OperationForecast& a, const OperationForecast& b) {
    EXPECT_EQ(a.operation, b.operation);
    EXPECT_EQ(a.evidence, b.evidence);
    EXPECT_EQ(a.count, b.count);
    const auto same = [](const auto& x, const auto& y) {
        const auto equal = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
        return equal(x.value.value(), y.value.value()) && equal(x.low.value(), y.low.value()) &&
               equal(x.high.value(), y.high.value());
    };
    EXPECT_TRUE(same(a.cost.device_time, b.cost.device_time));
    EXPECT_TRUE(same(a.cost.host_time, b.cost.host_time));
    EXPECT_TRUE(same(a.cost.dynamic_energy, b.cost.dynamic_energy));
    EXPECT_TRUE(same(a.cost.peak_memory, b.cost.peak_memory));
}

TEST(ForecastCache, SaysWhatForecastingWithoutItSays) {
    const Trained& t = trained();
    ForecastCache cache(t.device, all_columns(), t.measured);
    for (int pass = 0; pass < 2; ++pass) {
        for (const Operation& operation : t.operations) {
            const auto fresh = forecast_operation(t.device, all_columns(), prepare(operation, t.device), t.measured);
            expect_same(cache.forecast(operation), fresh);
        }
    }
}

/// The cache once prepared every operation as if its products were in full float32.
TEST(ForecastCache, ForecastsProductsAtTheMathOfTheSetting) {
    const Operation product = parse_operation("aten::linear(input=f32[512,512], weight=f32[512,512])");
    DeviceModel device;  // nothing learned: thrice the roofline, 2 * 512^3 FLOP at the peak of the setting
    device.device = testing::synthetic_cpu();
    const MeasuredOperations none;
    device.device.peak_flop_per_s_fp32 = 1e11;
    device.device.peak_flop_per_s_tf32 = 4e11;
    for (const auto& [math, peak] : {std::pair{Math::ieee, 1e11}, std::pair{Math::tf32, 4e11}}) {
        device.point.math = math;
        ForecastCache cache(device, all_columns(), none);
        EXPECT_DOUBLE_EQ(cache.forecast(product).cost.device_time.value.value(), 3 * 2 * 512.0 * 512 * 512 / peak);
    }
}

TEST(ForecastCache, IssuesFromTheHostAskedFor) {
    const Trained& t = trained();
    DeviceModel device = t.device;
    device.hosts = {{Host::python, Mode::inference, 50e-6, 0, 4}};
    ForecastCache cpp(device, all_columns(), t.measured);
    ForecastCache python(device, all_columns(), t.measured, ForecastCache::default_capacity, Host::python);
    for (int pass = 0; pass < 2; ++pass) {
        const double more = python.forecast(t.operations[0]).cost.device_time.value.value() -
                            cpp.forecast(t.operations[0]).cost.device_time.value.value();
        EXPECT_NEAR(more, 50e-6, 1e-12);
    }
    EXPECT_THROW(ForecastCache(device, all_columns(), t.measured, 10, Host::graph), Error);
}

TEST(ForecastCache, ForecastsEachOperationOnce) {
    const Trained& t = trained();
    ForecastCache cache(t.device, all_columns(), t.measured);
    std::set<std::string> different;
    for (const Operation& operation : t.operations) {
        different.insert(signature(operation));
        cache.forecast(operation);
    }
    for (const Operation& operation : t.operations) cache.forecast(Operation(operation));
    EXPECT_EQ(cache.misses(), different.size());
    EXPECT_EQ(cache.hits(), 2 * t.operations.size() - different.size());
    EXPECT_EQ(cache.size(), different.size());
}

TEST(ForecastCache, KeepsNoMoreThanItMay) {
    const Trained& t = trained();
    ASSERT_GT(t.operations.size(), 20U);
    for (const std::size_t capacity : {0U, 2U, 7U, 20U}) {
        ForecastCache cache(t.device, all_columns(), t.measured, capacity);
        for (int pass = 0; pass < 3; ++pass) {
            for (const Operation& operation : t.operations) {
                EXPECT_EQ(cache.forecast(operation).operation, operation);
                EXPECT_LE(cache.size(), std::max<std::size_t>(2, capacity));
            }
        }
        EXPECT_EQ(cache.hits() + cache.misses(), 3 * t.operations.size());
    }
}

TEST(ForecastCache, KeepsWhatIsAskedForAgainAndAgain) {
    // The first operation comes up before each other one, so it is always among the four last asked for.
    const Trained& t = trained();
    ForecastCache cache(t.device, all_columns(), t.measured, 4);
    for (std::size_t i = 1; i < t.operations.size(); ++i) {
        const std::uint64_t misses = cache.misses();
        cache.forecast(t.operations[0]);
        if (i > 1) {
            EXPECT_EQ(cache.misses(), misses) << i;
        }
        cache.forecast(t.operations[i]);
    }
}

}  // namespace
}  // namespace joulecast
