#include "joulecast/answer/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <thread>

#include "joulecast/answer/asked_operation.h"
#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/graph/graph_json.h"
#include "joulecast/graph/unsupported_error.h"
#include "joulecast/model/jcp.h"

namespace joulecast {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* gpus = JOULECAST_SOURCE_DIR "/predictors/nvidia.jcp";
constexpr const char* synthetic_cpu = JOULECAST_SOURCE_DIR "/tests/model/data/version_1.jcp";

SessionSettings settings(const std::string& predictor) {
    SessionSettings made;
    made.predictor.file = predictor;
    return made;
}

/// Two layers of `batch` rows.
std::shared_ptr<const Graph> layers() {
    return std::make_shared<const Graph>(graph_from_json(
        R"j({"schema":"joulecast.graph/1","name":"layers","has_edges":false,"symbols":{"batch":4},"nodes":[)j"
        R"j({"operation":"aten::linear(input=f32[batch,512], weight=f32[512,512], bias=f32[512])","count":2},)j"
        R"j({"operation":"aten::relu(self=f32[batch,512])"}]})j"));
}

Question asked(const std::vector<std::string>& devices) {
    Question question;
    question.graphs = {layers()};
    for (const std::string& device : devices) question.devices.push_back(device_at_clock(device));
    return question;
}

TEST(Session, LoadsADeviceOnceHoweverItIsNamed) {
    Session session(settings(gpus));
    const Answer answer = session.answer(asked({"a100-40g-pcie", "a100-40g-pcie@690", "a100"}));
    ASSERT_EQ(answer.devices.size(), 3U);
    EXPECT_EQ(answer.devices[0].loaded, answer.devices[1].loaded);
    EXPECT_EQ(answer.devices[0].loaded, answer.devices[2].loaded);
    EXPECT_EQ(session.device("a100-40g-pcie").loaded, answer.devices[0].loaded);
    // What a name means is said where it is not the id itself.
    EXPECT_THAT(answer.devices[0].note, StartsWith("a100-40g-pcie was"));
    EXPECT_THAT(answer.devices[2].note, StartsWith("a100 is a100-40g-pcie, "));
    EXPECT_EQ(answer.forecasts[2].note, answer.devices[2].note);
    // Another CPU that issues the calls makes it another one.
    EXPECT_NE(session.device("a100-40g-pcie", "epyc-7763").loaded, answer.devices[0].loaded);
}

TEST(Session, TellsOnceWhatWasNotedOfAGraph) {
    auto noted = std::make_shared<Graph>(*layers());
    noted->notes = {"operator set 99 was not tried"};
    Question question = asked({"a100-40g-pcie", "h100"});
    question.graphs = {noted};
    question.modes = {Mode::inference, Mode::training};
    std::vector<std::string> told;
    const Answer answer =
        Session(settings(gpus)).answer(question, [&](const std::string& note) { told.push_back(note); });
    EXPECT_EQ(std::ranges::count(told, "layers: operator set 99 was not tried"), 1);
    EXPECT_EQ(answer.notes, told);
}

TEST(Session, ForecastsTheSameWhicheverWayClocksAreNamed) {
    Question listed = asked({"a100-40g-pcie"});
    listed.clocks.sm_clocks_mhz = {690, 900};
    const Answer one = Session(settings(gpus)).answer(listed);
    const Answer two = Session(settings(gpus)).answer(asked({"a100-40g-pcie@690", "a100-40g-pcie@900"}));
    ASSERT_EQ(one.forecasts.size(), 2U);
    ASSERT_EQ(two.forecasts.size(), 2U);
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_EQ(one.forecasts[i].network.asked.sm_clock_mhz, i == 0 ? 690 : 900);
        EXPECT_EQ(one.forecasts[i].network.time.value, two.forecasts[i].network.time.value);
        EXPECT_EQ(one.forecasts[i].network.energy.high, two.forecasts[i].network.energy.high);
        EXPECT_EQ(one.forecasts[i].network.operations.size(), two.forecasts[i].network.operations.size());
    }
    EXPECT_NE(one.forecasts[0].network.time.value, one.forecasts[1].network.time.value);
}

