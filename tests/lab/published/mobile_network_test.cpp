#include "lab/published/mobile_network.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

double weights(const MobileNetwork& network) {
    double sum = 0;
    for (const MobileLayer& layer : network.layers) sum += layer.weights;
    return sum;
}

TEST(MobileNetworks, DoTheMultiplyAddsOfTheirPapers) {
    struct Published {
        const char* name;
        double mega_macs, mega_weights;
    };
    // Width 1.4: README of mobilenet in TensorFlow's slim models. arXiv:1704.04861 table 6, 1801.04381 table 4,
    // 1905.02244 tables 3 and 4, and torchvision's of ResNet-50. Papers count biases and batch norm's weights as well,
    // 2 % of small networks.
    for (const Published& known : {Published{"mobilenet-v1-1.0-224-quantized", 569, 4.2},
                                   {"mobilenet-v1-0.5-224-non-quantized", 149, 1.3},
                                   {"mobilenet-v2-1.0-224-quantized", 300, 3.4},
                                   {"mobilenet-v2-1.4-224-quantized", 582, 6.06},
                                   {"mobilenet-v3-large_224_1.0_float", 219, 5.4},
                                   {"mobilenet-v3-small_224_1.0_uint8", 56.5, 2.5},
                                   {"resnet50", 4089, 25.5}}) {
        const auto network = mobile_network(known.name);
        ASSERT_TRUE(network) << known.name;
        EXPECT_NEAR(network->macs() / 1e6, known.mega_macs, 0.04 * known.mega_macs) << known.name;
        EXPECT_NEAR(weights(*network) / 1e6, known.mega_weights, 0.04 * known.mega_weights) << known.name;
    }
}

TEST(MobileNetworks, OfBothPrecisionsHaveOneName) {
    EXPECT_EQ(mobile_network("mobilenet-v2-0.5-128-quantized")->precision, "int8");
    EXPECT_EQ(mobile_network("mobilenet-v2-0.5-128-non-quantized")->precision, "fp32");
    for (const char* name : {"mobilenet-v2-0.5-128", "mobilenet-v3-small_224_1.0", "efficientnet-lite4"})
        for (const char* precision : {"int8", "fp32"}) {
            const auto network = mobile_network(name, precision);
            ASSERT_TRUE(network) << name;
            EXPECT_EQ(network->name, name);
            EXPECT_EQ(network->precision, precision);
        }
    EXPECT_EQ(mobile_network("resnet50", "fp32")->name, "resnet50");
    EXPECT_FALSE(mobile_network("resnet50", "int8"));
}

TEST(MobileNetworks, OfOtherNamesAreNotKnown) {
    for (const char* name : {"", "bert", "mobilenet-v2-0.5-128", "mobilenet-v1-9.0-224-quantized",
                             "efficientnet-lite7-quantized", "mobilenet-v2-0.5-99999999999-quantized"})
        EXPECT_FALSE(mobile_network(name)) << name;
}

}  // namespace
}  // namespace joulecast
