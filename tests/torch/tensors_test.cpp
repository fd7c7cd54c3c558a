#include "workers/torch/tensors.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast::torch_worker {
namespace {

TEST(TensorMaker, FillsWithNormalNumbersNeverZeros) {
    TensorMaker maker(1);
    const at::Tensor tensor = maker.make({Dtype::f32, {1000, 100}}, {});
    EXPECT_NEAR(tensor.mean().item<double>(), 0.0, 0.02);  // standard error 0.003
    EXPECT_NEAR(tensor.std().item<double>(), 1.0, 0.02);
    EXPECT_EQ(tensor.eq(0).sum().item<std::int64_t>(), 0);
}

TEST(TensorMaker, LaysOutAsAsked) {
    TensorMaker maker(1);
    const at::Tensor last = maker.make(channels_last(Dtype::f32, {2, 8, 4, 4}), {});
    EXPECT_TRUE(last.is_contiguous(at::MemoryFormat::ChannelsLast));
    EXPECT_EQ(last.sizes(), (std::vector<std::int64_t>{2, 8, 4, 4}));
    for (const Strides& strides : {Strides{1, 3}, Strides{9, 1}, Strides{0, 1}}) {
        const at::Tensor tensor = maker.make(strided(Dtype::f32, {3, 5}, strides), {});
        EXPECT_EQ(tensor.sizes(), (std::vector<std::int64_t>{3, 5}));
        EXPECT_EQ(tensor.strides(), at::IntArrayRef(strides));
        EXPECT_EQ(tensor.eq(0).sum().item<std::int64_t>(), 0);
    }
    const at::Tensor gapped = maker.make(strided(Dtype::f32, {3, 5}, {9, 1}), {});
    EXPECT_EQ(gapped.storage().nbytes(), (2 * 9 + 4 + 1) * sizeof(float));
}

// Beside a CPU, pools are copied within the device's memory. The meta device has none, but all rules of views.
TEST(TensorMaker, FillsElsewhereWhatLiesInAnotherOrder) {
    TensorMaker maker(1, at::kMeta);
    const at::Tensor like = maker.make(strided(Dtype::f32, {8, 128, 12, 64}, {98304, 64, 8192, 1}), {});
    EXPECT_EQ(maker.normal_like(like).strides(), like.strides());
}

TEST(TensorMaker, KeepsIndicesWithinTheirBounds) {
    TensorMaker maker(1);
    Content content;
    content.kind = Content::Kind::index;
    content.low = 3;
    content.high = 6;
    const at::Tensor tensor = maker.make({Dtype::i64, {1000}}, content);
    EXPECT_EQ(tensor.min().item<std::int64_t>(), 3);
    EXPECT_EQ(tensor.max().item<std::int64_t>(), 5);
}

TEST(TensorMaker, MakesVariancesPositiveAndFactorsSigns) {
    TensorMaker maker(1);
    Content content;
    content.kind = Content::Kind::positive;
    EXPECT_GT(maker.make({Dtype::f32, {1000}}, content).min().item<float>(), 0.4F);
    content.kind = Content::Kind::sign;
    EXPECT_TRUE(maker.make({Dtype::bf16, {1000}}, content).abs().eq(1).all().item<bool>());
}

TEST(TensorMaker, MakesEveryDtype) {
    TensorMaker maker(1);
    for (const Dtype dtype :
         {Dtype::u8, Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64, Dtype::f16, Dtype::f32, Dtype::f64, Dtype::c64,
          Dtype::c128, Dtype::boolean, Dtype::bf16, Dtype::f8e4m3fn, Dtype::f8e5m2}) {
        const at::Tensor tensor = maker.make({dtype, {4, 4}}, {});
        EXPECT_EQ(tensor.element_size(), static_cast<std::size_t>(element_bytes(dtype))) << name(dtype);
    }
}

TEST(TensorMaker, MarksOnlyFloatsForGradients) {
    TensorMaker maker(1);
    EXPECT_TRUE(maker.make({Dtype::f32, {4}, {}, true}, {}).requires_grad());
    EXPECT_FALSE(maker.make({Dtype::i64, {4}, {}, true}, {}).requires_grad());
}

TEST(TensorMaker, RefusesImpossibleSizes) {
    TensorMaker maker(1);
    EXPECT_THROW(maker.make({Dtype::f32, {-1}}, {}), FormatError);
    EXPECT_THROW(maker.make({Dtype::f32, {INT64_MAX, 8}}, {}), FormatError);
    EXPECT_THROW(maker.make({Dtype::f32, {2, 2}, {INT64_MAX, 1}}, {}), FormatError);
    EXPECT_THROW(maker.make({Dtype::f32, {2, 2}, {-1, 1}}, {}), FormatError);
}

TEST(TensorMaker, TheSameSeedGivesTheSameContentsWhateverWasMadeBefore) {
    const TensorType type{Dtype::f32, {100}};
    const at::Tensor first = TensorMaker(5).make(type, {});
    EXPECT_FALSE(at::equal(TensorMaker(6).make(type, {}), first));
    // Another kind's values are drawn in between; pools outlive their makers.
    TensorMaker(5).make(type, {Content::Kind::unit});
    EXPECT_TRUE(at::equal(TensorMaker(5).make(type, {}), first));
}

}  // namespace
}  // namespace joulecast::torch_worker