TEST(Session, AnswersInTheOrderOfTheQuestion) {
    Question question = asked({"t4", "a30@900"});
    question.sizes = {{{"batch", 8}}, {{"batch", 2}}};
    question.modes = {Mode::training, Mode::inference};
    question.precisions = {"fp32", "fp16"};
    std::vector<std::string> order;
    for (const Forecast& forecast : Session(settings(gpus)).answer(question).forecasts) {
        const NetworkForecast& n = forecast.network;
        order.push_back(n.device + " " + std::to_string(n.symbols.at("batch")) + " " + std::string(name(n.mode)) + " " +
                        n.precision);
    }
    EXPECT_THAT(
        order,
        ElementsAre("t4 8 training fp32", "t4 8 training fp16", "t4 8 inference fp32", "t4 8 inference fp16",
                    "t4 2 training fp32", "t4 2 training fp16", "t4 2 inference fp32", "t4 2 inference fp16",
                    "a30 8 training fp32", "a30 8 training fp16", "a30 8 inference fp32", "a30 8 inference fp16",
                    "a30 2 training fp32", "a30 2 training fp16", "a30 2 inference fp32", "a30 2 inference fp16"));
}

TEST(Session, TellsWhatForecastsRestOnEvenBeforeAnError) {
    Session session(settings(gpus));
    std::vector<std::string> heard;
    const auto tell = [&](const std::string& note) { heard.push_back(note); };
    EXPECT_THROW(session.answer(asked({"t4", "no-such-device"}), tell), UsageError);
    EXPECT_THAT(heard, ElementsAre("t4: forecast from its data sheet, with wide intervals"));
    // The same from what was kept.
    EXPECT_EQ(session.answer(asked({"t4"})).notes, heard);
}

TEST(Session, InfersWithABatchOfOneUnlessAnotherIsNamed) {
    Question question;
    question.models = {"resnet18"};
    question.devices = {device_at_clock("t4")};
    question.modes = {Mode::inference, Mode::training};
    Session session(settings(gpus));
    const auto answer = session.answer(question);
    EXPECT_EQ(answer.forecasts[0].network.symbols.at("batch"), 1) << "the export's is 2";
    EXPECT_EQ(answer.forecasts[1].network.symbols.at("batch"), 2) << "training keeps it";
    question.sizes = {{{"batch", 2}}};
    EXPECT_EQ(session.answer(question).forecasts[0].network.symbols.at("batch"), 2);
    // The same without what was kept.
    SessionSettings once = settings(gpus);
    once.most_networks = 0;
    question.sizes = {{}};
    EXPECT_EQ(Session(once).answer(question).forecasts[0].network.symbols.at("batch"), 1);
}

TEST(Session, LeavesOutWhatADeviceCannotDoWhereThatIsWanted) {
    Session session(settings(synthetic_cpu));
    Question question = asked({"cpu-synthetic"});
    question.precisions = {"tf32"};
    EXPECT_THROW(session.answer(question), UsageError);
    question.precisions = {"tf32", "fp32"};
    const Answer one = session.answer(question);
    EXPECT_EQ(one.forecasts.size(), 1U);
    EXPECT_THAT(one.notes, Contains(StartsWith("left out: tf32")));
    question.leaves_out = true;
    const Answer answer = session.answer(question);
    ASSERT_EQ(answer.forecasts.size(), 1U);
    EXPECT_EQ(answer.forecasts[0].network.precision, "fp32");
    ASSERT_EQ(answer.left_out.size(), 1U);
    EXPECT_EQ(answer.left_out[0].device, 0U);
    EXPECT_EQ(answer.left_out[0].forecast, 0U);
    EXPECT_THAT(answer.left_out[0].reason, HasSubstr("tf32"));
    // A network that cannot be read is left out by nobody.
    question.models = {"no-such-network"};
    EXPECT_THROW(session.answer(question), Error);
}

