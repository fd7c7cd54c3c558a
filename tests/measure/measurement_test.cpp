#include "joulecast/measure/measurement.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Outcome, NamesAreReadBack) {
    for (const Outcome outcome : {Outcome::ok, Outcome::unstable, Outcome::out_of_memory, Outcome::unsupported,
                                  Outcome::crashed, Outcome::inferred}) {
        EXPECT_EQ(parse_outcome(name(outcome)), outcome);
    }
    EXPECT_FALSE(parse_outcome("fine"));
}

TEST(Words, OfMeasurementsAreReadBack) {
    for (const LimitedBy limit : {LimitedBy::unknown, LimitedBy::none, LimitedBy::power_cap, LimitedBy::thermal}) {
        EXPECT_EQ(parse_limited_by(name(limit)), limit);
    }
    for (const Method method : {Method::joulecast, Method::thesis, Method::sponner}) {
        EXPECT_EQ(parse_method(name(method)), method);
    }
    for (const Optimizer optimizer :
         {Optimizer::none, Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw}) {
        EXPECT_EQ(parse_optimizer(name(optimizer)), optimizer);
    }
    EXPECT_FALSE(parse_method("ours"));
}

TEST(Engine, IsTheFrameworksNameWithoutVersion) {
    EXPECT_EQ(engine_of("torch 2.13.0"), "torch");
    EXPECT_EQ(engine_of("torch, kernels of Sarathi-Serve"), "torch");
    EXPECT_EQ(engine_of("PyTorch 2.4"), "torch");
    EXPECT_EQ(engine_of("onnxruntime 1.31"), "onnxruntime");
    EXPECT_EQ(engine_of("TRTLLM/1.0"), "trtllm");
    for (const std::string_view nothing : {"", "none", "unknown", " 3"}) EXPECT_EQ(engine_of(nothing), "torch");
    EXPECT_TRUE(is_engine("torch-compile"));
    for (const std::string_view wrong : {"", "none", "Torch", "torch 2"}) EXPECT_FALSE(is_engine(wrong)) << wrong;
}

}  // namespace
}  // namespace joulecast
