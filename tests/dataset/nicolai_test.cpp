#include "joulecast/dataset/nicolai.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "dataset/samples.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using namespace joulecast::testing;

const std::string layer_header =
    "device,precision,mode,op,attrs,input_shape,time_s,time_std_s,power_w,power_std_w,energy_j,energy_std_j,"
    "iterations,total_runtime_s,started,stopped,campaign\n";
const std::string network_header =
    "device,precision,mode,model,input_shape,time_s,time_std_s,power_w,power_std_w,energy_j,energy_std_j,iterations,"
    "started,stopped\n";

/// A made-up row: 10 us and 50 W, 0.5 mJ a call.
std::string layer(const std::string& what, const std::string& mode = "inference", const std::string& time = "1e-05",
                  const std::string& second = "01") {
    return "G1,tf32," + mode + "," + what + "," + time + ",1e-08,50,1,0.0005,1e-05,100000,1,2024-11-17_14-45-" +
           second + ",2024-11-17_14-46-01,sitting_1\n";
}

NicolaiNames names() {
    return {[](const std::string& published) {
                Device device = sample_device();
                device.id = "our-" + published;
                return device;
            },
            [](const std::string& model, std::int64_t size) { return model + "@" + std::to_string(size); }};
}

class NicolaiTest : public DatasetFolder {
  protected:
    void SetUp() override {
        DatasetFolder::SetUp();
        dataset = std::make_unique<Dataset>(folder / "nicolai.db");
    }
    NicolaiImport import(const std::string& csv) {
        std::istringstream input(csv);
        return import_nicolai(*dataset, input, "x.csv", names());
    }
    std::string rejected(const std::string& csv) {
        try {
            import(csv);
        } catch (const FormatError& error) {
            EXPECT_TRUE(dataset->operations().empty());
            return error.what();
        }
        return "accepted";
    }
    std::unique_ptr<Dataset> dataset;
};

TEST_F(NicolaiTest, StoresALayerWithTimePowerSettingAndSitting) {
    const auto report = import(layer_header + layer("ReLU,inplace=True,32x64x28x28"));
    EXPECT_EQ(report.rows, 1);
    EXPECT_EQ(report.added, 1);
    const auto rows = dataset->operations("our-G1");
    ASSERT_EQ(rows.size(), 1U);
    const Measurement& m = rows[0].measurement;
    EXPECT_EQ(signature(m.operation), "aten::relu_(self=f32[32,64,28,28])");
    EXPECT_EQ(m.real.math, Math::tf32);
    EXPECT_EQ(m.real.host, Host::python);
    EXPECT_DOUBLE_EQ(m.time.median_s, 1e-5);
    EXPECT_DOUBLE_EQ(m.time.half_width_s, 1.96e-8);
    EXPECT_DOUBLE_EQ(m.energy->power_w, 50);
    EXPECT_DOUBLE_EQ(m.energy->energy_j, 5e-4);
    EXPECT_EQ(m.energy->calls, 100000);
    EXPECT_DOUBLE_EQ(m.energy->window_s, 1);
    EXPECT_DOUBLE_EQ(m.wall_s, 60);
    EXPECT_EQ(m.started_at, "2024-11-17T14:45:01");
    EXPECT_EQ(rows[0].provenance.session, "nicolai sitting_1");
    EXPECT_EQ(rows[0].provenance.source, "nicolai");
}

TEST_F(NicolaiTest, MarksGradientsOfTrainingRows) {
    import(layer_header + layer("\"Linear\",\"in_features=4, out_features=2, bias=False\",8x4", "training"));
    const auto rows = dataset->operations();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(signature(rows[0].measurement.operation), "aten::linear(input=f32[8,4]~, weight=f32[2,4]~)");
    EXPECT_EQ(rows[0].mode, Mode::training);
}

TEST_F(NicolaiTest, KeepsRepeatsOfALayerAndAddsNothingTheSecondTime) {
    const std::string csv = layer_header + layer("Sigmoid,,8x4", "inference", "1e-05", "01") +
                            layer("Sigmoid,,8x4", "inference", "1.1e-05", "31");
    EXPECT_EQ(import(csv).added, 2);
    EXPECT_EQ(import(csv).added, 0);
}

