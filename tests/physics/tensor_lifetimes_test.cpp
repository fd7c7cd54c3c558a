#include "joulecast/physics/tensor_lifetimes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "joulecast/graph/record.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;

/// Two exponentials, one of the other, the first of a parameter; every tensor has 1024 bytes.
Graph two_calls(Mode mode) {
    const std::string mark = mode == Mode::training ? "~" : "";
    Graph graph;
    graph.mode = mode;
    graph.inputs.push_back({"x", GraphInput::Kind::user_input, {Dtype::f32, {256}}, {}});
    graph.inputs.push_back({"p", GraphInput::Kind::parameter, {Dtype::f32, {256}, {}, mode == Mode::training}, {}});
    for (const ValueRef input : {ValueRef{-1, 1}, ValueRef{0, 0}}) {
        Node node;
        node.operation = parse_operation("aten::exp(self=f32[256]" + mark + ")");
        node.inputs = {input};
        node.outputs = find_record(node.operation.target)->outputs(node.operation);
        graph.nodes.push_back(node);
    }
    graph.outputs = {{1, 0}};
    return graph;
}

/// "0-1" of a block that the first two steps have; "k" where it is kept, "p" where it is a parameter's gradient.
std::vector<std::string> spans(const TensorLifetimes& lifetimes) {
    std::vector<std::string> all;
    for (const MemoryBlock& block : lifetimes.blocks) {
        all.push_back(std::to_string(block.first) + "-" + std::to_string(block.last) + (block.kept ? "k" : "") +
                      (block.of_parameter ? "p" : ""));
    }
    return all;
}

TEST(TensorLifetimes, InInferenceABlockLivesFromItsCallToItsLastReaderAndOutputsToTheEnd) {
    const TensorLifetimes lifetimes = tensor_lifetimes(two_calls(Mode::inference), {});
    EXPECT_EQ(lifetimes.steps.size(), 2U);
    EXPECT_THAT(spans(lifetimes), ElementsAre("0-1", "1-1"));
    EXPECT_EQ(lifetimes.output_bytes, 1024);
    EXPECT_THAT(lifetimes.trained_inputs, ElementsAre());
}

TEST(TensorLifetimes, InTrainingWhatIsSavedLivesToItsBackwardCallAndAParametersGradientToTheEnd) {
    const TensorLifetimes lifetimes = tensor_lifetimes(two_calls(Mode::training), {});
    // Steps: 0 and 1 forward, 2 backward of 1, 3 backward of 0. exp() keeps its output.
    EXPECT_EQ(lifetimes.steps.size(), 4U);
    // Both outputs, then the gradients: of the output, of the call between and of the parameter.
    EXPECT_THAT(spans(lifetimes), ElementsAre("0-3k", "1-3k", "2-2", "2-3", "3-3p"));
    EXPECT_THAT(lifetimes.trained_inputs, ElementsAre(1U));
    EXPECT_EQ(lifetimes.trained_bytes, 1024);
    EXPECT_EQ(lifetimes.gradient_bytes, 1024);
}

}  // namespace
}  // namespace joulecast
