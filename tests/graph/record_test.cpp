#include "joulecast/graph/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <set>

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

/// A line of records.txt: a call, what torch gives out, and the FLOPs that its counter sees.
struct Call {
    std::string line;
    Operation operation;
    std::string outputs;
    std::int64_t flop = 0;
};

std::vector<Call> calls() {
    std::ifstream file(JOULECAST_SOURCE_DIR "/tests/graph/records.txt");
    std::vector<Call> found;
    std::string line;
    while (std::getline(file, line)) {
        if (line.empty() || line[0] == '#') continue;
        constexpr std::string_view flop_mark = " | flop ";
        const std::size_t arrow = line.rfind(" ->");  // an equation may hold one too
        const std::size_t mark = std::min(line.find(flop_mark), line.size());
        Call call{line, parse_operation(line.substr(0, arrow)), "", 0};
        if (arrow + 4 < mark) call.outputs = line.substr(arrow + 4, mark - arrow - 4);
        if (mark < line.size()) call.flop = std::stoll(line.substr(mark + flop_mark.size()));
        found.push_back(std::move(call));
    }
    return found;
}

/// Without "{t}" and the like.
std::string without_layout(std::string text) {
    while (true) {
        const std::size_t open = text.find('{');
        if (open == std::string::npos) return text;
        text.erase(open, text.find('}', open) + 1 - open);
    }
}

/// Their order in memory is the library's choice: other on meta tensors than on a device.
bool library_orders(const Operation& operation) {
    const Family f = family(operation);
    return f == Family::attention || f == Family::other || f == Family::matmul;
}

