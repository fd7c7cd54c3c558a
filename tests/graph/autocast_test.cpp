// The casts of torch.autocast against torch itself (tests/graph/oracles_autocast, tools/make_autocast_oracles.py).
#include "joulecast/graph/autocast.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include <gmock/gmock.h>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;

const std::string source = JOULECAST_SOURCE_DIR;
const std::string zoo = source + "/zoo";

nlohmann::json read_json(const std::string& name) {
    std::ifstream file(source + "/tests/graph/oracles_autocast/" + name + ".json");
    return nlohmann::json::parse(file);
}

std::vector<std::string> networks() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(source + "/tests/graph/oracles_autocast"))
        if (entry.path().stem() != "registered") names.push_back(entry.path().stem().string());
    std::ranges::sort(names);
    return names;
}

std::string size_text(const Sizes& sizes) {
    std::string text;
    for (const std::int64_t size : sizes) text += (text.empty() ? "" : ",") + std::to_string(size);
    return "[" + text + "]";
}

std::string cast_text(const Node& node) {
    const TensorType& from = *tensors(node.operation).front();
    return std::string(name(from.dtype)) + ">" + std::string(name(node.outputs.front().dtype)) + size_text(from.sizes);
}

/// A call that changes the type itself, cast or not: it runs as one aten::_to_copy too.
bool converts(const Node& node) {
    if (!node.operation.target.starts_with("aten::to.") && node.operation.target != "aten::_to_copy" &&
        node.operation.target != "aten::type_as")
        return false;
    const TensorType& from = *tensors(node.operation).front();
    return is_floating(from.dtype) && from.dtype != node.outputs.front().dtype;
}

/// "aten.addmm.default" as torch's Python writes it.
std::string python_target(const std::string& target) {
    std::string text = "aten." + target.substr(6);
    if (text.find('.', 5) == std::string::npos) text += ".default";
    return text;
}

struct Call {
    std::string target, casts, outputs;
    friend bool operator==(const Call&, const Call&) = default;
    friend void PrintTo(const Call& call, std::ostream* out) {
        *out << call.target << " casts (" << call.casts << ") gives " << call.outputs;
    }
};

/// The calls of the graph as it was, each with the casts that stand before it now.
std::vector<Call> calls(const Graph& before, const Graph& after) {
    std::vector<Call> all;
    std::size_t at = 0;
    for (const Node& original : before.nodes) {
        std::map<std::string, int> casts;
        while (after.nodes.at(at).operation.target == "aten::_to_copy" && original.operation.target != "aten::_to_copy")
            ++casts[cast_text(after.nodes[at++])];
        const Node& node = after.nodes.at(at++);
        if (node.outputs.empty() || node.operation.target == "getitem") continue;
        if (converts(node)) ++casts[cast_text(node)];
        Call call{python_target(node.operation.target), "", ""};
        for (const auto& [text, count] : casts)
            call.casts += (call.casts.empty() ? "" : " ") + std::to_string(count) + "x" + text;
        for (const TensorType& output : node.outputs)
            call.outputs += (call.outputs.empty() ? "" : " ") + std::string(name(output.dtype));
        all.push_back(call);
    }
    EXPECT_EQ(at, after.nodes.size());
    return all;
}

