#include "joulecast/graph/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

/// Types as the text form writes them, separated by spaces.
std::string text_of(const std::vector<TensorType>& types) {
    std::string text;
    for (const TensorType& type : types) {
        const std::string call = signature({"f", {{"x", type}}});
        text += (text.empty() ? "" : " ") + call.substr(4, call.size() - 5);
    }
    return text;
}

TEST(Records, GiveTheOutputsThatTorchGives) {
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/graph/records.txt");
    std::string line;
    int checked = 0;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        const std::size_t arrow = line.find(" ->");
        ASSERT_NE(arrow, std::string::npos) << line;
        const Operation operation = parse_operation(line.substr(0, arrow));
        const Record* record = find_record(operation.target);
        ASSERT_NE(record, nullptr) << line;
        const std::string expected = arrow + 4 < line.size() ? line.substr(arrow + 4) : "";
        EXPECT_EQ(text_of(record->outputs(operation)), expected) << line;
        ++checked;
    }
    EXPECT_GT(checked, 300);
}

// Meta tensors do not show it: the CPU's and GPU's libraries keep the layout, attention writes [batch, length, heads].
TEST(Records, KnowTheLayoutThatKernelsGive) {
    const auto output = [](const char* text) {
        const Operation operation = parse_operation(text);
        return text_of(find_record(operation.target)->outputs(operation));
    };
    EXPECT_EQ(output("aten::conv2d(input=f32[2,6,9,9]{cl}, weight=f32[8,6,3,3])"), "f32[2,8,7,7]{cl}");
    EXPECT_EQ(output("aten::conv2d(input=f32[2,6,9,9]{cl}, weight=f32[8,6,9,9])"), "f32[2,8,1,1]");
    EXPECT_EQ(output("aten::scaled_dot_product_attention(query=f32[2,3,9,4], key=f32[2,3,9,4], value=f32[2,3,9,4])"),
              "f32[2,3,9,4]{t}");
}

/// The call with every floating tensor marked.
Operation marked(Operation operation) {
    for (TensorType* tensor : tensors(operation)) tensor->requires_grad = is_floating(tensor->dtype);
    return operation;
}

TEST(Records, CountAndSaveForEveryCall) {
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/graph/records.txt");
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        const Operation operation = marked(parse_operation(line.substr(0, line.find(" ->"))));
        const Record& record = *find_record(operation.target);
        for (const Counts& counts : {forward_counts(operation), backward_counts(operation)}) {
            EXPECT_GE(std::min({counts.flop, counts.other_flop, counts.bytes_read, counts.bytes_written}), 0) << line;
        }
        const auto limit = tensors(operation).size() + record.outputs(operation).size();
        if (record.saved == nullptr) continue;
        for (const std::int32_t index : record.saved(operation)) {
            EXPECT_GE(index, 0) << line;
            EXPECT_LT(static_cast<std::size_t>(index), limit) << line;
        }
    }
}

TEST(Records, AreSortedAndComplete) {
    const auto all = all_records();
    EXPECT_GT(all.size(), 300U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_TRUE(i == 0 || all[i - 1]->target < all[i]->target);
        EXPECT_EQ(find_record(all[i]->target), all[i]);
        EXPECT_NE(all[i]->outputs, nullptr) << all[i]->target;
        EXPECT_NE(all[i]->forward, nullptr) << all[i]->target;
    }
    EXPECT_EQ(find_record("aten::no_such_operation"), nullptr);
}

TEST(Records, WithoutARecordTheBytesOfTheTensorsCount) {
    const Operation operation = parse_operation("my::kernel(x=f32[10], y=i64[3]~)");
    EXPECT_EQ(family(operation), Family::other);
    EXPECT_EQ(forward_counts(operation), (Counts{0, 0, 64, 0}));  // 10 * 4 + 3 * 8
    EXPECT_EQ(backward_counts(operation), (Counts{0, 0, 64, 24}));
}

TEST(Records, TotalIsForwardPlusBackwardAndForwardAloneInInference) {
    const Operation inference = parse_operation("aten::mm(self=f32[4,6], mat2=f32[6,8])");
    EXPECT_EQ(backward_counts(inference), Counts{});
    EXPECT_EQ(total_counts(inference), forward_counts(inference));
    const Operation training = marked(inference);
    EXPECT_EQ(total_counts(training).flop, 3 * forward_counts(training).flop);
}

TEST(Families, NamesReadBack) {
    for (int i = 0; i <= static_cast<int>(Family::other); ++i) {
        EXPECT_EQ(parse_family(name(static_cast<Family>(i))), static_cast<Family>(i));
    }
    EXPECT_EQ(parse_family("nonsense"), std::nullopt);
}

TEST(Families, ACopyThatMovesNothingIsAView) {
    const auto family_of = [](const char* text) { return family(parse_operation(text)); };
    EXPECT_EQ(family_of("aten::reshape(self=f32[2,6], shape=[12])"), Family::view);
    EXPECT_EQ(family_of("aten::reshape(self=f32[2,6]{t}, shape=[12])"), Family::copy);
    EXPECT_EQ(family_of("aten::dropout(input=f32[8], p=0.5, train=false)"), Family::view);
    EXPECT_EQ(family_of("aten::dropout(input=f32[8], p=0.5, train=true)"), Family::elementwise);
    // The gradient of a part is written into the whole.
    EXPECT_EQ(family_of("aten::select.int(self=f32[2,6], dim=0, index=0)"), Family::view);
    EXPECT_EQ(family_of("aten::select.int(self=f32[2,6]~, dim=0, index=0)"), Family::copy);
}

