#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/run_command.h"
#include "tests/graph/stored_zip.h"

namespace joulecast {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::run_joulecast;
using testing::TemporaryFolder;

const std::string data = JOULECAST_SOURCE_DIR "/tests/graph/data/";

json extracted(const std::string& arguments) {
    const auto ran = run_joulecast("extract --format json " + arguments);
    EXPECT_EQ(ran.status, 0) << ran.err;
    return json::parse(ran.out);
}

std::int64_t sum(const json& model, const std::string& key) {
    std::int64_t total = 0;
    for (const json& operation : model.at("operations")) total += operation.at(key).get<std::int64_t>();
    return total;
}

TEST(Extract, JsonHasTheKeysOfTheContract) {
    const json answer = extracted("resnet18 alexnet");
    EXPECT_EQ(answer.at("schema"), "joulecast.extract/1");
    ASSERT_EQ(answer.at("models").size(), 2);
    const json& model = answer.at("models").at(0);
    for (const char* key : {"model", "symbols", "mode", "nodes", "nodes_without_record", "flops", "other_flops",
                            "backward_flops", "bytes_read", "bytes_written", "operations"})
        EXPECT_TRUE(model.contains(key)) << key;
    for (const char* key : {"op", "signature", "count", "flops", "bytes_read", "bytes_written", "has_record"})
        EXPECT_TRUE(model.at("operations").at(0).contains(key)) << key;
    EXPECT_EQ(model.at("model"), "resnet18");
    EXPECT_EQ(model.at("mode"), "inference");
    EXPECT_EQ(model.at("nodes_without_record"), 0);
    EXPECT_EQ(model.at("backward_flops"), 0);
}

TEST(Extract, CountsResnet18AsPyTorchDoes) {
    const json model = extracted("resnet18 --set batch=5").at("models").at(0);
    EXPECT_EQ(model.at("symbols"), (json{{"batch", 5}}));
    EXPECT_EQ(model.at("nodes"), 69);
    EXPECT_EQ(model.at("flops"), 18140733440);  // tests/graph/oracles/resnet18.json
}

TEST(Extract, TheModelIsTheSumOfItsOperations) {
    const json model = extracted("gpt2 --mode training").at("models").at(0);
    EXPECT_EQ(model.at("mode"), "training");
    EXPECT_GT(model.at("backward_flops"), model.at("flops"));
    EXPECT_EQ(sum(model, "count"), model.at("nodes"));
    for (const char* key : {"flops", "other_flops", "backward_flops", "bytes_read", "bytes_written"})
        EXPECT_EQ(sum(model, key), model.at(key)) << key;
}

TEST(Extract, OptionsMayStandBeforeTheModel) {
    EXPECT_EQ(extracted("--set batch=3 resnet18").at("models").at(0).at("symbols").at("batch"), 3);
    const json two = extracted("resnet18 --set batch=2,6").at("models");
    ASSERT_EQ(two.size(), 2U);
    EXPECT_EQ(two.at(1).at("flops").get<std::int64_t>(), 3 * two.at(0).at("flops").get<std::int64_t>());
}

TEST(Extract, TheTableEndsWithTheTotalAndHasShares) {
    const auto ran = run_joulecast("extract " + data + "genuine_small.pt2");
    EXPECT_EQ(ran.status, 0);
    // conv 2*2*8*16*16*27 = 221184, linear 2*2*10*8 = 320: 221504 FLOPs, of which the convolution 99.9 %.
    EXPECT_THAT(ran.out, AllOf(HasSubstr("genuine_small (batch=2, inference): 5 calls, 5 different operations"),
                               HasSubstr("share"), HasSubstr("222 kFLOP"), HasSubstr("99.9 %")));
    const std::size_t last_line = ran.out.rfind('\n', ran.out.size() - 2) + 1;
    EXPECT_EQ(ran.out.substr(last_line, 5), "total");
}

TEST(Extract, CsvHasOneLineForEachOperation) {
    const auto ran = run_joulecast("extract --format csv " + data + "genuine_small.pt2");
    EXPECT_EQ(std::ranges::count(ran.out, '\n'), 6);
    EXPECT_THAT(ran.out, ::testing::StartsWith("model,op,signature,count,flops,"));
    EXPECT_THAT(ran.out, HasSubstr("genuine_small,aten::linear,\"aten::linear("));
}

/// One call of made_up::fizz, f32[8] to f32[8].
constexpr const char* unknown_operation = R"({"schema_version": {"major": 8}, "graph_module": {"graph": {
    "inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "y"}}],
    "nodes": [{"target": "torch.ops.made_up.fizz.default", "outputs": [{"as_tensor": {"name": "y"}}],
               "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}]}],
    "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_int": 8}]}, "y": {"dtype": 7, "sizes": [{"as_int": 8}]}}},
    "signature": {"input_specs": []}}})";

