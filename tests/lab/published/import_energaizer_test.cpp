#include "lab/published/import_energaizer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "joulecast/error.h"
#include "joulecast/graph/record.h"
#include "lab/published/energaizer_attention.h"
#include "lab/published/energaizer_kernel.h"
#include "lab/published/energaizer_omissions.h"
#include "tests/dataset/imports.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// All rows here are made up.
const std::string networks_header =
    "set,gpu,model,config,precision,batch,seqlen,mode,attention,locked_mhz,"
    "mean_sm_mhz,time_ms,energy_j,avg_power_w,"
    "temp_c,iterations,window_s,suspect,source_name\n";
const std::string kernels_header = "workload,kind,op,batch,m,n,k,dim,precision,tensor_core,other,count\n";

class ImportEnergaizer : public testing::ImportFolder {
  protected:
    Import import(const std::string& text) { return import_text(&import_energaizer, text); }
    std::string refusal(const std::string& text) { return rejected(&import_energaizer, text); }
};

TEST_F(ImportEnergaizer, ANetworkKeepsBothClocksAndItsEnergy) {
    const Import counts = import(networks_header +
                                 "dvfs,A10,bertmodel,large,bf16,2,128,prefill,eager,900,"
                                 "897.5,12.5,1.5,120,55.5,2400,30,0,any\n");
    EXPECT_EQ(counts.used, 1);
    EXPECT_THAT(counts.dropped_columns, ElementsAre("source_name"));
    const auto rows = stored().networks();
    ASSERT_EQ(rows.size(), 1u);
    const NetworkMeasurement& m = rows[0].measurement;
    EXPECT_EQ(m.model, "energaizer:bertmodel-large");
    EXPECT_EQ(m.symbols, (std::map<std::string, std::int64_t>{{"batch", 2}, {"sequence", 128}}));
    EXPECT_EQ(m.precision, "bf16");
    EXPECT_EQ(m.mode, Mode::inference);
    EXPECT_EQ(m.asked.device, "a10");
    EXPECT_EQ(m.asked.host, Host::python);
    EXPECT_EQ(m.asked.sm_clock_mhz, 900);
    EXPECT_EQ(m.real.sm_clock_mhz, 897.5);
    EXPECT_DOUBLE_EQ(m.time.mean_s, 12.5e-3);
    ASSERT_TRUE(m.energy);
    EXPECT_EQ(m.energy->energy_j, 1.5);
    EXPECT_EQ(m.energy->power_w, 120);
    EXPECT_EQ(m.energy->window_s, 30);
    EXPECT_EQ(m.energy->calls, 2400);
    EXPECT_EQ(m.conditions.temperature_c, 55.5);
    EXPECT_EQ(rows[0].provenance.session, "energaizer dvfs eager");
}

TEST_F(ImportEnergaizer, SuspectRowsAndOtherModesAreDroppedByName) {
    const std::string row = "a10,A10,m,c,bf16,2,128,";
    const Import counts = import(networks_header + row + "prefill,,900,900,12.5,1.5,120,55.5,13,1.5,1,x\n" + row +
                                 "decode,,900,900,12.5,1.5,120,55.5,2400,30,0,x\n" + row +
                                 "prefill,,900,900,12.5,1.5,120,55.5,2400,30,0,x\n" + row +
                                 "prefill,,990,990,11.5,1.5,130,55.5,2400,30,0,x\n");
    EXPECT_EQ(counts.rows, 4);
    EXPECT_EQ(counts.used, 2);
    EXPECT_THAT(counts.dropped, ElementsAre(Pair("mode decode: only whole forward passes are taken", 1),
                                            Pair("suspect: the measuring process died", 1)));
    EXPECT_EQ(counts.added, 2);
    EXPECT_EQ(stored().networks().at(1).provenance.session,
              "energaizer a10");  // another clock is no repeat
}