TEST_F(NicolaiTest, SeesTrainingStateInLayersThatDrop) {
    const std::string norm = layer(
        "BatchNorm2d,\"4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True\","
        "2x4x3x3");
    const std::string passing = layer("StochasticDepth,\"p=0.0, mode=row\",2x4x3x3", "inference", "3e-06");
    const auto dropping = [](const std::string& time) {
        return layer("StochasticDepth,\"p=0.2, mode=row\",2x4x3x3", "inference", time, "02");
    };
    const auto report = import(layer_header + norm + passing + dropping("4e-05"));
    EXPECT_THAT(signature(dataset->operations().at(0).measurement.operation), HasSubstr("training=true"));
    EXPECT_THAT(report.in_training_state, ElementsAre("G1 tf32 inference sitting_1"));
    // One passes its input on and one makes several calls: neither is the time of an ATen operation.
    EXPECT_EQ(report.dropped.size(), 2U);
    Dataset other(folder / "other.db");
    std::istringstream input(layer_header + norm + passing + dropping("3.1e-06"));
    EXPECT_TRUE(import_nicolai(other, input, "y.csv", names()).in_training_state.empty());
    EXPECT_THAT(signature(other.operations().at(0).measurement.operation), HasSubstr("training=false"));
}

TEST_F(NicolaiTest, LeavesOutAndCountsWhatIsNoSingleCall) {
    const auto report = import(layer_header + layer("Fancy,,8x4") + layer("Fancy,,8x5") + layer("Tanh,,8x4"));
    EXPECT_EQ(report.added, 1);
    EXPECT_THAT(report.dropped, ElementsAre(Pair("layers of class Fancy are not known", 2)));
}

TEST_F(NicolaiTest, StoresANetworkUnderTheNameOfTheZoo) {
    const auto report = import(network_header +
                               "G1,fp32,training,resnet34,32x3x56x56,0.02,1e-5,100,1,2,0.02,50,2024-11-18_23-59-50,"
                               "2024-11-19_00-00-10\n");
    EXPECT_EQ(report.added, 1);
    const NetworkMeasurement m = dataset->networks().at(0).measurement;
    EXPECT_EQ(m.model, "resnet34@56");
    EXPECT_EQ(m.symbols.at("batch"), 32);
    EXPECT_EQ(m.precision, "fp32");
    EXPECT_EQ(m.optimizer, Optimizer::sgd);
    EXPECT_DOUBLE_EQ(m.energy->energy_j, 2);
    EXPECT_DOUBLE_EQ(m.wall_s, 20);  // over midnight
}

TEST_F(NicolaiTest, NamesFileLineAndFault) {
    EXPECT_EQ(rejected("a,b\n1,2\n"),
              "x.csv:1: the header names neither 'op' nor 'model', so these are neither layers nor networks.");
    EXPECT_THAT(rejected(layer_header + layer("Tanh,,8x4") + layer("Tanh,,8xx4")), HasSubstr("x.csv:3: input_shape"));
    EXPECT_THAT(rejected(layer_header + layer("Tanh,,8x4", "inference", "nan")), HasSubstr("time_s is 'nan'"));
    EXPECT_THAT(rejected(layer_header + layer("Tanh,,8x4", "inference", "-1")), HasSubstr("not above zero"));
    EXPECT_THAT(rejected(layer_header + layer("Tanh,,8x4", "flying")), HasSubstr("mode 'flying'"));
}

TEST_F(NicolaiTest, NamesColumnsThatItDoesNotKnow) {
    const std::string header = layer_header.substr(0, layer_header.size() - 1) + ",weather\n";
    std::string row = layer("Tanh,,8x4");
    row.insert(row.size() - 1, ",rain");
    EXPECT_THAT(import(header + row).unused_columns, ElementsAre("weather"));
}

TEST_F(NicolaiTest, ReadsThePublishedTables) {
    const char* data = std::getenv("JOULECAST_DATA");
    if (data == nullptr) GTEST_SKIP() << "JOULECAST_DATA does not name the folder of published tables";
    for (const char* file : {"ops.csv", "networks.csv"}) {
        const auto path = std::filesystem::path(data) / "nicolai_a30" / file;
        std::ifstream input(path);
        ASSERT_TRUE(input) << path;
        const auto report = import_nicolai(*dataset, input, path.string(), names());
        std::int64_t dropped = 0;
        for (const auto& [why, count] : report.dropped) {
            EXPECT_THAT(why, HasSubstr("StochasticDepth"));
            dropped += count;
        }
        EXPECT_EQ(report.added + dropped, report.rows) << file;
        EXPECT_TRUE(report.unused_columns.empty());
    }
}

}  // namespace
}  // namespace joulecast
