#include "lab/published/import_aiconfigurator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "joulecast/dataset/unpack.h"
#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "tests/dataset/imports.h"
#include "tests/dataset/packed.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// All rows here are made up.
const std::string gemm_header = "gpu,backend,version,dtype,m,n,k,latency_ms";
const std::string power_columns = ",power_w,power_limit_w,power_quality\n";
const std::string attention_header =
    "gpu,backend,version,phase,attn_dtype,kv_dtype,batch,seqlen,step,n_heads,n_"
    "kv_heads,head_dim,window,latency_ms";

class ImportAiconfigurator : public testing::ImportFolder {
  protected:
    Import import(const std::string& text) { return import_text(&import_aiconfigurator, text); }
    std::string refusal(const std::string& text) { return rejected(&import_aiconfigurator, text); }
    std::string signature_of(const std::string& text) {
        import(text);
        const auto rows = stored().operations();
        return rows.empty() ? "" : signature(rows.back().measurement.operation);
    }
};

TEST_F(ImportAiconfigurator, AMatrixProductIsALinearLayerWithTokensInFront) {
    const Import counts = import(gemm_header + "\nH200,vllm,9.9,bfloat16,7,64,32,0.5\n");
    EXPECT_EQ(counts.rows, 1);
    EXPECT_EQ(counts.used, 1);
    EXPECT_EQ(counts.added, 1);
    const auto rows = stored().operations();
    ASSERT_EQ(rows.size(), 1u);
    const Measurement& m = rows[0].measurement;
    EXPECT_EQ(signature(m.operation), "aten::linear(input=bf16[7,32], weight=bf16[64,32])");
    EXPECT_EQ(total_counts(m.operation).flop, 2 * 7 * 64 * 32);
    EXPECT_EQ(m.asked.device, "h200");
    EXPECT_EQ(m.asked.host, Host::graph);
    EXPECT_DOUBLE_EQ(m.time.mean_s, 0.5e-3);
    EXPECT_TRUE(std::isnan(m.asked.power_limit_w));
    EXPECT_TRUE(std::isnan(m.real.sm_clock_mhz));
    EXPECT_FALSE(m.energy);
    EXPECT_EQ(m.energy_missing_reason, "the table tells no power");
    EXPECT_EQ(rows[0].provenance.source, "aiconfigurator");
    EXPECT_EQ(rows[0].provenance.framework, "vllm 9.9");
}

TEST_F(ImportAiconfigurator, EnergyIsPowerTimesTimeAndOnlyGoodRowsAreAboveSuspicion) {
    const Import counts = import(gemm_header + power_columns +
                                 "H200,vllm,9.9,bfloat16,7,64,32,0.5,600,700,good\n"
                                 "H200,vllm,9.9,bfloat16,8,64,32,0.2,500,700,fair\n"
                                 "H200,vllm,9.9,bfloat16,9,64,32,0.05,300,700,rough\n"
                                 "H200,vllm,9.9,bfloat16,10,64,32,0.05,,700,rough\n");
    EXPECT_EQ(counts.used, 4);
    const auto rows = stored().operations();
    ASSERT_EQ(rows.size(), 4u);
    ASSERT_TRUE(rows[0].measurement.energy);
    EXPECT_DOUBLE_EQ(rows[0].measurement.energy->power_w, 600);
    EXPECT_DOUBLE_EQ(rows[0].measurement.energy->energy_j, 0.3);  // 600 W x 0.5 ms
    EXPECT_DOUBLE_EQ(rows[0].measurement.asked.power_limit_w, 700);
    EXPECT_DOUBLE_EQ(rows[0].measurement.real.power_limit_w, 700);
    EXPECT_FALSE(rows[0].measurement.energy->suspect);
    EXPECT_EQ(rows[0].measurement.message, "");
    EXPECT_TRUE(rows[1].measurement.energy->suspect);
    EXPECT_EQ(rows[1].measurement.message, "power_quality fair");
    EXPECT_TRUE(rows[2].measurement.energy->suspect);
    EXPECT_FALSE(rows[3].measurement.energy);
}

