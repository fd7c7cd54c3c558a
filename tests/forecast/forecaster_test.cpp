#include "joulecast/forecast/forecaster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "joulecast/error.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/forecast/hosts.h"
#include "joulecast/model/jcp.h"
#include "tests/train/made_up_gpus.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

const std::string file = JOULECAST_SOURCE_DIR "/tests/model/data/version_1.jcp";

std::vector<Operation> operations_of(const Graph& graph) {
    std::vector<Operation> operations;
    for (const Node& node : graph.nodes) operations.push_back(node.operation);
    return operations;
}

ForecasterSettings with(Math math) {
    ForecasterSettings settings;
    settings.math = math;
    return settings;
}

TEST(Forecaster, SaysOfEveryOperationWhatItIsForecastAlone) {
    Forecaster forecaster(file, "cpu-synthetic");
    const Predictor predictor = read_jcp(file);
    const auto columns = joulecast::columns(predictor);
    const auto operations = operations_of(testing::synthetic_graph("resnet18", 3));
    std::vector<OperationCost> costs(operations.size());
    forecaster.forecast(operations, costs);
    for (std::size_t i = 0; i < operations.size(); ++i) {
        const auto alone =
            forecast_operation(predictor.devices[0], columns, prepare(operations[i], predictor.devices[0]), {});
        EXPECT_EQ(costs[i].time.value, alone.cost.device_time.value);
        EXPECT_EQ(costs[i].time.high, alone.cost.device_time.high);
        EXPECT_EQ(costs[i].evidence, alone.evidence);
        EXPECT_EQ(costs[i].energy.known(), alone.energy.known());
    }
}

TEST(Forecaster, ForecastsEqualOperationsOnce) {
    Forecaster forecaster(file, "cpu-synthetic");
    const Graph graph = testing::synthetic_graph("resnet18", 3);
    const auto operations = operations_of(graph);
    std::vector<OperationCost> costs(operations.size());
    forecaster.forecast(operations, costs);
    forecaster.forecast(operations, costs);
    EXPECT_EQ(forecaster.asked(), 2 * operations.size());
    EXPECT_EQ(forecaster.forecast_anew(), count_operations(graph).size());
    EXPECT_EQ(forecaster.another().asked(), 0U);
}

TEST(Forecaster, SaysOfNetworksWhatPredictSays) {
    Forecaster forecaster(file, "cpu-synthetic");
    const Predictor predictor = read_jcp(file);
    const Graph graph = testing::synthetic_graph("resnet18", 3);
    const auto expected =
        forecast_network(graph, "fp32", predictor.devices[0], joulecast::columns(predictor), {}, Host::python);
    const auto result = forecaster.forecast(graph, "fp32", Host::python);
    EXPECT_EQ(result.time.value, expected.time.value);
    EXPECT_EQ(result.time.low, expected.time.low);
    EXPECT_EQ(result.cost.peak_memory.value, expected.cost.peak_memory.value);
}

TEST(Forecaster, AsksForCallsFromTheHostWanted) {
    Forecaster forecaster(file, "cpu-synthetic");
    const Operation operation = parse_operation("aten::relu(self=f32[8,64,56,56])");
    const double own = forecaster.forecast(operation).cost.device_time.value.value();
    const double python = forecaster.forecast(operation, Host::python).cost.device_time.value.value();
    EXPECT_NEAR(python - own, host_extra(forecaster.device(), Host::python, Mode::inference).seconds_per_call, 1e-12);
    EXPECT_GT(python, own);
    EXPECT_THROW(forecaster.forecast(operation, Host::graph), Error);
}