TEST(Session, RefusesAPrecisionForTheCardThatHasItNotAndGoesOn) {
    Question question = asked({"v100", "h100"});
    question.precisions = {"default", "bf16"};
    const Answer answer = Session(settings(gpus)).answer(question);
    std::vector<std::string> words;
    for (const Forecast& one : answer.forecasts) words.push_back(one.network.device + " " + one.network.precision);
    // PyTorch's default has a name of its own where it is not strict.
    EXPECT_THAT(words, ElementsAre("v100-16g-pcie fp32", "h100-sxm default", "h100-sxm bf16"));
    EXPECT_THAT(answer.notes, Contains(HasSubstr("Tesla V100-PCIE-16GB has no bf16")));
    EXPECT_THAT(answer.notes, Not(Contains(HasSubstr("TF32")))) << "what is as expected needs no note";
    ASSERT_EQ(answer.left_out.size(), 1U);
    EXPECT_EQ(answer.left_out[0].device, 0U);
}

TEST(Session, LeavesOutANetworkInAWayThatItCannotBeHadInAndGoesOn) {
    Question question;
    question.models = {"resnet18", "gpt2"};
    question.devices = {device_at_clock("h100")};
    question.precisions = {"bf16", "fp8"};
    question.modes = {Mode::inference, Mode::training};
    question.engines = {"torch", "torch-compile"};
    Session session(settings(gpus));
    const Answer answer = session.answer(question);
    std::vector<std::string> words;
    for (const Forecast& one : answer.forecasts)
        words.push_back(one.network.model + " " + std::string(name(one.network.mode)) + " " + one.network.point.engine +
                        " " + one.network.precision);
    EXPECT_THAT(words, ElementsAre("resnet18 inference torch bf16", "resnet18 inference torch-compile bf16",
                                   "resnet18 training torch bf16", "gpt2 inference torch bf16",
                                   "gpt2 inference torch fp8", "gpt2 inference torch-compile bf16",
                                   "gpt2 inference torch-compile fp8", "gpt2 training torch bf16"));
    EXPECT_EQ(std::ranges::count_if(answer.notes,
                                    [](const std::string& note) {
                                        return note.starts_with("left out: graph resnet18 has no linear layer");
                                    }),
              1);
    EXPECT_THAT(answer.notes, Contains(StartsWith("left out: torch.compile is forecast by rule")));
    question.models = {"resnet18"};
    question.precisions = {"fp8"};
    question.modes = {Mode::inference};
    EXPECT_THROW(session.answer(question), UnsupportedError);
}

TEST(Session, GivesADevicesOtherHostToGpusAloneWhereThingsAreLeftOut) {
    Session session(settings(synthetic_cpu));
    Question question = asked({"cpu-synthetic"});
    question.host_cpu = "epyc-7763";
    EXPECT_THROW(session.answer(question), UsageError);
    question.leaves_out = true;
    EXPECT_EQ(session.answer(question).devices[0].loaded->issuer_note(), "");
    question.leaves_out = false;
    EXPECT_THROW(session.answer(question), UsageError);  // also after it was kept
}

TEST(Session, ForecastsSingleCallsInTheirOwnTypes) {
    Question question = asked({"a30", "t4@900"});
    question.graphs.clear();
    question.operations = {asked_operation("aten::relu(self=f32[64,512])"),
                           asked_operation("aten::relu(self=f16[64,512])")};
    const Answer answer = Session(settings(gpus)).answer(question);
    ASSERT_EQ(answer.forecasts.size(), 4U);
    EXPECT_EQ(answer.forecasts[1].network.device, "a30");
    EXPECT_EQ(answer.forecasts[1].network.precision, "fp16");
    EXPECT_EQ(answer.forecasts[2].network.device, "t4");
    EXPECT_EQ(answer.forecasts[2].network.asked.sm_clock_mhz, 900);
    question.operations = {parse_operation("nobody::knows(self=f32[64,512])")};
    EXPECT_THROW(Session(settings(gpus)).answer(question), Error);
}

