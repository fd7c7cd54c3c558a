#include "joulecast/model/jcp_fusion.h"

#include <gtest/gtest.h>

#include <limits>

#include "joulecast/error.h"

namespace joulecast {
namespace {

FusionModel sample() {
    FusionModel fusion;
    fusion.framework = "onnxruntime 1.32.0";
    fusion.rules = {{"absent|dropout|runs=", true}, {"join|conv2d:2|relu|one|first|0|1|4", false}};
    fusion.factors = {{"convolution", 1.1, 7}, {"convolution+relu", 0, 5}};
    fusion.sigma = 0.07;
    fusion.networks = 9;
    return fusion;
}

std::vector<std::byte> written(const FusionModel& fusion) {
    ByteWriter out;
    put_fusion(out, fusion);
    return out.bytes();
}

FusionModel read(std::span<const std::byte> bytes) {
    ByteReader in(bytes, "test");
    return take_fusion(in);
}

TEST(JcpFusion, ComesBackAsItWasWritten) {
    EXPECT_EQ(read(written(sample())), sample());
}

TEST(JcpFusion, RefusesEveryTruncation) {
    const auto bytes = written(sample());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(read(std::span(bytes).first(size)), FormatError) << size;
}

TEST(JcpFusion, RefusesWhatCannotBe) {
    const auto refuses = [](auto change) {
        FusionModel fusion = sample();
        change(fusion);
        EXPECT_THROW(read(written(fusion)), FormatError);
    };
    refuses([](FusionModel& f) { f.sigma = -0.1; });
    refuses([](FusionModel& f) { f.sigma = std::numeric_limits<double>::quiet_NaN(); });
    refuses([](FusionModel& f) { f.networks = -1; });
    refuses([](FusionModel& f) { std::swap(f.rules[0], f.rules[1]); });
    refuses([](FusionModel& f) { f.rules[1].key = f.rules[0].key; });
    refuses([](FusionModel& f) { std::swap(f.factors[0], f.factors[1]); });
    refuses([](FusionModel& f) { f.factors[0].factor = -1; });
    refuses([](FusionModel& f) { f.factors[0].factor = 1e6; });
    refuses([](FusionModel& f) { f.factors[0].factor = std::numeric_limits<double>::infinity(); });
    refuses([](FusionModel& f) { f.factors[0].networks = -1; });
}

TEST(JcpFusion, RefusesARuleThatNeitherHoldsNorDoesNot) {
    FusionModel fusion = sample();
    fusion.rules.resize(1);
    fusion.factors.clear();
    auto bytes = written(fusion);
    bytes[bytes.size() - 5] = std::byte{2};  // before the count of factors
    EXPECT_THROW(read(bytes), FormatError);
}

}  // namespace
}  // namespace joulecast