class Autocast : public ::testing::TestWithParam<std::string> {
  protected:
    static void compare(Mode form) {
        const auto oracle = read_json(GetParam());
        const auto& lines = oracle.at("lines");
        const auto& expected = oracle.at("forms").at(form == Mode::training ? "train" : "eval");
        const Graph graph = open_model(GetParam(), zoo, expected.at("setting"), form);
        for (const auto& [device, kind] : {std::pair("cpu", AutocastDevice::cpu), {"cuda", AutocastDevice::cuda}})
            for (const Dtype dtype : {Dtype::bf16, Dtype::f16}) {
                const std::string key = std::string(device) + " " + std::string(name(dtype));
                SCOPED_TRACE(key);
                const auto found = calls(graph, autocast(graph, dtype, kind));
                const auto& numbers = expected.at(key).at("calls");
                ASSERT_EQ(found.size(), numbers.size());
                std::set<std::string> told;
                for (std::size_t i = 0; i < found.size(); ++i) {
                    const auto& line = lines.at(numbers.at(i).get<std::size_t>());
                    const Call wanted{line.at(0), line.at(1), line.at(2)};
                    if (found[i] == wanted || !told.insert(wanted.target + wanted.casts + wanted.outputs).second)
                        continue;
                    EXPECT_EQ(found[i], wanted) << "call " << i;
                }
            }
    }
};

TEST_P(Autocast, CastsWhatTorchCastsBeforeEveryCall) {
    compare(Mode::inference);
}

TEST_P(Autocast, CastsWhatTorchCastsBeforeEveryCallInTraining) {
    compare(Mode::training);
}

INSTANTIATE_TEST_SUITE_P(Networks, Autocast, ::testing::ValuesIn(networks()), [](const auto& parameter) {
    std::string text = parameter.param;
    std::ranges::replace_if(text, [](char c) { return c == '-' || c == '@' || c == '.'; }, '_');
    return text;
});

/// A network of a user input x and a parameter weight, both f32[4,4], from the lines of its calls.
Graph small(const std::string& nodes, const std::string& outputs) {
    return read_graph_json(R"({"schema":"joulecast.graph/1","name":"small","mode":"inference","has_edges":true,
        "symbols":{},"inputs":[{"name":"x","kind":"user_input","type":"f32[4,4]"},
        {"name":"weight","kind":"parameter","type":"f32[4,4]"}],"nodes":[)" +
                               nodes + R"(],"outputs":[)" + outputs + "]}",
                           "small");
}

std::string call(const std::string& operation, const std::string& inputs, const std::string& output = "f32[4,4]") {
    return "{\"operation\":\"" + operation + "\",\"inputs\":[" + inputs + "],\"outputs\":[\"" + output + "\"]}";
}

const std::string product = call("aten::mm(self=f32[4,4], mat2=f32[4,4])", "\"input.0\",\"input.1\"");

std::vector<std::string> operations(const Graph& graph) {
    std::vector<std::string> texts;
    for (const Node& node : graph.nodes) texts.push_back(signature(node.operation));
    return texts;
}

std::string casts(const Graph& graph) {
    std::map<std::string, int> counted;
    for (const Node& node : graph.nodes)
        if (node.operation.target == "aten::_to_copy") ++counted[cast_text(node)];
    std::string all;
    for (const auto& [text, count] : counted) all += (all.empty() ? "" : " ") + std::to_string(count) + "x" + text;
    return all;
}

/// Number of casts and resulting type of a small function, here and in torch.
void compare_small(const std::string& function, const Graph& graph) {
    const auto oracle = read_json("registered");
    for (const auto& [device, kind] : {std::pair("cpu", AutocastDevice::cpu), {"cuda", AutocastDevice::cuda}}) {
        const Graph after = autocast(graph, Dtype::bf16, kind);
        const auto& expected = oracle.at(device + (" " + function));
        EXPECT_EQ(casts(after), expected.at(0).get<std::string>()) << device;
        EXPECT_EQ(name(type_of(after, after.outputs.at(0)).dtype), expected.at(1).get<std::string>()) << device;
    }
}

TEST(AutocastCalls, CastAParameterOnceAndAnInputForEveryCall) {
    const std::string linear = call("aten::linear(input=f32[4,4], weight=f32[4,4])", "\"input.0\",\"input.1\"");
    const std::string sum = call("aten::add.Tensor(self=f32[4,4], other=f32[4,4])", "\"0.0\",\"1.0\"");
    compare_small("twice_linear", small(linear + "," + linear + "," + sum, "\"2.0\""));
}