TEST(Extract, WhatIsUnknownIsNamedBelowTheTable) {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "net.pt2", testing::stored_zip("net/models/model.json", unknown_operation));
    const auto ran = run_joulecast("extract " + folder.file("net.pt2"));
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.out, AllOf(HasSubstr("made_up::fizz (1 call) has no record"), HasSubstr("run_decompositions")));
    EXPECT_GT(ran.out.find("has no record"), ran.out.find("total"));
    EXPECT_EQ(ran.err, "");
}

TEST(Extract, TopKeepsTheDearestOfAllFormats) {
    const json all = extracted("resnet18").at("models").at(0);
    const json top = extracted("resnet18 --top 2").at("models").at(0);
    ASSERT_EQ(top.at("operations").size(), 2);
    EXPECT_EQ(top.at("flops"), all.at("flops"));
    std::vector<std::int64_t> flops;
    for (const json& operation : all.at("operations")) flops.push_back(operation.at("flops"));
    std::ranges::sort(flops, std::greater<>());
    EXPECT_EQ(sum(top, "flops"), flops[0] + flops[1]);
    const auto table = run_joulecast("extract resnet18 --top 2");
    EXPECT_THAT(table.out, HasSubstr("and 27 more with"));
    EXPECT_EQ(std::ranges::count(run_joulecast("extract resnet18 --top 2 --format csv").out, '\n'), 3);
}

TEST(Extract, ModulesSumToTheModel) {
    const json model = extracted("resnet50 --by-module --depth 1 --mode training").at("models").at(0);
    std::vector<std::string> names;
    for (const json& module : model.at("modules")) names.push_back(module.at("module"));
    // torchvision's resnet in the order of its forward(); flatten is called by no submodule.
    EXPECT_THAT(names, ::testing::ElementsAre("conv1", "bn1", "relu", "maxpool", "layer1", "layer2", "layer3", "layer4",
                                              "avgpool", "", "fc"));
    for (const char* key : {"flops", "backward_flops", "bytes_read", "bytes_written", "other_flops"}) {
        std::int64_t total = 0;
        for (const json& module : model.at("modules")) total += module.at(key).get<std::int64_t>();
        EXPECT_EQ(total, model.at(key)) << key;
    }
    const json blocks = extracted("resnet50 --by-module").at("models").at(0).at("modules");
    // conv1, bn1, relu, maxpool, 3 + 4 + 6 + 3 blocks, avgpool, the network itself, fc.
    EXPECT_EQ(blocks.size(), 23);
    EXPECT_EQ(run_joulecast("extract resnet50 --depth 2").status, 2);
}

TEST(Extract, TheTableFitsItsWidth) {
    for (const std::size_t width : {80, 120, 160}) {
        for (const char* model : {"resnet50", "gpt2", "swin_t"}) {
            const auto ran = testing::run_shell("COLUMNS=" + std::to_string(width) + " $JOULECAST extract " + model);
            std::istringstream lines(ran.out);
            for (std::string line; std::getline(lines, line);) {
                // Bytes of UTF-8 that begin a character; all are one column wide here.
                const auto columns = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
                EXPECT_LE(columns, static_cast<std::ptrdiff_t>(width)) << line;
            }
        }
    }
}

TEST(Extract, AGraphThatItWroteIsReadAsTheSame) {
    const TemporaryFolder folder;
    for (const char* form : {"", " --bag"}) {
        for (const char* mode : {"inference", "training"}) {
            const std::string file = folder.file("net.graph.json");
            const json first = extracted(std::string("resnet18 --mode ") + mode + " --graph " + file + form);
            const json second = extracted(file);
            EXPECT_EQ(first, second) << form << mode;
        }
    }
    EXPECT_EQ(extracted(folder.file("net.graph.json") + " --set batch=5").at("models").at(0).at("flops"),
              18140733440);  // tests/graph/oracles/resnet18.json
    const auto back = run_joulecast("extract --mode inference " + folder.file("net.graph.json"));
    EXPECT_EQ(back.status, 1);
    EXPECT_THAT(back.err, HasSubstr("was written in training mode"));
    EXPECT_EQ(run_joulecast("extract resnet18 alexnet --graph " + folder.file("x.graph.json")).status, 2);
    EXPECT_EQ(run_joulecast("extract resnet18 --bag").status, 2);
}