TEST(Records, GiveTheOutputsThatTorchGives) {
    for (const auto& [line, operation, outputs, flop] : calls()) {
        const Record* record = find_record(operation.target);
        ASSERT_NE(record, nullptr) << line;
        if (outputs == "?") {  // how much comes out depends on the values
            EXPECT_THROW(record->outputs(operation), FormatError) << line;
            EXPECT_GT(forward_counts(operation).bytes_read, 0) << line;
            continue;
        }
        try {
            const std::string given = text_of(record->outputs(operation));
            if (library_orders(operation)) {
                EXPECT_EQ(without_layout(given), without_layout(outputs)) << line;
            } else {
                EXPECT_EQ(given, outputs) << line;
            }
        } catch (const FormatError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(Records, CountTheFlopsThatTorchCounts) {
    // Products that torch 2.13's counter has no entry for: those with a vector, in place, and what the CPU fuses.
    const std::set<std::string_view> may_be_unseen{"aten::mv",
                                                   "aten::dot",
                                                   "aten::addmv",
                                                   "aten::matmul",
                                                   "aten::linalg_matmul",
                                                   "aten::inner",
                                                   "aten::addmm_",
                                                   "aten::baddbmm_",
                                                   "aten::addbmm",
                                                   "aten::addbmm_",
                                                   "aten::_grouped_mm",
                                                   "aten::_int_mm",
                                                   "aten::lstm.data",
                                                   "aten::_scaled_dot_product_fused_attention_overrideable",
                                                   "aten::_scaled_dot_product_flash_attention_for_cpu",
                                                   "aten::_scaled_dot_product_flash_attention_for_cpu_backward"};
    for (const auto& [line, operation, outputs, flop] : calls()) {
        if (flop == 0 && may_be_unseen.contains(operation.target)) continue;
        try {
            EXPECT_EQ(forward_counts(operation).flop, flop) << line;
        } catch (const FormatError& error) {
            ADD_FAILURE() << error.what();
        }
    }
}

TEST(Records, HaveACallEach) {
    std::set<std::string_view> called;
    const std::vector<Call> all = calls();
    for (const Call& call : all) called.insert(call.operation.target);
    for (const Record* record : all_records()) {
        const bool has_schema_of_torch =
            record->target.starts_with("aten::") || record->target.starts_with("quantized_decomposed::");
        EXPECT_TRUE(!has_schema_of_torch || called.contains(record->target)) << record->target;
    }
}

// Meta tensors do not show it: the CPU's and GPU's libraries keep the layout, attention writes in the query's order.
TEST(Records, KnowTheLayoutThatKernelsGive) {
    const auto output = [](const char* text) {
        const Operation operation = parse_operation(text);
        return text_of(find_record(operation.target)->outputs(operation));
    };
    EXPECT_EQ(output("aten::conv2d(input=f32[2,6,9,9]{cl}, weight=f32[8,6,3,3])"), "f32[2,8,7,7]{cl}");
    EXPECT_EQ(output("aten::conv2d(input=f32[2,6,9,9]{cl}, weight=f32[8,6,9,9])"), "f32[2,8,1,1]");
    EXPECT_EQ(output("aten::scaled_dot_product_attention(query=f32[2,3,9,4]{108,4,12,1}, key=f32[2,3,9,4], "
                     "value=f32[2,3,9,4])"),
              "f32[2,3,9,4]{108,4,12,1}");
}

/// The call with every floating tensor marked.
Operation marked(Operation operation) {
    for (TensorType* tensor : tensors(operation)) tensor->requires_grad = is_floating(tensor->dtype);
    return operation;
}

TEST(Records, CountAndSaveForEveryCall) {
    for (const auto& [line, unmarked, outputs, flop] : calls()) {
        const Operation operation = marked(unmarked);
        const Record& record = *find_record(operation.target);
        for (const Counts& counts : {forward_counts(operation), backward_counts(operation)}) {
            EXPECT_GE(std::min({counts.flop, counts.other_flop, counts.bytes_read, counts.bytes_written}), 0) << line;
        }
        if (record.hidden_bytes != nullptr) {
            EXPECT_GE(record.hidden_bytes(operation), 0) << line;
        }
        if (outputs == "?") continue;
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
    EXPECT_EQ(family_of("aten::reshape(self=f32[2,6]{1,2}, shape=[12])"), Family::copy);
    EXPECT_EQ(family_of("aten::dropout(input=f32[8], p=0.5, train=false)"), Family::view);
    EXPECT_EQ(family_of("aten::dropout(input=f32[8], p=0.5, train=true)"), Family::elementwise);
    // The gradient of a part is written into the whole.
    EXPECT_EQ(family_of("aten::select.int(self=f32[2,6], dim=0, index=0)"), Family::view);
    EXPECT_EQ(family_of("aten::select.int(self=f32[2,6]~, dim=0, index=0)"), Family::copy);
}

TEST(ArgumentOrDefault, TakesTheSchemasDefault) {
    const Operation operation = parse_operation("aten::conv2d(input=f32[1,3,8,8], weight=f32[4,3,3,3], padding=[1,1])");
    EXPECT_EQ(argument_or_default<Integers>(operation, "padding"), (Integers{1, 1}));
    EXPECT_EQ(argument_or_default<Integers>(operation, "stride"), (Integers{1, 1}));
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

/// Numbers, sizes and lists that no call has; each must be refused or give counts that are not negative.
std::vector<Operation> distorted(const Operation& operation) {
    constexpr std::array<std::int64_t, 8> numbers{-1, 0, -4, 1 << 20, INT64_C(1) << 62, INT64_MAX, INT64_MIN, 4095};
    std::vector<Operation> found;
    const auto with = [&](std::size_t argument, Value value) {
        found.push_back(operation);
        found.back().arguments[argument].value = std::move(value);
    };
    for (std::size_t i = 0; i < operation.arguments.size(); ++i) {
        const Value& value = operation.arguments[i].value;
        with(i, None{});
        for (const std::int64_t number : numbers) {
            if (std::holds_alternative<std::int64_t>(value)) with(i, number);
            if (std::holds_alternative<double>(value)) with(i, static_cast<double>(number));
            if (const auto* list = std::get_if<Integers>(&value)) {
                Integers changed = *list;
                if (!changed.empty()) changed.back() = number;
                with(i, changed);
                changed.push_back(number);
                with(i, changed);
                with(i, Integers{});
            }
            if (const auto* reals = std::get_if<std::vector<double>>(&value)) {
                with(i, std::vector<double>(reals->size(), static_cast<double>(number)));
            }
        }
    }
    const std::size_t count = tensors(operation).size();
    const auto with_sizes = [&](std::size_t tensor, Integers sizes) {
        found.push_back(operation);
        tensors(found.back())[tensor]->sizes = std::move(sizes);
    };
    for (std::size_t t = 0; t < count; ++t) {
        const Integers sizes = tensors(operation)[t]->sizes;
        for (std::size_t d = 0; d < sizes.size(); ++d) {
            for (const std::int64_t number : numbers) {
                Integers changed = sizes;
                changed[d] = number;
                with_sizes(t, changed);
            }
        }
        Integers longer = sizes;
        longer.push_back(3);
        with_sizes(t, longer);
        with_sizes(t, {});
        with_sizes(t, Integers(70, 2));
    }
    return found;
}

// Guards against overflow, access outside of lists and division by zero: run with the sanitizers in ./check.
TEST(Records, RefuseOrCountWhateverTheyAreAsked) {
    std::size_t refused = 0;
    for (const Call& call : calls()) {
        const Record& record = *find_record(call.operation.target);
        for (const Operation& operation : distorted(marked(call.operation))) {
            try {
                const Counts counts = total_counts(operation);
                EXPECT_GE(std::min({counts.flop, counts.other_flop, counts.bytes_read, counts.bytes_written}), 0)
                    << signature(operation);
                if (record.hidden_bytes != nullptr) record.hidden_bytes(operation);
                if (record.saved != nullptr) record.saved(operation);
                for (const TensorType& output : record.outputs(operation)) byte_count(output);
            } catch (const FormatError&) {
                ++refused;
            }
        }
    }
    EXPECT_GT(refused, 1000U);
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