TEST(AutocastCalls, CastAViewOfAParameterForEveryCall) {
    const std::string view = call("aten::t(self=f32[4,4])", "\"input.1\"", "f32[4,4]{1,4}");
    const auto of_view = [](const std::string& at) {
        return call("aten::mm(self=f32[4,4], mat2=f32[4,4]{1,4})", "\"input.0\",\"" + at + "\"");
    };
    const std::string sum = call("aten::add.Tensor(self=f32[4,4], other=f32[4,4])", "\"1.0\",\"3.0\"");
    compare_small("linear_of_view",
                  small(view + "," + of_view("0.0") + "," + view + "," + of_view("2.0") + "," + sum, "\"4.0\""));
}

TEST(AutocastCalls, PromoteJoinedTensorsOnACpuOnly) {
    const std::string cat = call("aten::cat(tensors=[f32[4,4], f32[4,4]])", "\"0.0\",\"input.0\"", "f32[8,4]");
    compare_small("joined", small(product + "," + cat, "\"1.0\""));
}

TEST(AutocastCalls, PromoteToF32WhereOneOperandIsF32) {
    const std::string sum =
        call("aten::addcmul(self=f32[4,4], tensor1=f32[4,4], tensor2=f32[4,4])", "\"input.0\",\"0.0\",\"1.0\"");
    compare_small("products_added", small(product + "," + product + "," + sum, "\"2.0\""));
}

TEST(AutocastCalls, AskNormsForF32OnAGpu) {
    const std::string norm = call("aten::norm.ScalarOpt_dim(self=f32[4,4], p=2, dim=[1])", "\"0.0\"", "f32[4]");
    compare_small("norm_of_product", small(product + "," + norm, "\"1.0\""));
}

TEST(AutocastCalls, LeaveFloat64Alone) {
    const std::string to = call("aten::to.dtype(self=f32[4,4], dtype=f64)", "\"input.0\"", "f64[4,4]");
    const std::string mm = call("aten::mm(self=f64[4,4], mat2=f64[4,4])", "\"0.0\",\"0.0\"", "f64[4,4]");
    EXPECT_THAT(operations(autocast(small(to + "," + mm, "\"1.0\""), Dtype::f16, AutocastDevice::cuda)),
                ElementsAre("aten::to.dtype(self=f32[4,4], dtype=f64)", "aten::mm(self=f64[4,4], mat2=f64[4,4])"));
}

TEST(AutocastCalls, AskSoftmaxForF32OnAGpuAndLeaveItsTypeOnACpu) {
    const std::string softmax = call("aten::softmax.int(self=f32[4,4], dim=-1)", "\"0.0\"");
    const Graph graph = small(product + "," + softmax, "\"1.0\"");
    EXPECT_THAT(operations(autocast(graph, Dtype::bf16, AutocastDevice::cuda)),
                ElementsAre("aten::_to_copy(self=f32[4,4], dtype=bf16)", "aten::_to_copy(self=f32[4,4], dtype=bf16)",
                            "aten::mm(self=bf16[4,4], mat2=bf16[4,4])",
                            "aten::softmax.int(self=bf16[4,4], dim=-1, dtype=f32)"));
    const Graph on_cpu = autocast(graph, Dtype::bf16, AutocastDevice::cpu);
    EXPECT_EQ(operations(on_cpu).back(), "aten::softmax.int(self=bf16[4,4], dim=-1)");
    EXPECT_EQ(on_cpu.nodes.back().outputs.front().dtype, Dtype::bf16);
}

TEST(AutocastCalls, AskNothingForF32ThatIsInF32Anyway) {
    const std::string softmax = call("aten::softmax.int(self=f32[4,4], dim=-1)", "\"input.0\"");
    EXPECT_THAT(operations(autocast(small(softmax, "\"0.0\""), Dtype::bf16, AutocastDevice::cuda)),
                ElementsAre("aten::softmax.int(self=f32[4,4], dim=-1)"));
}

