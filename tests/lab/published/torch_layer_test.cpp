#include "lab/published/torch_layer.h"

#include <gmock/gmock.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

std::string call(const std::string& type, const std::string& repr, const Sizes& input, bool backward = false,
                 bool training_state = false) {
    return signature(to_operation({type, repr, input, Dtype::f32, training_state}, backward));
}

std::string refusal(const std::string& type, const std::string& repr, const Sizes& input) {
    try {
        call(type, repr, input);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "accepted";
}

// What joulecast extract prints for these layers of the zoo's resnet18, vit_b_32 and squeezenet1_1 at batch 32.
TEST(TorchLayer, BecomesTheCallThatTheGraphReadersWrite) {
    EXPECT_EQ(call("Conv2d", "3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False", {32, 3, 224, 224}),
              "aten::conv2d(input=f32[32,3,224,224], weight=f32[64,3,7,7], stride=[2,2], padding=[3,3])");
    EXPECT_EQ(
        call("BatchNorm2d", "64, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True", {32, 64, 112, 112}),
        "aten::batch_norm(input=f32[32,64,112,112], weight=f32[64], bias=f32[64], running_mean=f32[64], "
        "running_var=f32[64], training=false, momentum=0.1, eps=1e-05, cudnn_enabled=true)");
    EXPECT_EQ(call("ReLU", "inplace=True", {32, 64, 112, 112}), "aten::relu_(self=f32[32,64,112,112])");
    EXPECT_EQ(call("MaxPool2d", "kernel_size=3, stride=2, padding=0, dilation=1, ceil_mode=True", {32, 64, 111, 111}),
              "aten::max_pool2d(self=f32[32,64,111,111], kernel_size=[3,3], stride=[2,2], ceil_mode=true)");
    EXPECT_EQ(call("AdaptiveAvgPool2d", "output_size=(1, 1)", {32, 512, 7, 7}),
              "aten::adaptive_avg_pool2d(self=f32[32,512,7,7], output_size=[1,1])");
    EXPECT_EQ(call("Linear", "in_features=512, out_features=1000, bias=True", {32, 512}),
              "aten::linear(input=f32[32,512], weight=f32[1000,512], bias=f32[1000])");
    EXPECT_EQ(call("LayerNorm", "(768,), eps=1e-06, elementwise_affine=True", {32, 50, 768}),
              "aten::layer_norm(input=f32[32,50,768], normalized_shape=[768], weight=f32[768], bias=f32[768], "
              "eps=1e-06)");
    EXPECT_EQ(call("GELU", "approximate='none'", {32, 50, 3072}), "aten::gelu(self=f32[32,50,3072])");
    EXPECT_EQ(call("Dropout", "p=0.5, inplace=False", {32, 512, 13, 13}),
              "aten::dropout(input=f32[32,512,13,13], p=0.5, train=false)");
    EXPECT_EQ(call("ReLU6", "inplace=True", {32, 32, 112, 112}),
              "aten::hardtanh_(self=f32[32,32,112,112], min_val=0.0, max_val=6.0)");
}

TEST(TorchLayer, MarksInputAndParametersThatAGradientFlowsTo) {
    EXPECT_EQ(call("Conv2d", "32, 32, kernel_size=(3, 3), stride=(1, 1), groups=32", {1, 32, 8, 8}, true),
              "aten::conv2d(input=f32[1,32,8,8]~, weight=f32[32,1,3,3]~, bias=f32[32]~, groups=32)");
    const auto norm = call("BatchNorm2d", "4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True",
                           {2, 4, 3, 3}, true, true);
    EXPECT_THAT(norm,
                HasSubstr("weight=f32[4]~, bias=f32[4]~, running_mean=f32[4], running_var=f32[4], training=true"));
}

TEST(TorchLayer, TakesTheTypeOfThePrecision) {
    EXPECT_EQ(signature(to_operation({"SiLU", "", {8, 16}, Dtype::bf16, false}, false)), "aten::silu(self=bf16[8,16])");
}

TEST(TorchLayer, RefusesWhatItWouldHaveToIgnore) {
    EXPECT_EQ(refusal("ReLU", "inplace=True, slope=2", {1}), "attribute slope of ReLU is not known");
    EXPECT_EQ(refusal("ReLU", "7", {1}), "positional attribute 0 of ReLU is not known");
    EXPECT_EQ(refusal("ReLU", "inplace=maybe", {1}), "attribute inplace of ReLU is neither True nor False");
    EXPECT_EQ(refusal("Fancy", "", {1}), "layers of class Fancy are not known");
    EXPECT_THAT(refusal("Conv2d", "3, 64, kernel_size=(7, 7), stride=(2, 2), padding_mode=reflect", {1, 3, 9, 9}),
                HasSubstr("several ATen calls"));
}

TEST(TorchLayer, RefusesAttributesWithoutAValueOrANumber) {
    EXPECT_EQ(refusal("MaxPool2d", "kernel_size=, stride=2", {1, 4, 8, 8}),
              "attribute kernel_size of MaxPool2d is not a number");
    for (const char* padding : {"", "1", "around"}) {
        EXPECT_EQ(
            refusal("Conv2d", "3, 8, kernel_size=(3, 3), stride=(1, 1), padding=" + std::string(padding), {1, 3, 9, 9}),
            "attribute padding of Conv2d is neither a tuple nor same nor valid");
    }
    EXPECT_EQ(refusal("BatchNorm2d", "4, eps=nan", {2, 4, 3, 3}), "attribute eps of BatchNorm2d is not a number");
    EXPECT_EQ(refusal("Dropout", "inplace=False", {8}), "attribute p of Dropout is missing");
}

TEST(TorchLayer, RefusesSizesThatDoNotFit) {
    EXPECT_EQ(refusal("Linear", "in_features=512, out_features=10, bias=True", {32, 256}),
              "the input of Linear does not fit its attributes");
    // A window of seven does not fit into three pixels.
    EXPECT_EQ(refusal("AvgPool2d", "kernel_size=7, stride=1, padding=0", {1, 4, 3, 3}),
              "the input of AvgPool2d does not fit its attributes");
    EXPECT_EQ(refusal("Conv2d", "4, 6, kernel_size=(1, 1), stride=(1, 1), groups=4", {1, 4, 3, 3}),
              "channels and groups of Conv2d do not fit");
    EXPECT_EQ(refusal("Linear", "in_features=99999999999999999999, out_features=1, bias=True", {1, 1}),
              "attribute in_features of Linear is not a number");
}

TEST(TorchLayer, SaysOfLayersThatAreNoSingleCall) {
    EXPECT_THAT(refusal("StochasticDepth", "p=0.1, mode=row", {8, 4, 2, 2}), HasSubstr("makes no ATen call"));
    EXPECT_THROW(call("StochasticDepth", "p=0.1, mode=row", {8, 4, 2, 2}, false, true), FormatError);
    EXPECT_EQ(drop_probability({"StochasticDepth", "p=0.1, mode=row", {1}}), 0.1);
    EXPECT_EQ(drop_probability({"Dropout", "p=often", {1}}), std::nullopt);
    EXPECT_EQ(drop_probability({"ReLU", "", {1}}), std::nullopt);
}

}  // namespace
}  // namespace joulecast