TEST_F(ImportEnergaizer, NetworksOfASetAreOfOneSession) {
    const std::string rest = ",2,128,prefill,,900,900,12.5,1.5,120,55.5,2400,30,0,x\n";
    import(networks_header + "a10,A10,m,c,bf16" + rest + "a10,A10,m,d,bf16" + rest + "a10,A10,m,c,fp32" + rest);
    for (const NetworkRow& row : stored().networks()) EXPECT_EQ(row.provenance.session, "energaizer a10");
}

TEST_F(ImportEnergaizer, TheKernelsBecomeTheListOfTheNetworkThatWasMeasured) {
    import(networks_header + "a10,A10,resnet101,,bf16,8,,,,900,900,12.5,1.5,120,55.5,2400,30,0,x\n");
    const Import counts = import(kernels_header +
                                 "resnet101__pbf16_b8_freq900,elementwise,relu,,,,,64,bf16,,,3\n"
                                 "resnet101__pbf16_b8_freq900,gemm,,1,1000,8,2048,,bf16,tc,,1\n"
                                 "other_x_pbf16_b8_s16_modeprefill,elementwise,relu,,,,,64,bf16,,,5\n");
    EXPECT_EQ(counts.used, 3);
    EXPECT_THAT(counts.dropped_columns, ElementsAre("tensor_core"));
    const auto graph = stored().listed_network(stored().networks().at(0).measurement);
    ASSERT_TRUE(graph);
    ASSERT_EQ(graph->nodes.size(), 2u);
    EXPECT_EQ(signature(graph->nodes[0].operation), "aten::relu(self=bf16[64])");
    EXPECT_EQ(graph->nodes[0].count, 3);
    EXPECT_EQ(signature(graph->nodes[1].operation), "aten::linear(input=bf16[8,2048], weight=bf16[1000,2048])");
}

TEST_F(ImportEnergaizer, KernelsThatAreOneOperationOfOursAreCountedTogether) {
    import(kernels_header +
           "a_b_pbf16_b8,elementwise,scalar_mul,,,,,64,bf16,,,3\na_b_pbf16_b8,"
           "elementwise,unspecified_scalar,,,,,64,"
           "bf16,,,4\n");
    const auto lines = stored().network_operations();
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_EQ(lines[0].count, 7);
    EXPECT_EQ(lines[0].model, "energaizer:a-b");
}

TEST_F(ImportEnergaizer, IdlePowerIsKeptOverTheClockAndThatAtTheHighestIsTheDevices) {
    const Import counts = import(
        "gpu,host,sm_mhz,idle_power_w,supply_voltage_mv\nA10,h,900,40,"
        "700\nA10,h,1700,60,\nA10,h,1500,50,800\n");
    EXPECT_EQ(counts.used, 3);
    EXPECT_TRUE(counts.dropped.empty());
    const auto idle = stored().idle_points("a10");
    ASSERT_EQ(idle.size(), 3u);
    EXPECT_EQ(idle[0], (IdlePoint{900, 40, 700}));
    EXPECT_EQ(idle[1], (IdlePoint{1500, 50, 800}));
    EXPECT_TRUE(std::isnan(idle[2].voltage_mv));
    // Where a database that has none takes this one in, they come along.
    Dataset other(folder / "other.db");
    other.merge(stored());
    EXPECT_EQ(other.idle_points("a10").size(), 3u);
    const auto devices = stored().devices();
    ASSERT_EQ(devices.size(), 1u);
    EXPECT_EQ(devices[0].id, "a10");
    EXPECT_EQ(devices[0].idle_w, 60);
    EXPECT_THAT(devices[0].source, HasSubstr("idle power at 1700 MHz by EnergAIzer"));
}