TEST_F(ImportAiconfigurator, Fp8IsTheProductOfAForecastInFp8AndOtherTypesAreNamed) {
    const Import counts = import(gemm_header +
                                 "\nB200,trtllm,1,fp8,7,64,32,0.5\nB200,trtllm,1,fp8,7,60,32,0.5\n"
                                 "B200,trtllm,1,nvfp4,7,64,32,0.5\n");
    EXPECT_EQ(counts.rows, 3);
    EXPECT_EQ(counts.used, 1);
    EXPECT_THAT(counts.dropped, ElementsAre(Pair("dtype nvfp4: no tensor type of ours", 1),
                                            Pair("fp8 with n or k no multiple of 16", 1)));
    const Measurement m = stored().operations().at(0).measurement;
    EXPECT_EQ(signature(m.operation),
              "aten::_scaled_mm(self=f8e4m3fn[7,32], mat2=f8e4m3fn[32,64]{1,32}, "
              "scale_a=f32[], scale_b=f32[], "
              "out_dtype=bf16, use_fast_accum=true)");
    EXPECT_EQ(total_counts(m.operation).flop, 2 * 7 * 64 * 32);
    EXPECT_EQ(m.message, "with the quantisation of the activation");
}

TEST_F(ImportAiconfigurator, ContextIsCausalAttentionOfTheWholePrompt) {
    EXPECT_EQ(signature_of(attention_header + "\nA100-SXM,sglang,1,context,bfloat16,bfloat16,2,16,0,8,8,64,,0.1\n"),
              "aten::scaled_dot_product_attention(query=bf16[2,8,16,64]{8192,64,512,1},"
              " "
              "key=bf16[2,8,16,64]{8192,64,512,1}, "
              "value=bf16[2,8,16,64]{8192,64,512,1}, is_causal=true)");
    EXPECT_EQ(stored().operations().at(0).measurement.asked.device, "a100-80g-sxm");
    // Two products, 2 x 16 x 16 x 64 each, for 2 x 8 heads.
    EXPECT_EQ(total_counts(stored().operations().at(0).measurement.operation).flop, 2 * 2 * 16 * 16 * 64 * 16);
}

TEST_F(ImportAiconfigurator, FewerHeadsOfKeysAreGroupedQueries) {
    EXPECT_THAT(signature_of(attention_header + "\nB200,vllm,1,context,bfloat16,bfloat16,2,16,0,8,2,64,0,0.1\n"),
                HasSubstr("key=bf16[2,2,16,64]{2048,64,128,1}, "
                          "value=bf16[2,2,16,64]{2048,64,128,1}, is_causal=true, "
                          "enable_gqa=true)"));
}

TEST_F(ImportAiconfigurator, GenerationIsOneTokenThatSeesAllBeforeItAndItself) {
    EXPECT_EQ(signature_of(attention_header + "\nB200,vllm,1,generation,bfloat16,bfloat16,4,1,127,8,8,64,0,0.1\n"),
              "aten::scaled_dot_product_attention(query=bf16[4,8,1,64], "
              "key=bf16[4,8,128,64]{65536,64,512,1}, "
              "value=bf16[4,8,128,64]{65536,64,512,1})");
}

TEST_F(ImportAiconfigurator, EncodersAttendInBothDirections) {
    EXPECT_EQ(signature_of("gpu,backend,version,dtype,batch,seqlen,n_heads,head_dim,latency_ms" + power_columns +
                           "B200,vllm,1,bfloat16,2,16,8,64,0.4,900,1000,good\n"),
              "aten::scaled_dot_product_attention(query=bf16[2,8,16,64]{8192,64,512,1},"
              " "
              "key=bf16[2,8,16,64]{8192,64,512,1}, "
              "value=bf16[2,8,16,64]{8192,64,512,1})");
}

TEST_F(ImportAiconfigurator, WhatAtenHasNoFormForIsCountedByReason) {
    const std::string row = "\nB200,vllm,1,";
    const Import counts = import(
        attention_header + row + "context,bfloat16,fp8,2,16,0,8,8,64,0,0.1" + row +
        "context,bfloat16,bfloat16,2,16,0,8,8,64,128,0.1" + row + "context,bfloat16,bfloat16,2,16,32,8,8,64,0,0.1" +
        row + "context,fp8,fp8,2,16,0,8,8,64,0,0.1" + row + "generation,bfloat16,bfloat16,2,4,16,8,8,64,0,0.1\n");
    EXPECT_EQ(counts.rows, 5);
    EXPECT_EQ(counts.used, 0);
    EXPECT_THAT(counts.dropped,
                UnorderedElementsAre(Pair("keys and values in fp8: torch's attention takes one type", 1),
                                     Pair("sliding window: no argument of torch's attention", 1),
                                     Pair("context behind earlier tokens: torch's causal flag differs", 1),
                                     Pair("attention in fp8", 1), Pair("generation of several tokens at once", 1)));
    EXPECT_TRUE(stored().operations().empty());
}

TEST_F(ImportAiconfigurator, GzipComesInAsTheTextDoesAndASecondTimeAddsNothing) {
    const std::string text = gemm_header + "\nL40S,vllm,1,bfloat16,7,64,32,0.5\n";
    EXPECT_EQ(import(testing::gzip(text)).added, 1);
    const Import again = import(text);
    EXPECT_EQ(again.used, 1);
    EXPECT_EQ(again.added, 0);
}

