#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string source = JOULECAST_SOURCE_DIR;

Graph open(const std::string& model, Mode mode = Mode::inference) {
    return open_model(model, source + "/zoo", {}, mode);
}

std::string refusal(const std::string& model) {
    try {
        open(model);
    } catch (const Error& error) {
        return error.what();
    }
    return "nothing was thrown";
}

std::int64_t image_size(const Graph& graph) {
    const auto image = std::ranges::find(graph.inputs, GraphInput::Kind::user_input, &GraphInput::kind);
    return image->type.sizes.back();
}

TEST(OpenModel, TakesPathsAndZooNames) {
    EXPECT_EQ(open("resnet18").name, "resnet18");
    EXPECT_EQ(open_model(source + "/zoo/resnet18.pt2", "/nowhere").name, "resnet18");
    EXPECT_EQ(open_model("resnet18", source + "/zoo", {{"batch", 7}}).symbols.at("batch").value, 7);
}

TEST(OpenModel, TakesASizeAfterTheName) {
    EXPECT_EQ(image_size(open("resnet18@32")), 32);
    EXPECT_EQ(image_size(open("resnet18@299")), 299);
    EXPECT_EQ(open("resnet18@32").name, "resnet18@32");
}

// The plain file of a network has a size too, and whoever names it gets it.
TEST(OpenModel, TakesThePlainNetworkBySizeToo) {
    EXPECT_EQ(open("resnet18@224").name, "resnet18");
    EXPECT_EQ(open("inception_v3@299").name, "inception_v3");
    EXPECT_EQ(image_size(open("efficientnet_b4@380")), 380);
}

TEST(OpenModel, ListsTheSizesThereAreForOneThereIsNot) {
    EXPECT_THAT(refusal("resnet18@384"), HasSubstr("the zoo has resnet18@224, resnet18@299, resnet18@32"));
    EXPECT_THAT(refusal("vgg16@"), HasSubstr("the zoo has vgg16@224."));
    EXPECT_THAT(refusal("bert-base@512"), HasSubstr("takes no image. Leave out \"@512\" and set its symbols, for "
                                                    "example --set sequence=512"));
}

TEST(OpenModel, HasTheTracedFormsThatRowsWereMeasuredOf) {
    EXPECT_EQ(open("bert-base@traced").name, "bert-base@traced");
    EXPECT_EQ(open("vit_b_16@224").name, "vit_b_16");
    EXPECT_THAT(refusal("vit_b_16@384"), AllOf(HasSubstr("the zoo has vit_b_16@224."), Not(HasSubstr("traced"))));
    EXPECT_THAT(refusal("opt-1.3b@traced"), HasSubstr("Measure opt-1.3b again"));
}

TEST(OpenModel, KnowsShortNamesAndSaysWhatItTook) {
    EXPECT_EQ(open("resnext50").name, "resnext50_32x4d");
    EXPECT_EQ(open("mobilenet_v3").name, "mobilenet_v3_large");
    EXPECT_EQ(open("squeezenet@227").name, "squeezenet1_1@227");
    EXPECT_EQ(open("bert-base-uncased").name, "bert-base");
    EXPECT_EQ(open("facebook/opt-1.3b").name, "opt-1.3b");
    EXPECT_EQ(open("ResNet18@32").name, "resnet18@32");
    for (const char* name : {"bert",        "bert-large-uncased",
                             "convnext_b",  "convnext_t",
                             "darknet",     "darknet-19",
                             "densenet",    "efficientnet",
                             "inception",   "mnasnet",
                             "mobilenetv2", "mobilenetv3",
                             "opt",         "regnet_y",
                             "shufflenet",  "shufflenet_v2",
                             "squeezenet",  "swin",
                             "swin_v2",     "t5",
                             "u-net",       "vit",
                             "whisper",     "wide_resnet50"})
        EXPECT_NO_THROW(open(name)) << name;
}

TEST(OpenModel, TrainsInTheFormWithAuxiliaryHeads) {
    // Inference has one head; training has two more, each with a linear layer of a thousand classes.
    const auto heads = [](const Graph& graph) {
        return std::ranges::count_if(graph.nodes, [](const Node& node) {
            return node.operation.target == "aten::linear" && node.outputs[0].sizes.back() == 1000;
        });
    };
    EXPECT_EQ(heads(open("googlenet")), 1);
    EXPECT_EQ(heads(open("googlenet", Mode::training)), 3);
    EXPECT_EQ(open("googlenet", Mode::training).name, "googlenet");
}

TEST(OpenModel, TakesAUsersFileAsItIs) {
    const std::string file = source + "/zoo/googlenet.pt2";
    EXPECT_EQ(open(file, Mode::training).nodes.size(), open(file, Mode::inference).nodes.size());
    EXPECT_EQ(open(source + "/zoo/googlenet.train.pt2").nodes.size(), open("googlenet", Mode::training).nodes.size());
}

TEST(OpenModel, DoesNotListTrainingFormsAsNetworks) {
    EXPECT_THAT(zoo_names(source + "/zoo"), AllOf(Contains("resnet18"), Not(Contains(HasSubstr("train")))));
}

TEST(OpenModel, SuggestsNearNames) {
    EXPECT_THAT(refusal("resnet81"), HasSubstr("Did you mean resnet101, resnet18, resnet34, resnet50, resnet152?"));
    EXPECT_THAT(refusal("vgg"), HasSubstr("Did you mean vgg11, vgg16?"));
    EXPECT_THAT(refusal("bert_base"), HasSubstr("bert-base"));
    EXPECT_THAT(refusal("something-else-entirely"), HasSubstr("The zoo has alexnet, alexnet@299, bert-base"));
}

TEST(OpenModel, SaysWhatIsNotSupported) {
    EXPECT_THAT(refusal("net.safetensors"), AllOf(HasSubstr(".safetensors is not supported"), HasSubstr(".pt2")));
    EXPECT_THAT(refusal("net.graph.json"), HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace joulecast