TEST(Forecaster, TakesADeviceFromItsDataSheetWhereNoneWasMeasured) {
    const std::vector<DeviceRows> rows{testing::made_up_rows("p100", 0.9), testing::made_up_rows("v100-32g-pcie", 1.0)};
    const std::vector<const DeviceRows*> parts{&rows[0], &rows[1]};
    Predictor predictor;
    for (const Feature* feature : all_columns()) predictor.features.emplace_back(feature->name);
    predictor.pooled.push_back(train_pooled(parts, testing::quick_settings()));
    Forecaster forecaster(predictor, "h100");
    EXPECT_EQ(forecaster.device().device.id, "h100-sxm");
    EXPECT_EQ(forecaster.forecast(parse_operation("aten::relu(self=f32[8,64,56,56])")).evidence,
              Evidence::extrapolated);
    EXPECT_THROW(Forecaster(predictor, "h1000"), UsageError);
    const auto multiplying = [&](const char* device, Math math) {
        return Forecaster(predictor, device, with(math)).device().point.math;
    };
    EXPECT_EQ(multiplying("h100", Math::tf32), Math::tf32);
    EXPECT_EQ(multiplying("h100", Math::torch_default), Math::torch_default);
    EXPECT_EQ(multiplying("t4", Math::torch_default), Math::ieee);
    EXPECT_THROW(multiplying("t4", Math::tf32), Error);
}

TEST(Forecaster, TakesPyTorchsDefaultFromADeviceMeasuredInBothMaths) {
    Predictor predictor = read_jcp(file);
    DeviceModel& ieee = predictor.devices[0];
    const std::string id = ieee.device.id;
    ieee.device.kind = Device::Kind::gpu;
    ieee.device.peak_flop_per_s_tf32 = 2 * ieee.device.peak_flop_per_s_fp32;
    DeviceModel tf32 = ieee;
    tf32.point.math = Math::tf32;
    for (TrainedLaw& law : tf32.laws) law.law.floor_s += 1;
    predictor.devices.push_back(tf32);
    const Forecaster both(predictor, id, with(Math::torch_default));
    EXPECT_EQ(both.device().point.math, Math::torch_default);
    for (const TrainedLaw& law : both.device().laws) {
        const bool is_of_convolutions = law.key.find("conv") != std::string::npos;
        EXPECT_EQ(law.law.floor_s > 0.5, is_of_convolutions) << law.key;
    }
    predictor.devices.pop_back();
    EXPECT_THROW(Forecaster(predictor, id, with(Math::torch_default)), Error);
}

TEST(Forecaster, RefusesWhatItCannotForecast) {
    EXPECT_THROW(Forecaster("no_such_file.jcp", "cpu-synthetic"), Error);
    ForecasterSettings tf32;
    tf32.math = Math::tf32;
    EXPECT_THROW(Forecaster(file, "cpu-synthetic", tf32), Error);
    Forecaster forecaster(file, "cpu-synthetic");
    const std::vector<Operation> one{parse_operation("aten::relu(self=f32[8])")};
    EXPECT_THROW(forecaster.forecast(one, {}), Error);
}

TEST(Forecaster, TakesMeasuredOperationsAsTheyAre) {
    const Operation operation = parse_operation("aten::relu(self=f32[8,64,56,56])");
    ForecasterSettings settings;
    settings.measured[signature(operation)].time = {Seconds(0.5), Seconds(0.4), Seconds(0.6)};
    Forecaster forecaster(file, "cpu-synthetic", settings);
    EXPECT_EQ(forecaster.forecast(operation).cost.device_time.value.value(), 0.5);
    EXPECT_EQ(forecaster.forecast(operation).evidence, Evidence::measured);
}

std::string text_of(const std::string& path) {
    std::ifstream in(std::string(JOULECAST_SOURCE_DIR) + "/" + path);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Forecaster, IsDocumentedByLinesOfTheExampleThatRuns) {
    const std::string page = text_of("docs/search.md");
    const std::string example = text_of("examples/search/search.cpp");
    const std::string fence = "```cpp\n";
    std::size_t blocks = 0;
    for (std::size_t at = page.find(fence); at != std::string::npos; at = page.find(fence, at + 1), ++blocks) {
        const std::size_t begin = at + fence.size();
        EXPECT_THAT(example, HasSubstr(page.substr(begin, page.find("```", begin) - begin)));
    }
    EXPECT_EQ(blocks, 2U);
}

}  // namespace
}  // namespace joulecast
