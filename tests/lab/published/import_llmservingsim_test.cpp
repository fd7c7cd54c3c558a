#include "lab/published/import_llmservingsim.h"

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
    "profile,kind,layer,tokens,sequences,activated_experts,prefill_chunk,kv_prefill,n_decode,kv_decode,time_us\n";
const std::string llama = "RTXPRO6000/Llama-3.1-8B/tp2,";
const std::string older = "gpu,model,tp,layer,tokens,latency_us\n";

class ImportLlmServingSim : public ImportFolder {
  protected:
    Import take(const std::string& text) { return import_text(&import_llmservingsim, text); }
    std::string refused(const std::string& text) { return rejected(&import_llmservingsim, text); }
};

TEST_F(ImportLlmServingSim, DividesTheLayersOfAModelOverItsDevices) {
    const Import counts = take(header + llama + "dense,qkv_proj,16,,,,,,,40\n" + llama + "dense,o_proj,16,,,,,,,20\n" +
                               llama + "dense,gate_up_proj,16,,,,,,,80\n" + llama + "dense,down_proj,16,,,,,,,50\n" +
                               llama + "per_sequence,lm_head,,3,,,,,,700\n");
    EXPECT_EQ(counts.rows, 5);
    EXPECT_EQ(counts.added, 5);
    // Of 32 heads and 8 of keys and of values, 128 each, a half; of 14336 and of 128256 words, too.
    EXPECT_THAT(times("rtx-pro-6000"),
                UnorderedElementsAre(Pair("aten::linear(input=bf16[16,4096], weight=bf16[3072,4096])", 40 * 1e-6),
                                     Pair("aten::linear(input=bf16[16,2048], weight=bf16[4096,2048])", 20 * 1e-6),
                                     Pair("aten::linear(input=bf16[16,4096], weight=bf16[14336,4096])", 80 * 1e-6),
                                     Pair("aten::linear(input=bf16[16,7168], weight=bf16[4096,7168])", 50 * 1e-6),
                                     Pair("aten::linear(input=bf16[3,4096], weight=bf16[64128,4096])", 700 * 1e-6)));
    const OperationRow row = stored().operations().at(0);
    EXPECT_EQ(row.measurement.real.host, Host::graph) << "kernels alone";
    EXPECT_EQ(row.measurement.real.engine, "vllm");
    EXPECT_EQ(row.provenance.source, "llmservingsim");
    EXPECT_EQ(row.provenance.session, "llmservingsim RTXPRO6000 Llama-3.1-8B tp=2 vllm 0.19");
}

TEST_F(ImportLlmServingSim, TakesAPromptOrStepsOfSomeSequencesForAttention) {
    const std::string attention = "RTXPRO6000/Llama-3.1-8B/tp1,attention,,,,,";
    const Import counts = take(header + attention + "64,0,0,0,10\n" + attention + "0,0,8,512,30\n" + attention +
                               "64,512,0,0,10\n" + attention + "64,0,8,512,10\n" + attention + "0,0,0,0,10\n");
    EXPECT_THAT(counts.dropped,
                UnorderedElementsAre(Pair(HasSubstr("prompt behind earlier tokens"), 1),
                                     Pair("prompt and generation in one kernel", 1), Pair("attention of nothing", 1)));
    EXPECT_THAT(times("rtx-pro-6000"),
                UnorderedElementsAre(
                    Pair("aten::scaled_dot_product_attention(query=bf16[1,32,64,128]{262144,128,4096,1}, "
                         "key=bf16[1,8,64,128]{65536,128,1024,1}, value=bf16[1,8,64,128]{65536,128,1024,1}, "
                         "is_causal=true, enable_gqa=true)",
                         10 * 1e-6),
                    Pair("aten::scaled_dot_product_attention(query=bf16[8,32,1,128], "
                         "key=bf16[8,8,512,128]{524288,128,1024,1}, value=bf16[8,8,512,128]{524288,128,1024,1}, "
                         "enable_gqa=true)",
                         30 * 1e-6)));
}