TEST(Session, TakesAPredictorAtHandAsItsFile) {
    SessionSettings at_hand;
    at_hand.predictor.at_hand = std::make_shared<const Predictor>(read_jcp(gpus));
    const Answer one = Session(at_hand).answer(asked({"t4@900"}));
    const Answer two = Session(settings(gpus)).answer(asked({"t4@900"}));
    EXPECT_EQ(one.forecasts[0].network.time.value, two.forecasts[0].network.time.value);
    EXPECT_EQ(one.notes, two.notes);
    EXPECT_EQ(one.forecasts[0].network.predictor, "");
    EXPECT_EQ(two.forecasts[0].network.predictor, "nvidia.jcp");
}

TEST(Session, KeepsGraphsAndListsOperationsWhereTheyAreWanted) {
    Question question = asked({"t4@900"});
    question.lists_operations = false;
    Session session(settings(gpus));
    EXPECT_THAT(session.answer(question).forecasts[0].network.operations, IsEmpty());
    EXPECT_EQ(session.answer(question).forecasts[0].graph, nullptr);
    question.lists_operations = true;
    question.keeps_graphs = true;
    const Answer answer = session.answer(question);
    EXPECT_EQ(answer.forecasts[0].network.operations.size(), 2U);
    ASSERT_NE(answer.forecasts[0].graph, nullptr);
    EXPECT_EQ(answer.forecasts[0].graph->nodes.size(), 2U);
}

// Of the data sheet's rate for 16 bits; the host is a graph, so that kernels decide.
double share_of_peak(const std::string& device, const std::string& operation, double flop) {
    Question question = asked({device});
    question.graphs = {std::make_shared<const Graph>(
        graph_from_json(R"j({"schema":"joulecast.graph/1","name":"one","has_edges":false,"nodes":[{"operation":")j" +
                        operation + R"j("}]})j"))};
    question.hosts = {Host::graph};
    const double seconds = Session(settings(gpus)).answer(question).forecasts.at(0).network.time.value.value();
    return flop / seconds / find_device(device).peak_flop_per_s_fp16;
}

// Torch's products in 16 bits run at the rate of the sheet on an RTX 3090 or 4090 (timm's ViT-B/16), at three quarters
// of it on an A100. Convolutions were forecast at 80 % on an A10, where resnet101 reaches a third.
TEST(Session, GraphicsCardsReachMoreOfTheirRateThanOthers) {
    const std::string product = "aten::linear(input=f16[201728,768], weight=f16[3072,768], bias=f16[3072])";
    const double flop = 2.0 * 201728 * 768 * 3072;
    for (const char* id : {"rtx3090", "rtx4090"}) {
        EXPECT_GT(share_of_peak(id, product, flop), 0.74) << id;
        EXPECT_LE(share_of_peak(id, product, flop), 1) << id;
    }
    EXPECT_LT(share_of_peak("a100-80g-sxm", product, flop), 0.8);
    const std::string convolution = "aten::conv2d(input=bf16[64,256,14,14], weight=bf16[256,256,3,3], padding=[1,1])";
    const double of_convolution = 2.0 * 64 * 14 * 14 * 256 * 256 * 9;
    EXPECT_LT(share_of_peak("a10", convolution, of_convolution), 0.5);
    EXPECT_GT(share_of_peak("a10", convolution, of_convolution), 0.2);
}

