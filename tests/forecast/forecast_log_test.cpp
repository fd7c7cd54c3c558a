#include "joulecast/forecast/forecast_log.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

/// A model whose part over the law says `over_law` and that over the roofline `over_roofline`, whatever the row.
FamilyModel saying(float over_law, float over_roofline, PartWeights weights) {
    const auto leaf = [](float value) { return Forest{{{-1, value, 0}}, {0}}; };
    FamilyModel model;
    model.family = Family::elementwise;
    model.ranges.resize(all_columns().size());
    model.parts.resize(2);
    model.parts[0].model = leaf(over_law);
    model.parts[1].base = Base::roofline;
    model.parts[1].model = leaf(over_roofline);
    model.reading.weights = weights;
    return model;
}

TEST(ForecastLog, WeighsTheRooflineByTheShareOfWork) {
    DeviceModel device;
    device.device = testing::synthetic_cpu();
    const PreparedOperation call = prepare(parse_operation("aten::relu(self=f32[1000000])"), device.device, Math::ieee);
    const double roof_s = seconds(call.roofline);
    const auto log_value = [&](double floor_s, PartWeights weights) {
        device.laws = {{law_key(call.operation), {floor_s, 1, 1}, 9}};
        const auto forecast = forecast_log(device, saying(0.25F, 0.75F, weights), all_columns(), call,
                                           std::vector<float>(all_columns().size(), 0.0F));
        return forecast.value().log_value;
    };
    const auto law_log = [&](double floor_s) { return std::log(seconds({floor_s, 1, 1}, call.roofline)) + 0.25; };
    const double roof_log = std::log(roof_s) + 0.75;
    // As much floor as work: a quarter of the roofline's part. No floor: half of it. Nothing but floor: none.
    EXPECT_NEAR(log_value(roof_s, PartWeights::by_work), 0.75 * law_log(roof_s) + 0.25 * roof_log, 1e-6);
    EXPECT_NEAR(log_value(0, PartWeights::by_work), (law_log(0) + roof_log) / 2, 1e-6);
    EXPECT_NEAR(log_value(1e9 * roof_s, PartWeights::by_work), law_log(1e9 * roof_s), 1e-6);
    EXPECT_NEAR(log_value(roof_s, PartWeights::alike), (law_log(roof_s) + roof_log) / 2, 1e-6);
}

/// A product of so many rows, by a model whose most intense row had `intensity` (log2 FLOP/byte).
LogForecast product_of(std::int64_t rows, float intensity) {
    DeviceModel device;
    device.device = testing::synthetic_cpu();
    const Operation call =
        parse_operation("aten::linear(input=f32[" + std::to_string(rows) + ",1024], weight=f32[1024,1024])");
    device.laws = {{law_key(call), {1e-6, 2, 1.5}, 9}};
    FamilyModel model = saying(0, -3, PartWeights::alike);
    model.family = Family::matmul;
    for (TrainedRange& range : model.ranges) range = {-100, 100};
    const auto columns = all_columns();
    for (std::size_t i = 0; i < columns.size(); ++i)
        if (columns[i]->name == "intensity") model.ranges[i].high = intensity;
    const PreparedOperation prepared = prepare(call, device.device, Math::ieee);
    model.targets = {"aten::linear"};
    return forecast_log(device, model, columns, prepared, feature_row(device, model, columns, prepared)).value();
}

TEST(ForecastLog, GoesByTheLawAloneWhereArithmeticDecidesAndDecidedNothingThatWasMeasured) {
    const auto law_log = [](std::int64_t rows) {
        const Operation call =
            parse_operation("aten::linear(input=f32[" + std::to_string(rows) + ",1024], weight=f32[1024,1024])");
        return std::log(seconds({1e-6, 2, 1.5}, roofline(call, testing::synthetic_cpu())));
    };
    const LogForecast untold = product_of(256, -1), told = product_of(256, 6), of_one_row = product_of(1, -1);
    EXPECT_NEAR(untold.log_value, law_log(256), 1e-6);
    EXPECT_FALSE(untold.inside);
    EXPECT_GT(untold.half_width, 0.8);  // a factor of 2.3 either way
    EXPECT_LT(told.log_value, law_log(256) - 0.5);
    EXPECT_TRUE(told.inside);
    EXPECT_LT(told.half_width, untold.half_width);
    EXPECT_TRUE(of_one_row.inside) << "its weights decide, as they did";
}

}  // namespace
}  // namespace joulecast