TEST(ArgumentOrDefault, TakesTheSchemasDefault) {
    const Operation operation = parse_operation("aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,3,3], padding=[1,1])");
    EXPECT_EQ(argument_or_default<std::vector<std::int64_t>>(operation, "padding"), (std::vector<std::int64_t>{1, 1}));
    EXPECT_EQ(argument_or_default<std::vector<std::int64_t>>(operation, "stride"), (std::vector<std::int64_t>{1, 1}));
    EXPECT_EQ(argument_or_default<std::int64_t>(operation, "groups"), 1);
    EXPECT_TRUE(std::holds_alternative<None>(argument_or_default<Value>(operation, "bias")));
}

TEST(ArgumentOrDefault, AcceptsIntegersAsFloats) {
    EXPECT_EQ(argument_or_default<double>(parse_operation("aten::elu(self=f32[4], alpha=2)"), "alpha"), 2.0);
}

TEST(ArgumentOrDefault, RefusesMissingAndMistypedArguments) {
    const Operation operation = parse_operation("aten::softmax.int(self=f32[4], dim=\"last\")");
    EXPECT_THROW(argument_or_default<std::int64_t>(operation, "dim"), FormatError);
    EXPECT_THROW(argument_or_default<std::int64_t>(operation, "axis"), FormatError);
}

TEST(Canonical, LeavesOutDefaultsAndKeepsSchemaOrder) {
    EXPECT_EQ(signature(canonical(parse_operation(
                  "aten::conv2d(weight=f32[4,3,3,3], input=f32[1,3,8,8], bias=none, groups=1, stride=[2], padding=[0]"
                  ")"))),
              "aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,3,3], stride=[2,2])");
}

TEST(Canonical, LeavesOutWhatDecidesNoCost) {
    EXPECT_EQ(signature(canonical(parse_operation("aten::arange(end=128, device=\"cpu\", pin_memory=false)"))),
              "aten::arange(end=128)");
}

TEST(Canonical, GivesNumbersTheKindOfTheSchema) {
    EXPECT_EQ(signature(canonical(parse_operation("aten::dropout(input=f32[8], p=0, train=true)"))),
              "aten::dropout(input=f32[8], p=0.0, train=true)");
    EXPECT_EQ(signature(canonical(parse_operation("aten::elu(self=f32[4], alpha=1)"))), "aten::elu(self=f32[4])");
}

TEST(Canonical, RefusesAnArgumentTheSchemaDoesNotHave) {
    try {
        canonical(parse_operation("aten::relu(self=f32[4], slope=0.1)"));
        FAIL() << "an unknown argument was accepted";
    } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("slope"));
    }
}

class Impossible : public ::testing::TestWithParam<const char*> {};

TEST_P(Impossible, IsRefused) {
    const Operation operation = parse_operation(GetParam());
    EXPECT_THROW(find_record(operation.target)->outputs(operation), FormatError);
}

INSTANTIATE_TEST_SUITE_P(
    Records, Impossible,
    ::testing::Values("aten::conv2d(input=f32[1,4,8,8], weight=f32[4,3,3,3])",
                      "aten::conv2d(input=f32[1,3,2,2], weight=f32[4,3,3,3])",
                      "aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,3,3], stride=[0,1])",
                      "aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,3,3], padding=[4611686018427387904,1])",
                      "aten::conv2d(input=f32[1,3,8,8])", "aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3])",
                      "aten::mm(self=f32[2,3], mat2=f32[4,5])", "aten::linear(input=f32[], weight=f32[2,2])",
                      "aten::add.Tensor(self=f32[2,3], other=f32[4])", "aten::view(self=f32[6], size=[-1,4])",
                      "aten::view(self=f32[6], size=[-1,-1])", "aten::view(self=f32[6], size=[0,-1])",
                      "aten::permute(self=f32[2,3], dims=[0,0])", "aten::permute(self=f32[2,3], dims=[0])",
                      "aten::select.int(self=f32[2,3], dim=2, index=0)", "aten::select.int(self=f32[], dim=0, index=0)",
                      "aten::slice.Tensor(self=f32[4], step=0)", "aten::split.Tensor(self=f32[4], split_size=0)",
                      "aten::split.Tensor(self=f32[100000], split_size=1)", "aten::expand(self=f32[2], size=[3])",
                      "aten::cat(tensors=[f32[2,3],f32[2,4]])", "aten::cat(tensors=[])", "aten::arange(end=-1)",
                      "aten::arange(end=nan)", "aten::arange.start_step(start=0, end=1, step=0)",
                      "aten::zeros(size=[-1])", "aten::zeros(size=[4611686018427387904,4])",
                      "aten::pad(self=f32[4], pad=[1])", "aten::pad(self=f32[4], pad=[-3,-3])",
                      "aten::max_pool2d(self=f32[1,1,4,4], kernel_size=[5,5])",
                      "aten::max_pool2d(self=f32[1,1,4,4], kernel_size=[2,2], stride=[0,0])",
                      "aten::index.Tensor(self=f32[4], indices=[bool[4]])",
                      "aten::index.Tensor(self=f32[4], indices=[i64[1],i64[1]])", "aten::embedding(weight=f32[4])",
                      "aten::scaled_dot_product_attention(query=f32[4], key=f32[4], value=f32[4])",
                      "aten::scaled_dot_product_attention(query=f32[], key=f32[], value=f32[])", "aten::relu()"));

}  // namespace
}  // namespace joulecast