// By the sheet; what an H200 took, in us (datasets/h200-families.csv). Serving engines' tables, which hold the
// quantisation of the input too, had it told 16, 20, 28 and 58.
TEST(Session, ProductsOf8BitsAreThoseOfTorchAlone) {
    struct Product {
        std::int64_t rows, inner, columns;
        double microseconds;
    };
    for (const Product& product : {Product{1576, 768, 768, 5.31}, Product{1576, 768, 2304, 8.61},
                                   Product{1576, 3072, 768, 8.67}, Product{1024, 8192, 2048, 27.8}}) {
        const std::string inner = std::to_string(product.inner), columns = std::to_string(product.columns);
        const std::string call = "aten::_scaled_mm(self=f8e4m3fn[" + std::to_string(product.rows) + "," + inner +
                                 "], mat2=f8e4m3fn[" + inner + "," + columns + "]{1," + inner +
                                 "}, scale_a=f32[], scale_b=f32[], out_dtype=bf16)";
        Question question = asked({"h200"});
        question.hosts = {Host::graph};
        question.graphs = {};
        question.operations = {parse_operation(call)};
        const Answer answer = Session(settings(gpus)).answer(question);
        const double told = 1e6 * answer.forecasts.at(0).network.operations.at(0).cost.device_time.value.value();
        EXPECT_NEAR(told / product.microseconds, 1, 0.3) << call;
    }
}

// Inductor calls the same products, and computes the quantisation where it is read.
TEST(Session, CompiledNetworksIn8BitsReadTheirWeightsFaster) {
    Question question;
    question.models = {"llama-3.1-8b-decode"};
    question.engines = {"torch-compile"};
    question.hosts = {Host::graph};
    question.precisions = {"bf16", "fp8"};
    for (const char* id : {"b200", "h100-sxm", "l40s", "rtx5090"}) {
        question.devices = {device_at_clock(id)};
        const auto forecasts = Session(settings(gpus)).answer(question).forecasts;
        EXPECT_LT(forecasts.at(1).network.time.value.value(), 0.9 * forecasts.at(0).network.time.value.value()) << id;
    }
}

// Three channels of float32 are no whole 16 bytes: cuDNN has no kernel in TF32 for them. An A30 takes 1.0 ms for this
// one.
TEST(Session, ComputesConvolutionsOfThreeChannelsInFloat32) {
    Question question = asked({"a30"});
    question.hosts = {Host::graph};
    const auto seconds = [&](const std::string& channels, const std::string& precision) {
        question.graphs = {std::make_shared<const Graph>(graph_from_json(
            R"j({"schema":"joulecast.graph/1","name":"stem","has_edges":false,"nodes":[{"operation":)j"
            R"j("aten::conv2d(input=f32[32,)j" +
            channels + ",224,224], weight=f32[64," + channels + R"j(,7,7], stride=[2,2], padding=[3,3])"}]})j"))};
        question.precisions = {precision};
        return Session(settings(gpus)).answer(question).forecasts.at(0).network.time.value.value();
    };
    EXPECT_DOUBLE_EQ(seconds("3", "tf32"), seconds("3", "fp32"));
    EXPECT_NEAR(seconds("3", "tf32"), 1.0e-3, 0.4e-3);
    EXPECT_LT(seconds("4", "tf32"), 0.7 * seconds("4", "fp32"));
}

// 4.1 and 8.1 us on an H200; a serving engine's decoding is 4 us longer.
TEST(Session, TorchsAttentionIsOneKernel) {
    const auto told_us = [](const std::string& keys) {
        Question question = asked({"h200"});
        question.hosts = {Host::graph};
        question.graphs = {};
        question.operations = {
            parse_operation("aten::scaled_dot_product_attention(query=bf16[1,16,1,64], key=bf16[1,16," + keys +
                            ",64], value=bf16[1,16," + keys + ",64])")};
        const Answer answer = Session(settings(gpus)).answer(question);
        return 1e6 * answer.forecasts.at(0).network.operations.at(0).cost.device_time.value.value();
    };
    EXPECT_NEAR(told_us("128"), 4.1, 0.8);
    EXPECT_NEAR(told_us("2048"), 8.1, 1.2);
}

struct Way {
    std::string device, precision, engine;
};