TEST(Extract, CallsWithoutRecordEndWithThreeAndAreNamed) {
    const TemporaryFolder folder;
    testing::write_file(folder.path() / "net.pt2", testing::stored_zip("net/models/model.json", unknown_operation));
    const auto ran = run_joulecast("extract --format json " + folder.file("net.pt2"));
    EXPECT_EQ(ran.status, 3);
    EXPECT_THAT(ran.err, HasSubstr("made_up::fizz (1 call) has no record"));
    const json model = json::parse(ran.out).at("models").at(0);
    EXPECT_EQ(model.at("nodes_without_record"), 1);
    EXPECT_EQ(model.at("operations").at(0).at("has_record"), false);
    EXPECT_EQ(model.at("bytes_read"), 32);  // 8 floats of 4 bytes
}

TEST(Extract, ADamagedFileIsRefused) {
    const TemporaryFolder folder;
    std::string whole = testing::stored_zip("net/models/model.json", unknown_operation);
    whole[whole.find("fizz")] = 'b';  // the checksum no longer fits
    testing::write_file(folder.path() / "net.pt2", whole);
    const auto ran = run_joulecast("extract " + folder.file("net.pt2"));
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, AllOf(HasSubstr("net.pt2"), HasSubstr("model.json is damaged")));
}

TEST(Extract, WhatIsWrongIsSaidAndEndsWithTheStatusOfTheContract) {
    const auto unknown_name = run_joulecast("extract resnet19");
    EXPECT_EQ(unknown_name.status, 1);
    EXPECT_THAT(unknown_name.err, HasSubstr("Did you mean resnet18"));
    const auto unknown_symbol = run_joulecast("extract resnet18 --set length=3");
    EXPECT_EQ(unknown_symbol.status, 1);
    EXPECT_THAT(unknown_symbol.err, AllOf(HasSubstr("length"), HasSubstr("batch")));
    EXPECT_EQ(run_joulecast("extract resnet18 --set batch=0").status, 1);
    EXPECT_EQ(run_joulecast("extract resnet18 --set batch=99999").status, 1);
    for (const char* arguments :
         {"", "resnet18 --set batch", "resnet18 --set batch=x", "resnet18 --set =3", "resnet18 --set batch=1,,2",
          "resnet18 --set batch=1 --set batch=2", "resnet18 --mode sleeping", "resnet18 --format xml"})
        EXPECT_EQ(run_joulecast(std::string("extract ") + arguments).status, 2) << arguments;
}

TEST(Extract, ShowsTheCallsOfAPrecision) {
    const auto amp = run_joulecast("extract alexnet --precision amp-bf16 --format csv");
    EXPECT_THAT(amp.out, HasSubstr("aten::_to_copy"));
    EXPECT_THAT(amp.out, HasSubstr("bf16"));
    EXPECT_THAT(run_joulecast("extract bert-base --precision fp8 --format csv").out, HasSubstr("aten::_scaled_mm"));
    const auto cpu = run_joulecast("extract alexnet --precision fp8 --device cpu");
    EXPECT_EQ(cpu.status, 2);
    EXPECT_THAT(cpu.err, HasSubstr("need a GPU"));
    EXPECT_THAT(run_joulecast("extract alexnet --precision half").err, HasSubstr("There are: default, fp32, tf32"));
}

// The name of a file, and names in it, came to the terminal as they were: a title set, a screen cleared.
TEST(Extract, NamesOutOfFilesDoNotSteerATerminal) {
    const TemporaryFolder folder;
    const std::string name = "net\x1b]0;owned\x07.graph.json";
    const auto ran = run_joulecast("extract resnet18 --graph '" + folder.file(name) + "'");
    ASSERT_EQ(ran.status, 0) << ran.err;
    const auto again = run_joulecast("extract '" + folder.file(name) + "'");
    EXPECT_EQ(again.out.find('\x1b'), std::string::npos);
    testing::write_file(folder.file(name), "{");
    const auto broken = run_joulecast("extract '" + folder.file(name) + "'");
    EXPECT_EQ(broken.status, 1);
    EXPECT_EQ(broken.err.find('\x1b'), std::string::npos);
    EXPECT_THAT(broken.err, HasSubstr("\\u001b]0;owned\\u0007"));
}

TEST(Extract, SaysWhichVersionOfOnnxNothingWasTestedWith) {
    const TemporaryFolder folder;
    // ir_version 8, a graph "g" with nothing in it, operator set 99.
    testing::write_file(folder.file("new.onnx"), std::string("\x08\x08\x3a\x03\x12\x01g\x42\x02\x10\x63"));
    const auto ran = run_joulecast("extract '" + folder.file("new.onnx") + "'");
    EXPECT_THAT(ran.err, HasSubstr("version 99 of ONNX's operator set")) << ran.out;
}

}  // namespace
}  // namespace joulecast