TEST_F(ImportEnergaizer, WrongRowsAreNamedAndNothingIsStored) {
    const std::string row = "a10,A10,m,c,bf16,2,128,prefill,,";
    EXPECT_THAT(refusal(networks_header + row + "900,900,12.5,nan,120,55.5,2400,30,0,x\n"),
                HasSubstr("t.csv:2: energy_j"));
    EXPECT_THAT(refusal(networks_header + row + "900,900,-12.5,1,120,55.5,2400,30,0,x\n"), HasSubstr("time_ms"));
    EXPECT_THAT(refusal(networks_header + "a10,A10,m,c,int3,2,128,prefill,,900,900,1,1,1,1,1,1,0,x\n"),
                HasSubstr("precision 'int3'"));
    EXPECT_THAT(refusal("a,b\n1,2\n"), HasSubstr("no table of EnergAIzer"));
    for (const char* workload : {"", "bf16", "a_pbf16", "a_b_pbf16", "a_b_pbf16_bx", "a_b_pbf16_b0", "a_b_pbf16_b8_z9",
                                 "a_b_pint3_b8", "a_b_pbf16_b99999999999999999999"})
        EXPECT_THAT(refusal(kernels_header + workload + ",elementwise,relu,,,,,64,bf16,,,3\n"), HasSubstr("t.csv:2: "))
            << workload;
    EXPECT_THAT(refusal(kernels_header + "a_b_pbf16_b8,elementwise,relu,,,,,64,bf16,,,0\n"), HasSubstr("count '0'"));
    EXPECT_TRUE(stored().networks().empty());
    EXPECT_TRUE(stored().network_operations().empty());
}

/// What one row of a list becomes.
std::string kernel(const std::string& row) {
    std::istringstream input(kernels_header + "w," + row + ",1\n");
    TableReader table(input, "t.csv");
    table.next();
    const auto operation = energaizer_kernel(table);
    return operation ? signature(*operation) : "";
}

TEST(EnergaizerKernel, EachKindIsAnAtenOperation) {
    EXPECT_EQ(kernel("gemm,,1,1024,2048,512,,bf16,tc,"), "aten::linear(input=bf16[2048,512], weight=bf16[1024,512])");
    EXPECT_EQ(kernel("gemm,,16,128,64,32,,fp32,,"), "aten::bmm(self=f32[16,128,32], mat2=f32[16,32,64])");
    EXPECT_EQ(kernel("softmax,,32,,,,128,bf16,,"), "aten::softmax.int(self=bf16[32,128], dim=-1)");
    EXPECT_EQ(kernel("layernorm,,32,,,,128,fp16,,"),
              "aten::layer_norm(input=f16[32,128], normalized_shape=[128], "
              "weight=f16[128], bias=f16[128])");
    EXPECT_EQ(kernel("elementwise,pointwise_add,,,,,64,bf16,,"), "aten::add.Tensor(self=bf16[64], other=bf16[64])");
    EXPECT_EQ(kernel("elementwise,pointwise_mul,,,,,64,fp32,,"), "aten::mul.Tensor(self=f32[64], other=f32[64])");
    EXPECT_EQ(kernel("elementwise,typecast_to_fp32,,,,,64,bf16,,"), "aten::_to_copy(self=bf16[64], dtype=f32)");
    EXPECT_EQ(kernel("elementwise,typecast_to_bf16,,,,,64,fp32,,"), "aten::_to_copy(self=f32[64], dtype=bf16)");
    EXPECT_EQ(kernel("elementwise,silu,,,,,64,bf16,,"), "aten::silu(self=bf16[64])");
    EXPECT_EQ(kernel("elementwise,gelu,,,,,64,bf16,,"), "aten::gelu(self=bf16[64])");
    EXPECT_EQ(kernel("elementwise,tanh,,,,,64,bf16,,"), "aten::tanh(self=bf16[64])");
    EXPECT_EQ(kernel("elementwise,something,,,,,64,bf16,,"), "");
    EXPECT_EQ(kernel("sort,,,,,,64,bf16,,"), "");
}

