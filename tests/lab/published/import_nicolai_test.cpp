#include "lab/published/import_nicolai.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

#include "tests/dataset/imports.h"

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
    return "A30,tf32," + mode + "," + what + "," + time + ",1e-08,50,1,0.0005,1e-05,100000,1,2024-11-17_14-45-" +
           second + ",2024-11-17_14-46-01,sitting_1\n";
}

Import take(Dataset& dataset, std::istream& input, const std::string& name) {
    return import_nicolai(dataset, input, name, [](const std::string& model, std::int64_t size) {
        return model + "@" + std::to_string(size);
    });
}

class ImportNicolai : public ImportFolder {
  protected:
    Import import(const std::string& csv) { return import_text(&take, csv); }
};

TEST_F(ImportNicolai, StoresALayerWithTimePowerSettingAndSitting) {
    const auto report = import(layer_header + layer("ReLU,inplace=True,32x64x28x28"));
    EXPECT_EQ(report.rows, 1);
    EXPECT_EQ(report.added, 1);
    EXPECT_THAT(report.dropped_columns, ElementsAre("power_std_w"));
    const auto rows = stored().operations("a30");
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

TEST_F(ImportNicolai, MarksGradientsOfTrainingRows) {
    import(layer_header + layer("\"Linear\",\"in_features=4, out_features=2, bias=False\",8x4", "training"));
    const auto rows = stored().operations();
    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(signature(rows[0].measurement.operation), "aten::linear(input=f32[8,4]~, weight=f32[2,4]~)");
    EXPECT_EQ(rows[0].mode, Mode::training);
}

TEST_F(ImportNicolai, KeepsRepeatsOfALayerAndAddsNothingTheSecondTime) {
    const std::string csv = layer_header + layer("Sigmoid,,8x4", "inference", "1e-05", "01") +
                            layer("Sigmoid,,8x4", "inference", "1.1e-05", "31");
    EXPECT_EQ(import(csv).added, 2);
    EXPECT_EQ(import(csv).added, 0);
    for (const OperationRow& row : stored().operations()) EXPECT_EQ(row.provenance.session, "nicolai sitting_1");
}

TEST_F(ImportNicolai, SeesTrainingStateInLayersThatDrop) {
    const std::string norm = layer(
        "BatchNorm2d,\"4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True\","
        "2x4x3x3");
    const std::string passing = layer("StochasticDepth,\"p=0.0, mode=row\",2x4x3x3", "inference", "3e-06");
    const auto dropping = [](const std::string& time) {
        return layer("StochasticDepth,\"p=0.2, mode=row\",2x4x3x3", "inference", time, "02");
    };
    const auto report = import(layer_header + norm + passing + dropping("4e-05"));
    EXPECT_THAT(signature(stored().operations().at(0).measurement.operation), HasSubstr("training=true"));
    EXPECT_THAT(report.notes,
                ElementsAre(HasSubstr("A30 tf32 inference sitting_1: its layers that drop were dropping")));
    // One passes its input on and one makes several calls: neither is the time of an ATen operation.
    EXPECT_EQ(report.dropped.size(), 2U);
    Dataset other(folder / "other.db");
    std::istringstream input(layer_header + norm + passing + dropping("3.1e-06"));
    EXPECT_TRUE(take(other, input, "y.csv").notes.empty());
    EXPECT_THAT(signature(other.operations().at(0).measurement.operation), HasSubstr("training=false"));
}

TEST_F(ImportNicolai, LeavesOutAndCountsWhatIsNoSingleCall) {
    const auto report = import(layer_header + layer("Fancy,,8x4") + layer("Fancy,,8x5") + layer("Tanh,,8x4"));
    EXPECT_EQ(report.added, 1);
    EXPECT_THAT(report.dropped, ElementsAre(Pair("layers of class Fancy are not known", 2)));
    // One that drops, but does not say how often, once ended the import.
    EXPECT_THAT(import(layer_header + layer("Dropout,inplace=False,8x4")).dropped,
                ElementsAre(Pair("attribute p of Dropout is missing", 1)));
}

TEST_F(ImportNicolai, StoresANetworkUnderTheNameOfTheZoo) {
    const auto report = import(network_header +
                               "A30,fp32,training,resnet34,32x3x56x56,0.02,1e-5,100,1,2,0.02,50,2024-11-18_23-59-50,"
                               "2024-11-19_00-00-10\n");
    EXPECT_EQ(report.added, 1);
    const NetworkMeasurement m = stored().networks().at(0).measurement;
    EXPECT_EQ(m.model, "resnet34@56");
    EXPECT_EQ(m.symbols.at("batch"), 32);
    EXPECT_EQ(m.precision, "fp32");
    EXPECT_EQ(m.optimizer, Optimizer::sgd);
    EXPECT_DOUBLE_EQ(m.energy->energy_j, 2);
    EXPECT_DOUBLE_EQ(m.wall_s, 20);  // over midnight
}

TEST_F(ImportNicolai, NamesFileLineAndFault) {
    const auto refused = [this](const std::string& csv) { return rejected(&take, csv); };
    EXPECT_EQ(refused("a,b\n1,2\n"),
              "t.csv:1: the header names neither 'op' nor 'model', so these are neither layers nor networks.");
    EXPECT_THAT(refused(layer_header + layer("Tanh,,8x4") + layer("Tanh,,8xx4")), HasSubstr("t.csv:3: input_shape"));
    EXPECT_THAT(refused(layer_header + layer("Tanh,,8x4", "inference", "nan")),
                HasSubstr("t.csv:2: time_s 'nan' is no finite number"));
    EXPECT_THAT(refused(layer_header + layer("Tanh,,8x4", "inference", "-1")), HasSubstr("not above zero"));
    EXPECT_THAT(refused(layer_header + layer("Tanh,,8x4", "flying")), HasSubstr("mode 'flying'"));
    EXPECT_THAT(refused("op,model\n"), HasSubstr("the header lacks the column device"));
    std::string elsewhere = layer("Tanh,,8x4");
    elsewhere.replace(0, 3, "XPU-1");
    EXPECT_THAT(refused(layer_header + elsewhere), HasSubstr("t.csv:2: device 'XPU-1' has no data sheet"));
}

TEST_F(ImportNicolai, NamesColumnsThatItDoesNotKnow) {
    const std::string header = layer_header.substr(0, layer_header.size() - 1) + ",weather\n";
    std::string row = layer("Tanh,,8x4");
    row.insert(row.size() - 1, ",rain");
    EXPECT_THAT(import(header + row).unknown_columns, ElementsAre("weather"));
}

TEST_F(ImportNicolai, ReadsThePublishedTables) {
    for (const char* file : {"ops.csv", "networks.csv"}) {
        const auto path = published_table(std::string("nicolai_a30/") + file);
        if (path.empty()) GTEST_SKIP() << "JOULECAST_DATA is unset or has no table nicolai_a30/" << file;
        std::ifstream input(path);
        Dataset into(folder / "a.db");
        const auto report = take(into, input, path.string());
        for (const auto& [why, count] : report.dropped) EXPECT_THAT(why, HasSubstr("StochasticDepth"));
        EXPECT_GT(report.rows, 0) << file;
        EXPECT_EQ(report.used + dropped(report), report.rows) << file;
        EXPECT_EQ(report.added, report.used) << file;
        EXPECT_TRUE(report.unknown_columns.empty()) << file;
    }
}

}  // namespace
}  // namespace joulecast