TEST_F(ImportLlmServingSim, ReadsTheOlderFormWithOneWeightForEachProjection) {
    const Import counts =
        take(older + "H100,meta-llama/Llama-3.1-70B,4,q_proj,32,20\n" +
             "H100,meta-llama/Llama-3.1-70B,4,k_proj,32,10\n" + "H100,meta-llama/Llama-3.1-70B,4,up_proj,32,30\n" +
             "H100,meta-llama/Llama-3.1-70B,4,rope,32,30\n" + "A6000,mistralai/Mixtral-8x7B-v0.1,1,up_proj,32,30\n");
    EXPECT_THAT(counts.dropped, UnorderedElementsAre(Pair("rope: no single ATen operation", 1),
                                                     Pair("up_proj of a model that has experts only", 1)));
    EXPECT_THAT(times("h100-sxm"),
                UnorderedElementsAre(Pair("aten::linear(input=bf16[32,8192], weight=bf16[2048,8192])", 20 * 1e-6),
                                     Pair("aten::linear(input=bf16[32,8192], weight=bf16[256,8192])", 10 * 1e-6),
                                     Pair("aten::linear(input=bf16[32,8192], weight=bf16[7168,8192])", 30 * 1e-6)));
    EXPECT_EQ(stored().operations().at(0).measurement.real.engine, "torch");
}

TEST_F(ImportLlmServingSim, AddsNothingWhenReadAgain) {
    const std::string text = header + llama + "dense,qkv_proj,16,,,,,,,40\n";
    EXPECT_EQ(take(text).added, 1);
    EXPECT_EQ(take(text).added, 0);
}

TEST_F(ImportLlmServingSim, RefusesAndCountsWhatCannotBe) {
    const auto row = [](const std::string& profile, const std::string& cells) { return header + profile + cells; };
    const std::string product = "dense,qkv_proj,16,,,,,,,40\n";
    EXPECT_THAT(refused(row("RTXPRO6000,", product)), HasSubstr("t.csv:2: profile 'RTXPRO6000' is not GPU/MODEL/tpN"));
    EXPECT_THAT(refused(row("A/B/tpX,", product)), HasSubstr("t.csv:2: profile 'A/B/tpX' does not end in /tpN"));
    EXPECT_THAT(refused(row("A/B/tp0,", product)), HasSubstr("does not end in /tpN"));
    EXPECT_THAT(refused(row(llama, "dense,qkv_proj,-1,,,,,,,40\n")), HasSubstr("t.csv:2: tokens '-1'"));
    EXPECT_THAT(refused(row(llama, "dense,qkv_proj,16,,,,,,,0\n")), HasSubstr("t.csv:2: time_us"));
    EXPECT_THAT(refused("gpu,model\n"), HasSubstr("no table of LLMServingSim that is known"));
    EXPECT_THAT(refused("gpu,model,median_us\n"), HasSubstr("older attention profiles are not read"));
    EXPECT_EQ(take(row("A100/Some-LLM/tp1,", product)).dropped.at("model Some-LLM: its sizes are not known"), 1);
    EXPECT_EQ(take(row("RTXPRO6000/Llama-3.1-8B/tp3,", product))
                  .dropped.at("sizes that the tensor parallel degree does not divide"),
              1);
    EXPECT_EQ(take(row(llama, "moe,,16,,2,,,,,40\n")).dropped.at("moe: kernels of experts, no ATen operation"), 1);
    EXPECT_THAT(take(row("NOGPU/Llama-3.1-8B/tp1,", product)).dropped, ElementsAre(Pair(HasSubstr("NOGPU"), 1)));
}

TEST_F(ImportLlmServingSim, AccountsForEveryRowOfThePublishedTables) {
    for (const char* table : {"ops_vllm_0.19.csv", "ops_torch_profiler_v0.csv"}) {
        const auto path = published_table(std::string("llmservingsim_vllm/") + table);
        if (path.empty()) GTEST_SKIP() << "JOULECAST_DATA is not set: no published tables";
        const std::string text = sampled_lines(path, 40);
        const Import counts = take(text);
        EXPECT_EQ(counts.rows, rows_of(text)) << table;
        EXPECT_EQ(counts.rows, counts.used + dropped(counts)) << table;
        EXPECT_GT(counts.used, 10) << table;
        EXPECT_TRUE(counts.unknown_columns.empty()) << table;
    }
}

}  // namespace
}  // namespace joulecast