TEST(AutocastCalls, TakeTheStridesThatACastLeaves) {
    // A window on every other column has gaps; its cast is a tensor of its own, without them, as torch's is.
    const std::string slice =
        call("aten::slice.Tensor(self=f32[4,4], dim=1, start=0, end=4, step=2)", "\"input.0\"", "f32[4,2]{4,2}");
    const std::string window =
        call("aten::slice.Tensor(self=f32[4,4], dim=0, start=0, end=2)", "\"input.1\"", "f32[2,4]");
    const std::string mm = call("aten::mm(self=f32[4,2]{4,2}, mat2=f32[2,4])", "\"0.0\",\"1.0\"");
    EXPECT_EQ(operations(autocast(small(slice + "," + window + "," + mm, "\"2.0\""), Dtype::bf16, AutocastDevice::cpu))
                  .back(),
              "aten::mm(self=bf16[4,2], mat2=bf16[2,4])");
}

TEST(AutocastCalls, CarryGradientsThroughTheCastOfAParameterAlone) {
    const Graph graph = to_training(autocast(small(product, "\"0.0\""), Dtype::bf16, AutocastDevice::cpu));
    EXPECT_THAT(operations(graph),
                ElementsAre("aten::_to_copy(self=f32[4,4], dtype=bf16)", "aten::_to_copy(self=f32[4,4]~, dtype=bf16)",
                            "aten::mm(self=bf16[4,4], mat2=bf16[4,4]~)"));
    // The gradient of the cast: 16 of bf16 are read, 16 of f32 written.
    const Counts backward = backward_counts(graph.nodes[1].operation);
    EXPECT_EQ(backward.bytes_read, 32);
    EXPECT_EQ(backward.bytes_written, 64);
}

TEST(AutocastCalls, AreMadeAnewForOtherSizes) {
    const Graph graph = open_model("resnet18", zoo, {{"batch", 2}});
    const Graph cast = autocast(graph, Dtype::bf16, AutocastDevice::cuda);
    const Graph larger = with_symbol(cast, "batch", 8);
    EXPECT_EQ(operations(larger),
              operations(autocast(with_symbol(graph, "batch", 8), Dtype::bf16, AutocastDevice::cuda)));
    EXPECT_EQ(type_of(larger, larger.outputs.at(0)).sizes, (Sizes{8, 1000}));
    EXPECT_EQ(operations(to_training(cast)).size(), operations(cast).size());
}

TEST(AutocastCalls, NeedEdgesAndAHalvedType) {
    EXPECT_THROW(autocast(without_edges(small(product, "\"0.0\"")), Dtype::bf16, AutocastDevice::cpu), Error);
    EXPECT_THROW(autocast(small(product, "\"0.0\""), Dtype::f64, AutocastDevice::cpu), Error);
}

/// What torch registers is in our lists; these run by another listed operation there, and have a line of their own.
TEST(AutocastLists, NameEveryOperationWithAKernelInTorch) {
    const auto registered = read_json("registered");
    for (const auto& [device, kind] : {std::pair("cpu", AutocastDevice::cpu), {"cuda", AutocastDevice::cuda}}) {
        std::set<std::string> missing = registered.at(device);
        if (kind == AutocastDevice::cuda) missing.erase("binary_cross_entropy");  // torch refuses it
        std::set<std::string> composites;
        for (const std::string_view target : autocast_targets(kind)) {
            const std::string text(target.substr(6));
            if (missing.erase(text) == 0) composites.insert(text);
        }
        EXPECT_THAT(missing, ::testing::IsEmpty()) << device;
        for (const std::string& text : composites)
            EXPECT_TRUE(text.ends_with(".vec") || text.ends_with(".input") || text.ends_with(".padding") ||
                        text == "einsum" || text == "tensordot" || text == "cross_entropy_loss")
                << device << " " << text;
    }
}

}  // namespace
}  // namespace joulecast