// Each of these was out of order, by 1.1 to 1.6 (docs/decisions/0053).
TEST(Session, FasterWaysAndBetterCardsAreFaster) {
    const auto seconds = [](const std::string& network, std::int64_t batch, const Way& way) {
        Question question;
        question.models = {network};
        question.sizes = {{{"batch", batch}}};
        question.devices = {device_at_clock(way.device)};
        question.precisions = {way.precision};
        question.engines = {way.engine};
        question.hosts = {Host::graph};
        return Session(settings(gpus)).answer(question).forecasts.at(0).network.time.value.value();
    };
    const std::string eager = "torch", compiled = "torch-compile", decode = "llama-3.2-1b-decode";
    EXPECT_LE(seconds("unet", 8, {"rtx4090", "tf32", eager}), seconds("unet", 8, {"rtx4090", "fp32", eager}));
    EXPECT_LE(seconds(decode, 1, {"l4", "tf32", compiled}), seconds(decode, 1, {"l4", "tf32", eager}));
    EXPECT_LE(seconds("resnet34", 8, {"rtx3080ti", "tf32", compiled}),
              seconds("resnet34", 8, {"rtx3080ti", "tf32", eager}));
    EXPECT_LE(seconds("swin_t", 1, {"b200", "bf16", compiled}), seconds("swin_t", 1, {"h200", "bf16", compiled}));
    EXPECT_LE(seconds("gpt2", 64, {"h100-pcie", "bf16", eager}), seconds("gpt2", 64, {"a100-80g-sxm", "bf16", eager}));
    EXPECT_LE(seconds("gpt2", 64, {"h200", "bf16", compiled}), 0.8 * seconds("gpt2", 64, {"h200", "bf16", eager}));
}

// A card that nobody measured said "host_evidence": "measured": its calls were issued on other machines.
TEST(Session, SaysThatTheHostOfAnUnseenGpuIsOneOfOtherMachines) {
    const Answer answer = Session(settings(gpus)).answer(asked({"rtx4090"}));
    EXPECT_EQ(answer.forecasts.at(0).network.host_evidence, Evidence::extrapolated);
}

/// Three sums of images of 256 MB, each of which reads the one before and the network's input.
std::shared_ptr<const Graph> three_sums() {
    return std::make_shared<const Graph>(graph_from_json(
        R"j({"schema":"joulecast.graph/1","name":"sums","has_edges":true,"inputs":[)j"
        R"j({"name":"x","kind":"user_input","type":"f32[64,1024,1024]"}],"nodes":[)j"
        R"j({"operation":"aten::add.Tensor(self=f32[64,1024,1024], other=f32[64,1024,1024])","inputs":["input.0","input.0"],"outputs":["f32[64,1024,1024]"]},)j"
        R"j({"operation":"aten::add.Tensor(self=f32[64,1024,1024], other=f32[64,1024,1024])","inputs":["0.0","input.0"],"outputs":["f32[64,1024,1024]"]},)j"
        R"j({"operation":"aten::add.Tensor(self=f32[64,1024,1024], other=f32[64,1024,1024])","inputs":["1.0","input.0"],"outputs":["f32[64,1024,1024]"]}],)j"
        R"j("outputs":["2.0"]})j"));
}