TEST_F(ImportAiconfigurator, TheSameShapeFromAnotherEngineIsAnotherMeasurement) {
    const Import counts = import(gemm_header +
                                 "\nB200,vllm,1,bfloat16,7,64,32,0.5\nB200,trtllm,1,bfloat16,7,64,32,0.4\n"
                                 "B200,vllm,2,bfloat16,7,64,32,0.3\n");
    EXPECT_EQ(counts.added, 3);
}

TEST_F(ImportAiconfigurator, DevicesWithoutADataSheetAreCountedByName) {
    const Import counts = import(gemm_header +
                                 "\nXPU-1,vllm,1,bfloat16,7,64,32,0.5\nL40S,vllm,1,"
                                 "bfloat16,7,64,32,0.5\n");
    EXPECT_EQ(counts.used, 1);
    ASSERT_EQ(counts.dropped.size(), 1u);
    EXPECT_THAT(counts.dropped.begin()->first, HasSubstr("device 'XPU-1' has no data sheet"));
}

TEST_F(ImportAiconfigurator, AllShapesOfAnEngineAreOfOneSessionAndARepeatIsOfItsOwn) {
    const Import counts = import(gemm_header +
                                 "\nB200,vllm,1,bfloat16,7,64,32,0.5\nB200,vllm,1,bfloat16,8,64,32,0.4\n"
                                 "B200,vllm,1,bfloat16,7,64,32,0.3\n");
    EXPECT_EQ(counts.added, 3);
    const auto rows = stored().operations();
    EXPECT_EQ(rows.at(0).provenance.session, "aiconfigurator gemm_latency b200 vllm 1");
    EXPECT_EQ(rows.at(1).provenance.session, rows.at(0).provenance.session);
    EXPECT_EQ(rows.at(2).provenance.session, "aiconfigurator gemm_latency b200 vllm 1 repeat 2");
}

TEST_F(ImportAiconfigurator, HostileTablesAreRefusedAtTheirLineAndNothingIsStored) {
    const std::string good = gemm_header + power_columns + "B200,vllm,1,bfloat16,7,64,32,0.5,600,1000,good\n";
    const auto second = [&](const std::string& row) { return refusal(good + row + "\n"); };
    EXPECT_THAT(second("B200,vllm,1,bfloat16,7,64,32,nan,600,1000,good"), HasSubstr("t.csv:3: latency_ms 'nan'"));
    EXPECT_THAT(second("B200,vllm,1,bfloat16,7,64,32,-1,600,1000,good"), HasSubstr("not above zero"));
    EXPECT_THAT(second("B200,vllm,1,nvfp4,7,64,32,0,600,1000,good"), HasSubstr("not above zero"));
    EXPECT_THAT(second("B200,vllm,1,bfloat16,7,64,32,0.5,-600,1000,good"), HasSubstr("power_w '-600'"));
    EXPECT_THAT(second("B200,vllm,1,bfloat16,7,64,32,0.5,600,1000,fine"), HasSubstr("power_quality is 'fine'"));
    EXPECT_THAT(second("B200,vllm,1,bfloat16,0,64,32,0.5,600,1000,good"), HasSubstr("m '0' is no whole number"));
    EXPECT_THAT(second("B200,vllm,1,bfloat16,1e3,64,32,0.5,600,1000,good"), HasSubstr("m '1e3' is no whole number"));
    EXPECT_THAT(second("B200,vllm,1,bfloat16,1099511627776,1099511627776,"
                       "1099511627776,0.5,600,1000,good"),
                HasSubstr("t.csv:3: "));
    EXPECT_THAT(second("\"B200,vllm,1,bfloat16,7,64,32,0.5,600,1000,good"), HasSubstr("not closed"));
    EXPECT_THAT(refusal(testing::gzip(good).substr(0, 60)), HasSubstr("cut off"));
    EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("no table of AIConfigurator"));
    EXPECT_THAT(refusal("gpu,backend,version,dtype,m,n,latency_ms\n"), HasSubstr("lacks the column k"));
    EXPECT_THAT(refusal(attention_header + "\nB200,v,1,context,bfloat16,bfloat16,1099511627776,1099511627776,0,"
                                           "1099511627776,1,64,0,0.1\n"),
                HasSubstr("t.csv:2: "));
    EXPECT_THAT(refusal(attention_header + "\nB200,v,1,context,bfloat16,bfloat16,1,8,0,8,3,64,0,0.1\n"),
                HasSubstr("no multiple of n_kv_heads"));
    EXPECT_TRUE(stored().operations().empty());
}

