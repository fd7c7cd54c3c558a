#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "joulecast/error.h"
#include "joulecast/graph/operation.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

TEST(Signature, WritesWhatTheHeaderPromises) {
    const TensorType input{Dtype::f32, {8, 3, 224, 224}};
    const TensorType weight{Dtype::f32, {64, 3, 7, 7}, {}, true};
    const Operation operation{
        "aten::conv2d",
        {{"input", input}, {"weight", weight}, {"stride", Integers{2, 2}}, {"padding", Integers{3, 3}}}};
    EXPECT_EQ(signature(operation),
              "aten::conv2d(input=f32[8,3,224,224], weight=f32[64,3,7,7]~, stride=[2,2], padding=[3,3])");
}

TEST(Signature, ReadsBackEveryKindOfValue) {
    TensorType type = channels_last(Dtype::bf16, {2, 3, 4, 5});
    type.requires_grad = true;
    const TensorType scalar{Dtype::boolean, {}, {}, false};
    const Operation operation{"aten::everything.out",
                              {{"a", None{}},
                               {"b", true},
                               {"c", std::int64_t{-7}},
                               {"d", 3.0},
                               {"e", std::string("a \"quoted\"\\ line\n\x01")},
                               {"f", Dtype::f8e4m3fn},
                               {"g", type},
                               {"h", TensorList{type, std::nullopt, scalar}},
                               {"i", std::vector<bool>{true, false}},
                               {"j", Integers{}},
                               {"k", std::vector<double>{1e-5, -std::numeric_limits<double>::infinity()}}}};
    const std::string text = signature(operation);
    EXPECT_EQ(parse_operation(text), operation) << text;
    EXPECT_EQ(signature(parse_operation(text)), text);
}

TEST(Signature, KeepsFloatsApartFromIntegers) {
    EXPECT_EQ(signature({"f", {{"x", 1.0}}}), "f(x=1.0)");
    EXPECT_EQ(signature({"f", {{"x", std::int64_t{1}}}}), "f(x=1)");
    EXPECT_TRUE(std::holds_alternative<double>(parse_operation("f(x=1e5)").arguments[0].value));
    EXPECT_TRUE(std::isnan(std::get<double>(parse_operation("f(x=nan)").arguments[0].value)));
}

TEST(Signature, KeepsTheLargestInteger) {
    const std::string text = "aten::slice.Tensor(self=f32[4], end=9223372036854775807)";
    EXPECT_EQ(signature(parse_operation(text)), text);
}

TEST(ParseOperation, AllowsSpacesAndNoArguments) {
    EXPECT_EQ(signature(parse_operation(" aten::f ( x = [ 1 , 2 ] ) ")), "aten::f(x=[1,2])");
    EXPECT_EQ(signature(parse_operation("aten::f()")), "aten::f()");
}

TEST(ParseOperation, ReadsUnicodeEscapes) {
    // U+00E9 is two bytes of UTF-8, U+1F600 a surrogate pair and four bytes.
    const Operation operation = parse_operation(R"(f(x="\u00e9\uD83D\uDE00"))");
    EXPECT_EQ(std::get<std::string>(operation.arguments[0].value), "\xC3\xA9\xF0\x9F\x98\x80");
}

TEST(ParseOperation, NamesThePlaceOfAnError) {
    try {
        parse_operation("aten::relu(self=q8[4])");
        FAIL() << "an unknown dtype was accepted";
    } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("at character 18"));  // behind the word "q8", which starts at 16
        EXPECT_THAT(error.what(), HasSubstr("q8"));
    }
}

class Malformed : public ::testing::TestWithParam<const char*> {};

TEST_P(Malformed, IsRefused) {
    EXPECT_THROW(parse_operation(GetParam()), FormatError) << GetParam();
}

INSTANTIATE_TEST_SUITE_P(ParseOperation, Malformed,
                         ::testing::Values("", "f", "f(", "f(x)", "f(x=)", "f(x=1", "f(x=1))", "f(x=1,)", "f(x=1 2)",
                                           "f(x=1, x=2)", "f(x=[1,2)", "f(x=[1,2.0])", "f(x=[[1]])", "f(x=[1,none])",
                                           "f(x=f32[-1])", "f(x=f32[1.0])", "f(x=f32[2]{xl})", "f(x=f32[2]{cl)",
                                           "f(x=99999999999999999999)", "f(x=1.2.3)", "f(x=\"open)", "f(x=\"\\x\")",
                                           "f(x=\"\\ud800\")", "f(x=\"\\u12\")", "f(x=-)", "(x=1)"));

TEST(ParseOperation, BoundsTextArgumentsAndLists) {
    EXPECT_THROW(parse_operation("f(x=\"" + std::string(1 << 20, 'a') + "\")"), FormatError);
    std::string list = "f(x=[0";
    for (int i = 1; i < 4096; ++i) list += ",0";
    EXPECT_NO_THROW(parse_operation(list + "])"));
    EXPECT_THROW(parse_operation(list + ",0])"), FormatError);
}

/// The text of the one tensor of f(x=...), read and written again.
std::string rewritten(const std::string& tensor) {
    const std::string text = signature(parse_operation("f(x=" + tensor + ")"));
    return text.substr(4, text.size() - 5);
}

TEST(Signature, WritesStridesWhereATensorIsNotContiguous) {
    EXPECT_EQ(rewritten("f32[2,3]{1,2}~"), "f32[2,3]{1,2}~");
    EXPECT_EQ(rewritten("f32[2,3]{ 4 , 1 }"), "f32[2,3]{4,1}");
    EXPECT_EQ(rewritten("f32[2,3]{3,1}"), "f32[2,3]");
    EXPECT_EQ(rewritten("f32[2,3,4,5]{60,1,15,3}"), "f32[2,3,4,5]{cl}");
    EXPECT_EQ(rewritten("f32[2,3,4,5,6]{cl}"), "f32[2,3,4,5,6]{cl}");
    EXPECT_EQ(rewritten("f32[2,3,1,1]{cl}"), "f32[2,3,1,1]");
}

// {t} stood for these strides when the rows that have it were measured; the expected ones are what torch gave for
// at::empty(exchanged sizes).transpose(exchanged dimensions).
TEST(Signature, ReadsTheLetterThatOnceStoodForStrides) {
    EXPECT_EQ(rewritten("f32[3,5]{t}"), "f32[3,5]{1,3}");
    EXPECT_EQ(rewritten("f32[2,3,5]{t}"), "f32[2,3,5]{15,1,3}");
    EXPECT_EQ(rewritten("f32[2,4,3,5]{t}"), "f32[2,4,3,5]{60,5,20,1}");
    EXPECT_EQ(rewritten("f32[3,5,1,7]{t}"), "f32[3,5,1,7]{7,21,7,1}");
    EXPECT_EQ(rewritten("f32[1,768]{t}"), "f32[1,768]");
    EXPECT_EQ(rewritten("f32[7]{t}"), "f32[7]");
}

TEST(Signature, RefusesStridesThatCannotBe) {
    for (const char* tensor : {"f32[2,3]{1}", "f32[2,3]{-1,1}", "f32[2,3]{1.5,1}", "f32[2,3]{1,2", "f32[2,3]{}",
                               "f32[2,3]{cl}", "f32[2,3]{rows}", "f32[2,3]{1125899906842624,1}", "f32[2,3]{1,}",
                               "f32[2,3,4,5]{cl,1}", "f32[4611686018427387904,8,2,2]{cl}"}) {
        EXPECT_THROW(rewritten(tensor), FormatError) << tensor;
    }
}

}  // namespace
}  // namespace joulecast