// Without torch.compile three sums read two images each (the first one twice the same) and write one.
TEST(Session, ForecastsTorchCompileByRuleWhereNobodyMeasuredIt) {
    Question question = asked({"rtx4090"});
    question.graphs = {three_sums()};
    question.engines = {"torch", "torch-compile"};
    const Answer answer = Session(settings(gpus)).answer(question);
    ASSERT_EQ(answer.forecasts.size(), 2U);
    const NetworkForecast& plain = answer.forecasts[0].network;
    const NetworkForecast& compiled = answer.forecasts[1].network;
    EXPECT_EQ(compiled.point.engine, "torch-compile");
    EXPECT_FALSE(plain.fusion);
    ASSERT_TRUE(compiled.fusion);
    EXPECT_EQ(compiled.fusion->fused, 2);
    // One image read, one written; by the sheet with 1.0 TB/s.
    const double bytes = 2.0 * 64 * 1024 * 1024 * 4;
    const double seconds = compiled.cost.device_time.value.value();
    EXPECT_GT(seconds, bytes / 1.0081e12);
    EXPECT_LT(seconds, 1.2 * bytes / 1.0081e12);
    EXPECT_GT(plain.cost.device_time.value.value(), 3 * seconds);
    // Each sum alone is told of three images' traffic.
    EXPECT_NEAR(compiled.dynamic_energy_j / plain.dynamic_energy_j, 2.0 / 9, 0.02);
    EXPECT_LT(compiled.cost.host_time.value.value(), plain.cost.host_time.value.value() / 2);
    EXPECT_EQ(compiled.evidence_share.at(Evidence::analytic), 1);
}

TEST(Session, IssuesCompiledCallsFromTheHostThatIsAskedFor) {
    Question question = asked({"rtx4090"});
    question.graphs = {three_sums()};
    question.engines = {"torch-compile"};
    question.hosts = {Host::python, Host::graph};
    const Answer answer = Session(settings(gpus)).answer(question);
    ASSERT_EQ(answer.forecasts.size(), 2U);
    EXPECT_EQ(answer.forecasts[1].network.point.host, Host::graph);
    EXPECT_LT(answer.forecasts[1].network.cost.host_time.value, answer.forecasts[0].network.cost.host_time.value);
}

TEST(Session, RefusesTorchCompileInTraining) {
    Question question = asked({"rtx4090"});
    question.graphs = {three_sums()};
    question.engines = {"torch-compile"};
    question.modes = {Mode::training};
    EXPECT_THROW(Session(settings(gpus)).answer(question), Error);
}

TEST(Session, RefusesWhatTrainingTakesWhereNothingTrains) {
    Question question = asked({"t4"});
    question.training.checkpointing = true;
    EXPECT_THROW(Session(settings(gpus)).answer(question), Error);
    question.modes = {Mode::inference, Mode::training};
    question.training = {};
    question.training.optimizer = Optimizer::sgd;
    EXPECT_EQ(executions(question, Mode::inference).front().training.optimizer, Optimizer::none);
    EXPECT_EQ(executions(question, Mode::training).front().training.optimizer, Optimizer::sgd);
}

TEST(Session, AnswersSeveralThreadsWhatItAnswersOne) {
    const std::vector<std::string> devices{"t4", "t4@900", "a30", "a100", "a100-40g-pcie@690"};
    std::vector<double> expected;
    for (const Forecast& forecast : Session(settings(gpus)).answer(asked(devices)).forecasts)
        expected.push_back(forecast.network.time.value.value());
    Session shared(settings(gpus));
    std::vector<std::vector<double>> said(4);
    {
        std::vector<std::jthread> threads;
        for (auto& mine : said) {
            threads.emplace_back([&] {
                for (int round = 0; round < 3; ++round) {
                    mine.clear();
                    for (const std::string& device : devices)
                        mine.push_back(shared.answer(asked({device})).forecasts[0].network.time.value.value());
                }
            });
        }
    }
    for (const auto& one : said) EXPECT_EQ(one, expected);
}

std::string text_of(const std::string& path) {
    std::ifstream in(std::string(JOULECAST_SOURCE_DIR) + "/" + path);
    return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Session, IsDocumentedByLinesOfTheExampleThatRuns) {
    const std::string page = text_of("docs/cpp.md");
    const std::string fence = "```cpp\n";
    const std::size_t begin = page.find(fence) + fence.size();
    const std::string lines = page.substr(begin, page.find("```", begin) - begin);
    EXPECT_THAT(lines, HasSubstr("session.answer(question)"));
    EXPECT_THAT(text_of("examples/predict/predict.cpp"), HasSubstr(lines));
}

}  // namespace
}  // namespace joulecast