/// A sample of the real tables, read a second time by hand.
class ImportAiconfiguratorData : public ImportAiconfigurator {
  protected:
    /// Header and every 499th line; empty where the table is not there.
    std::vector<std::vector<std::string>> sample(const std::string& table) {
        const auto path = testing::published_table("aiconfigurator/" + table);
        if (path.empty()) return {};
        std::ifstream packed(path, std::ios::binary);
        std::istringstream text(read_unpacked(packed, table));
        std::vector<std::vector<std::string>> rows;
        std::string line;
        for (std::int64_t i = 0; std::getline(text, line); ++i) {
            if (i % 499 != 0) continue;
            if (line.ends_with('\r')) line.pop_back();
            sampled += line + "\n";
            rows.emplace_back();
            std::istringstream fields(line);
            for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
        }
        return rows;
    }
    void expect_all_accounted_for(const Import& counts, std::size_t lines) const {
        EXPECT_EQ(counts.rows, static_cast<std::int64_t>(lines) - 1);  // the header
        EXPECT_EQ(counts.used + testing::dropped(counts), counts.rows);
        EXPECT_EQ(counts.added, counts.used);
        EXPECT_TRUE(counts.unknown_columns.empty());
        EXPECT_TRUE(counts.dropped_columns.empty());
    }

    std::string sampled;
};

TEST_F(ImportAiconfiguratorData, MatrixProductsKeepTheirWorkTimeAndPower) {
    const auto lines = sample("gemm_with_power.csv.gz");
    if (lines.empty()) GTEST_SKIP() << "JOULECAST_DATA is unset or has no table aiconfigurator/gemm_with_power.csv.gz";
    expect_all_accounted_for(import(sampled), lines.size());
    const auto rows = stored().operations();
    std::size_t at = 0;
    // gpu,backend,version,dtype,m,n,k,latency_ms,power_w,power_limit_w,power_quality
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto& line = lines[i];
        if (line[3] == "nvfp4") continue;
        const Measurement& m = rows.at(at++).measurement;
        EXPECT_EQ(total_counts(m.operation).flop, 2 * std::stoll(line[4]) * std::stoll(line[5]) * std::stoll(line[6]));
        const double time_s = std::stod(line[7]) / 1000;
        EXPECT_DOUBLE_EQ(m.time.mean_s, time_s);
        EXPECT_EQ(m.energy->power_w, std::stod(line[8]));
        EXPECT_DOUBLE_EQ(m.energy->energy_j, std::stod(line[8]) * time_s);
        EXPECT_EQ(m.asked.power_limit_w, std::stod(line[9]));
        EXPECT_EQ(m.energy->suspect, line[10] != "good");
    }
    EXPECT_EQ(at, rows.size());
}

TEST_F(ImportAiconfiguratorData, AttentionKeepsItsWorkAndTime) {
    const auto lines = sample("attention_latency.csv.gz");
    if (lines.empty())
        GTEST_SKIP() << "JOULECAST_DATA is unset or has no table aiconfigurator/attention_latency.csv.gz";
    expect_all_accounted_for(import(sampled), lines.size());
    const auto rows = stored().operations();
    ASSERT_EQ(rows.size(), lines.size() - 1);
    // gpu,backend,version,phase,attn_dtype,kv_dtype,batch,seqlen,step,n_heads,n_kv_heads,head_dim,window,latency_ms
    for (std::size_t i = 1; i < lines.size(); ++i) {
        const auto& line = lines[i];
        const auto number = [&line](std::size_t column) { return std::stoll(line[column]); };
        const Measurement& m = rows[i - 1].measurement;
        // Two products of 2 x queries x keys x depth for each head of queries.
        const long long keys = number(7) + number(8);
        EXPECT_EQ(total_counts(m.operation).flop, 4 * number(6) * number(9) * number(7) * keys * number(11));
        EXPECT_DOUBLE_EQ(m.time.mean_s, std::stod(line[13]) / 1000);
        EXPECT_FALSE(m.energy);
    }
}

TEST_F(ImportAiconfiguratorData, EveryTableIsAccountedFor) {
    for (const char* table :
         {"attention_with_power.csv.gz", "encoder_attention_with_power.csv.gz", "gemm_latency.csv.gz"}) {
        sampled.clear();
        const auto lines = sample(table);
        if (lines.empty()) GTEST_SKIP() << "JOULECAST_DATA is unset or has no table aiconfigurator/" << table;
        expect_all_accounted_for(import(sampled), lines.size());
    }
}

}  // namespace
}  // namespace joulecast
