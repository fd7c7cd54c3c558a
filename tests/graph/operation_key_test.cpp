#include "joulecast/graph/operation_key.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace joulecast {
namespace {

std::vector<std::uint64_t> key(const Operation& operation) {
    std::vector<std::uint64_t> words;
    append_key(operation, words);
    return words;
}

/// One thing differs between any two of them.
const std::vector<const char*> texts{
    "aten::op(a=f32[8,4], b=[1,2], c=\"none\")",
    "aten::op2(a=f32[8,4], b=[1,2], c=\"none\")",
    "aten::op(a=f32[4,8], b=[1,2], c=\"none\")",
    "aten::op(a=f32[8,4]~, b=[1,2], c=\"none\")",
    "aten::op(a=bf16[8,4], b=[1,2], c=\"none\")",
    "aten::op(a=f32[8,4]{1,8}, b=[1,2], c=\"none\")",
    "aten::op(a=f32[8,4], b=[2,1], c=\"none\")",
    "aten::op(a=f32[8,4], b=[1,2], c=\"nine\")",
    "aten::op(a=f32[8,4], d=[1,2], c=\"none\")",
    "aten::op(a=[f32[8,4]], b=[1,2], c=\"none\")",
    "aten::op(a=f32[8,4], b=[1.0,2.0], c=\"none\")",
    "aten::op(a=f32[8,4], b=[true,false], c=\"none\")",
    "aten::op(a=f32[8,4], b=1, c=\"none\")",
    "aten::op(a=[f32[8,4],none], b=[1,2], c=\"none\")",
    "aten::op(a=[none,f32[8,4]], b=[1,2])",
    "aten::op(a=f32[8,4,1], b=[2])",
    "aten::op(a=f32[8,4], b=[1,2])",
    "aten::op(a=f32[8,4])",
    "aten::op(a=f32[8], b=4)",
    "aten::op(a=f32[8], b=true)",
    "aten::op(a=f32[8], b=1.0)",
    "aten::op(a=f32[8], b=none)",
    "aten::op(a=f32[8], b=f32)",
    "aten::op(a=f32[8], b=[])",
};

TEST(OperationKey, IsEqualForEqualOperations) {
    for (const char* text : texts) EXPECT_EQ(key(parse_operation(text)), key(parse_operation(text))) << text;
    const Operation zero{"aten::add.Scalar", {{"other", 0.0}}};
    const Operation minus_zero{"aten::add.Scalar", {{"other", -0.0}}};
    ASSERT_EQ(zero, minus_zero);
    EXPECT_EQ(key(zero), key(minus_zero));
    const Operation not_a_number{"aten::add.Scalar", {{"other", std::numeric_limits<double>::quiet_NaN()}}};
    EXPECT_EQ(key(not_a_number), key(not_a_number));  // has one signature, though no two NaNs compare equal
}

TEST(OperationKey, OfInferenceIsThatOfTheCallWithoutGradients) {
    std::vector<std::uint64_t> words;
    append_key_of_inference(parse_operation("aten::op(a=f32[8,4]~, b=[f32[2]~,none], c=1)"), words);
    EXPECT_EQ(words, key(parse_operation("aten::op(a=f32[8,4], b=[f32[2],none], c=1)")));
}

TEST(OperationKey, DiffersWhereOneThingDiffers) {
    std::map<std::vector<std::uint64_t>, std::string> keys;
    std::set<std::uint64_t> hashes;
    for (const char* text : texts) {
        const auto words = key(parse_operation(text));
        const auto [place, is_new] = keys.emplace(words, text);
        EXPECT_TRUE(is_new) << text << " has the key of " << place->second;
        hashes.insert(hash(words));
    }
    EXPECT_EQ(hashes.size(), texts.size());
}

TEST(OperationKey, TellsApartWhatMovesOverTheBordersOfItsParts) {
    // The same letters and numbers one behind the other: only their lengths say where one ends.
    const auto differ = [](const Operation& a, const Operation& b) { EXPECT_NE(key(a), key(b)); };
    differ({"aten::ab", {{"c", None{}}}}, {"aten::a", {{"bc", None{}}}});
    differ({"t", {{"a", std::string("xy")}, {"b", std::string("z")}}},
           {"t", {{"a", std::string("x")}, {"b", std::string("yz")}}});
    differ({"t", {{"a", std::string(1, '\0')}}}, {"t", {{"a", std::string()}}});
    differ({"t", {{"a", Integers{1, 2}}, {"b", Integers{3}}}}, {"t", {{"a", Integers{1}}, {"b", Integers{2, 3}}}});
    differ({"t", {{"a", TensorType{Dtype::f32, {4, 2}, {1, 4}}}}},
           {"t", {{"a", TensorType{Dtype::f32, {4, 2, 1, 4}}}}});
}

TEST(HashOfWords, DependsOnEveryWordItsPlaceAndTheirNumber) {
    // Lengths around the four words that are mixed at once.
    for (std::size_t size = 1; size <= 9; ++size) {
        std::vector<std::uint64_t> words(size, 7);
        std::set<std::uint64_t> seen{hash(words)};
        for (std::size_t i = 0; i < size; ++i) {
            auto changed = words;
            changed[i] = 8;
            EXPECT_TRUE(seen.insert(hash(changed)).second) << size << " words, word " << i;
        }
        words.push_back(0);
        EXPECT_TRUE(seen.insert(hash(words)).second) << size;
    }
}

}  // namespace
}  // namespace joulecast
