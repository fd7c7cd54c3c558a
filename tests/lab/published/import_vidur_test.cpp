#include "lab/published/import_vidur.h"

#include <gmock/gmock.h>

#include "joulecast/graph/record.h"
#include "tests/dataset/imports.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;
using namespace joulecast::testing;

// All numbers in these tables are made up.
const std::string header =
    "gpu,model,n_head,n_kv_head,n_embd,n_ff,vocab,gated_mlp,tp,num_tokens,emb_ms,input_layernorm_ms,attn_pre_proj_ms,"
    "attn_rope_ms,attn_post_proj_ms,post_attention_layernorm_ms,mlp_up_proj_ms,mlp_act_ms,mlp_down_proj_ms,add_ms\n";
/// Eight heads of 16, two of them for keys and values, over two devices.
const std::string gated = "a40,net,8,2,128,256,1000,True,2,32,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1\n";
const std::string plain = "h100,other,8,8,128,256,1000,False,1,32,0.1,0.2,0.3,0.4,0.5,,0.7,0.8,0.9,1\n";

class ImportVidur : public ImportFolder {
  protected:
    Import take(const std::string& text) { return import_text(&import_vidur, text); }
};

TEST_F(ImportVidur, DividesALayerOverItsDevices) {
    const Import counts = take(header + gated);
    EXPECT_EQ(counts.rows, 10);
    EXPECT_EQ(counts.used, 8);
    EXPECT_THAT(counts.dropped,
                UnorderedElementsAre(Pair(HasSubstr("attn_rope"), 1), Pair(HasSubstr("mlp_act, gated"), 1)));
    // Queries, keys and values: (8 + 2*2) heads of 16 = 192, half of it on each device.
    EXPECT_THAT(times("a40"),
                UnorderedElementsAre(
                    Pair("aten::embedding(weight=f16[500,128], indices=i64[32])", 0.1 * 1e-3),
                    // the two norms are one operation, measured twice: the map keeps the later one
                    Pair("aten::rms_norm(input=f16[32,128], normalized_shape=[128], weight=f16[128])", 0.6 * 1e-3),
                    Pair("aten::linear(input=f16[32,128], weight=f16[96,128])", 0.3 * 1e-3),
                    Pair("aten::linear(input=f16[32,64], weight=f16[128,64])", 0.5 * 1e-3),
                    Pair("aten::linear(input=f16[32,128], weight=f16[256,128])", 0.7 * 1e-3),
                    Pair("aten::linear(input=f16[32,128], weight=f16[128,128])", 0.9 * 1e-3),
                    Pair("aten::add.Tensor(self=f16[32,128], other=f16[32,128])", 1 * 1e-3)));
    EXPECT_EQ(counts.added, 8);
    EXPECT_EQ(stored().operations().at(0).provenance.source, "vidur");
    EXPECT_EQ(stored().operations().at(0).provenance.session, "vidur net tp=2");
}

TEST_F(ImportVidur, TakesALayerWithoutASecondNormForOneBesideItsAttention) {
    const Import counts = take(header + plain);
    EXPECT_EQ(counts.used, 7);
    EXPECT_THAT(counts.dropped, UnorderedElementsAre(Pair(HasSubstr("attn_rope"), 1), Pair("not measured", 1),
                                                     Pair(HasSubstr("add of three"), 1)));
    const auto all = times("h100-sxm");
    EXPECT_TRUE(
        all.contains("aten::layer_norm(input=f16[32,128], normalized_shape=[128], weight=f16[128], bias=f16[128])"));
    EXPECT_TRUE(all.contains("aten::gelu(self=f16[32,256])"));
    EXPECT_TRUE(all.contains("aten::linear(input=f16[32,128], weight=f16[384,128])"));  // three times eight heads of 16
    EXPECT_TRUE(all.contains("aten::linear(input=f16[32,128], weight=f16[256,128])"));
}

TEST_F(ImportVidur, AddsNothingWhenReadAgain) {
    EXPECT_EQ(take(header + gated + plain).added, 15);
    EXPECT_EQ(take(header + gated + plain).added, 0);
}

TEST_F(ImportVidur, RefusesAndCountsWhatCannotBe) {
    const auto changed = [](const std::string& from, const std::string& to) {
        std::string row = gated;
        return header + row.replace(row.find(from), from.size(), to);
    };
    const auto refused = [&](const std::string& text) { return rejected(&import_vidur, text); };
    EXPECT_THAT(refused(changed("0.3", "nan")), HasSubstr("t.csv:2: attn_pre_proj_ms 'nan' is no finite number"));
    EXPECT_THAT(refused(changed("0.3", "-0.3")), HasSubstr("t.csv:2: attn_pre_proj_ms is negative"));
    EXPECT_THAT(refused(changed("256", "-256")), HasSubstr("t.csv:2: n_ff '-256'"));
    EXPECT_THAT(refused(changed("256", "33554432")), HasSubstr("t.csv:2: n_ff is above 2^24"));
    EXPECT_THAT(refused(changed("True", "yes")), HasSubstr("t.csv:2: gated_mlp is neither True nor False"));
    EXPECT_THAT(refused("gpu,model\n"), HasSubstr("t.csv:1: the header lacks the column n_head"));
    EXPECT_EQ(take(changed("0.3", "0")).dropped.at("a time of zero: shorter than the table resolves"), 1);
    EXPECT_EQ(take(changed("8,2,128", "7,2,128")).dropped.at("sizes that the tensor parallel degree does not divide"),
              10);
}

TEST_F(ImportVidur, AccountsForEveryNumberOfThePublishedTable) {
    const auto path = published_table("vidur_llm_ops/mlp_ops_median_ms.csv");
    if (path.empty()) GTEST_SKIP() << "JOULECAST_DATA is not set: no published tables";
    const std::string text = sampled_lines(path, 40);
    const Import counts = take(text);
    EXPECT_EQ(counts.rows, 10 * rows_of(text));
    EXPECT_EQ(counts.rows, counts.used + dropped(counts));
    EXPECT_EQ(counts.added, counts.used);
    EXPECT_TRUE(counts.unknown_columns.empty() && counts.dropped_columns.empty());
    for (const OperationRow& row : stored().operations()) {
        const Operation& operation = row.measurement.operation;
        if (operation.target != "aten::linear") continue;
        const auto all = tensors(operation);  // tokens x in, out x in
        EXPECT_EQ(forward_counts(operation).flop, 2 * all[0]->sizes.at(0) * all[1]->sizes.at(0) * all[1]->sizes.at(1));
    }
}

}  // namespace
}  // namespace joulecast