TEST(EnergaizerKernel, AConvolutionStandsInJsonAndIsTheProductBesideIt) {
    // 2 images, (9 + 2 x 1 - 3) / 2 + 1 = 5 a side: 2 x 25 pixels, 16 channels
    // out of 3 x 3 x 3.
    const std::string numbers =
        R"("{""b"": 2, ""c"": 3, ""hw"": 9, ""m"": 16, ""padding"": 1, ""rs"": 3, ""stride"": 2}")";
    const std::string text = kernel("conv2d,,1,50,16,27,,bf16,tc," + numbers);
    EXPECT_EQ(text,
              "aten::conv2d(input=bf16[2,3,9,9], weight=bf16[16,3,3,3], "
              "stride=[2,2], padding=[1,1])");
    EXPECT_EQ(total_counts(parse_operation(text)).flop, 2 * 50 * 16 * 27);
    EXPECT_THROW(kernel("conv2d,,1,51,16,27,,bf16,tc," + numbers), FormatError);
    for (const char* hostile :
         {"", "{", "{}", R"("{""b"": 2")", R"("{""b"": -2}")", R"("{""b"": 2, ""b"": 2}")", R"("{""b"": ""2""}")",
          R"("[1]")", R"("{b: 1}")", R"("{""b"": 2} x")",
          R"("{""b"": 2, ""c"": 3, ""hw"": 9, ""m"": 16, ""padding"": 1, ""rs"": 3, ""stride"": 0}")",
          R"("{""b"": 1099511627776, ""c"": 1099511627776, ""hw"": 1099511627776, ""m"": 16, )"
          R"(""padding"": 1, ""rs"": 3, ""stride"": 2}")"})
        EXPECT_THROW(kernel(std::string("conv2d,,1,50,16,27,,bf16,tc,") + hostile), FormatError) << hostile;
}

std::string omitted(const std::string& model, const std::string& convolution, std::int64_t count) {
    std::string text;
    for (const CalledKernel& one : energaizer_omissions(model, parse_operation(convolution), count))
        text += std::to_string(one.count) + " " +
                signature({one.operation.target,
                           {{"out", find_record(one.operation.target)->outputs(one.operation).at(0)}}}) +
                "; ";
    return text;
}

TEST(EnergaizerOmissions, CnnsNormaliseBehindEachConvolutionAndResnetsAddBlocks) {
    const std::string wide = "aten::conv2d(input=bf16[2,128,28,28], weight=bf16[512,128,1,1])";
    const std::string first = "aten::conv2d(input=bf16[2,64,56,56], weight=bf16[256,64,1,1])";
    const std::string square = "aten::conv2d(input=bf16[2,64,56,56], weight=bf16[64,64,3,3], padding=[1,1])";
    EXPECT_EQ(omitted("energaizer:resnet101", wide, 4),
              "4 aten::batch_norm(out=bf16[2,512,28,28]); 4 aten::add.Tensor(out=bf16[2,512,28,28]); ");
    // Four such convolutions, three blocks.
    EXPECT_EQ(omitted("energaizer:resnet101", first, 4),
              "4 aten::batch_norm(out=bf16[2,256,56,56]); 3 aten::add.Tensor(out=bf16[2,256,56,56]); ");
    EXPECT_EQ(omitted("energaizer:resnet101", square, 3), "3 aten::batch_norm(out=bf16[2,64,56,56]); ");
    EXPECT_EQ(omitted("energaizer:mobilevitmodel-small", wide, 1), "1 aten::batch_norm(out=bf16[2,512,28,28]); ");
    EXPECT_EQ(omitted("energaizer:vitmodel-large", wide, 1), "");
}

std::string attention(const std::string& bmm, std::int64_t sequences) {
    std::string text;
    for (const CalledKernel& called : energaizer_attention(parse_operation(bmm), sequences, 12))
        text += std::to_string(called.count) + " " + signature(called.operation) + "; ";
    return text;
}

// 4 sequences of 128 tokens, 12 heads of 64.
TEST(EnergaizerAttention, HeadsLieBetweenTokens) {
    EXPECT_EQ(attention("aten::bmm(self=bf16[48,128,64], mat2=bf16[48,64,128])", 4),
              "12 aten::matmul(self=bf16[4,12,128,64]{98304,64,768,1}, other=bf16[4,12,64,128]{98304,64,1,768}); ");
    EXPECT_EQ(attention("aten::bmm(self=bf16[48,128,128], mat2=bf16[48,128,64])", 4),
              "12 aten::matmul(self=bf16[4,12,128,128], other=bf16[4,12,128,64]{98304,64,768,1}); "
              "12 aten::contiguous(self=bf16[4,128,12,64]{98304,64,8192,1}); ");
    // No whole number of heads; neither scores nor weights by values.
    for (const char* other : {"aten::bmm(self=bf16[47,128,64], mat2=bf16[47,64,128])",
                              "aten::bmm(self=bf16[48,128,64], mat2=bf16[48,64,32])"})
        EXPECT_EQ(attention(other, 4), std::string("12 ") + other + "; ");
}

TEST_F(ImportEnergaizer, KernelsOfTheSizeOfScoresAreTheirMask) {
    std::string text = kernels_header;
    for (const std::string workload : {"bertmodel_large", "gpt2model_gpt2"}) {
        const std::string name = workload + "_pbf16_b2_s16_modeprefill,";
        text += name + "elementwise,unspecified_tensor,,,,,1024,bf16,,,3\n";  // before its scores are known
        text += name + "gemm,,4,16,16,8,,bf16,tc,,3\n";
        text += name + "elementwise,unspecified_tensor,,,,,77,bf16,,,2\n";
    }
    import(text);
    std::map<std::string, std::vector<std::string>> of;
    for (const NetworkOperationRow& row : stored().network_operations())
        of[row.model].push_back(signature(row.operation));
    const std::string scores = "aten::matmul(self=bf16[2,2,16,8]{256,8,16,1}, other=bf16[2,2,8,16]{256,8,1,16})";
    const std::string other = "aten::add.Tensor(self=bf16[77], other=bf16[77])";
    EXPECT_THAT(of["energaizer:bertmodel-large"],
                UnorderedElementsAre(scores, other, "aten::add.Tensor(self=bf16[2,2,16,16], other=bf16[2,1,16,16])"));
    EXPECT_THAT(
        of["energaizer:gpt2model-gpt2"],
        UnorderedElementsAre(scores, other, "aten::div.Tensor(self=bf16[2,2,16,16], other=bf16[])",
                             "aten::where.self(condition=bool[1,1,16,16], self=bf16[2,2,16,16], other=bf16[])"));
}

TEST(EnergaizerKernel, SizesThatDoNotFitAreRefusedAtTheirLine) {
    for (const char* row :
         {"gemm,,1,0,2048,512,,bf16,,", "gemm,,1,,2048,512,,bf16,,", "softmax,,32,,,,-1,bf16,,",
          "elementwise,relu,,,,,64,int8,,", "gemm,,1099511627776,1099511627776,1099511627776,8,,bf16,,"}) {
        try {
            kernel(row);
            ADD_FAILURE() << row;
        } catch (const FormatError& error) {
            EXPECT_THAT(error.what(), HasSubstr("t.csv:2: "));
        }
    }
}

TEST_F(ImportEnergaizer, EveryRowOfTheRealTablesIsUsedOrDroppedByNameAndPowerTimesTimeIsEnergy) {
    Dataset into(folder / "a.db");
    for (const char* table : {"networks_measured.csv", "workload_ops.csv", "idle_power_and_voltage.csv"}) {
        const auto path = testing::published_table(std::string("energaizer_dvfs_networks/") + table);
        if (path.empty()) GTEST_SKIP() << "JOULECAST_DATA is unset or has no table " << table;
        std::ifstream input(path, std::ios::binary);
        const Import counts = import_energaizer(into, input, table);
        EXPECT_GT(counts.rows, 0) << table;
        EXPECT_EQ(counts.used + testing::dropped(counts), counts.rows) << table;
        EXPECT_TRUE(counts.unknown_columns.empty()) << table;
    }
    std::int64_t listed = 0;
    for (const NetworkRow& row : into.networks()) {
        const NetworkMeasurement& m = row.measurement;
        // The source's three numbers agree to 1 %.
        EXPECT_NEAR(m.energy->energy_j, m.energy->power_w * m.time.mean_s, 0.01 * m.energy->energy_j) << m.model;
        EXPECT_NEAR(m.energy->window_s, m.time.mean_s * static_cast<double>(m.energy->calls),
                    0.02 * m.energy->window_s);
        if (into.listed_network(m)) ++listed;
    }
    EXPECT_GT(listed, 0);
}

}  // namespace
}  // namespace joulecast
