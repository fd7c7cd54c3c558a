#include "lab/published/import_neusight.h"

#include <gmock/gmock.h>

#include <map>

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
const std::string gemm_header = "split,op,device,latency_ms,batch,m,n,k,kernel,grid,block\n";
const std::string vector_header = "split,op,device,latency_ms,batch,hidden,grid,block\n";
const std::string conv_header =
    "split,device,latency_ms,batch,in_ch,out_ch,kernel_size,in_size,stride,padding,n_kernels,main_kernel,grid,block\n";
const std::string network_header = "device,model,mode,seqlen,batch,option,meas_e2e_ms,meas_fwd_ms,meas_bwdall_ms\n";
const std::string node_header =
    "device,model,mode,seqlen,batch,option,idx,repeat,name,fx_op,target,input_shapes,output_shape,dtype,fwd_ms,bwd_ms,"
    "acc_ms\n";

class ImportNeusight : public ImportFolder {
  protected:
    Import take(const std::string& text) { return import_text(&import_neusight, text); }
    std::string refused(const std::string& text) { return rejected(&import_neusight, text); }
    std::vector<std::string> signatures() const {
        std::vector<std::string> all;
        for (const OperationRow& row : stored().operations()) all.push_back(signature(row.measurement.operation));
        return all;
    }
};

TEST_F(ImportNeusight, MakesMatrixProductsOfTheirRowsAndSaysWhatTheNumberIs) {
    const Import counts = take(gemm_header +
                               "train,bmm,T4,0.5,6,27,390,21,some_kernel,4x1x6,256x1x1\n"
                               "test,linear,T4,0.25,1,58,141,13,,,\n");
    EXPECT_EQ(counts.rows, 2);
    EXPECT_EQ(counts.used, 2);
    EXPECT_EQ(counts.added, 2);
    EXPECT_THAT(counts.dropped_columns, ElementsAre("kernel", "grid", "block"));
    EXPECT_THAT(signatures(), ElementsAre("aten::bmm(self=f32[6,27,21], mat2=f32[6,21,390])",
                                          "aten::linear(input=f32[58,13], weight=f32[141,13], bias=f32[141])"));
    const auto rows = stored().operations();
    EXPECT_EQ(rows.at(0).measurement.time.mean_s, 0.5e-3);
    EXPECT_EQ(rows.at(0).measurement.time.median_s, 0.5e-3);
    EXPECT_EQ(rows.at(0).measurement.asked.device, "t4");
    EXPECT_EQ(rows.at(0).measurement.asked.math, Math::ieee);
    EXPECT_EQ(rows.at(0).provenance.source, "neusight");
    EXPECT_EQ(rows.at(0).provenance.session, "neusight gemm train");
    EXPECT_EQ(rows.at(1).provenance.session, "neusight gemm test");
    EXPECT_THAT(rows.at(0).provenance.settings, HasSubstr("mean of the best 5 of 25"));
    EXPECT_EQ(stored().devices().at(0).units, 40);  // SMs of a T4, from its data sheet
}

TEST_F(ImportNeusight, MakesElementwiseOperationsAsTorchRecordsThem) {
    std::string text = vector_header;
    for (const char* op : {"add", "addu", "mulu", "div", "pow", "powu", "gelu", "tanh", "softmax", "ln"})
        text += "train," + std::string(op) + ",P4,0.1,3,5,,\n";
    EXPECT_EQ(take(text).added, 10);
    EXPECT_THAT(
        signatures(),
        ElementsAre("aten::add.Tensor(self=f32[3,5], other=f32[3,5])", "aten::add.Tensor(self=f32[3,5], other=2.0)",
                    "aten::mul.Tensor(self=f32[3,5], other=2.0)", "aten::div.Tensor(self=f32[3,5], other=f32[3,5])",
                    "aten::pow.Tensor_Tensor(self=f32[3,5], exponent=f32[3,5])",
                    "aten::pow.Tensor_Scalar(self=f32[3,5], exponent=2.0)", "aten::gelu(self=f32[3,5])",
                    "aten::tanh(self=f32[3,5])", "aten::softmax.int(self=f32[3,5], dim=-1)",
                    "aten::layer_norm(input=f32[3,5], normalized_shape=[5], weight=f32[5], bias=f32[5])"));
}

TEST_F(ImportNeusight, MakesConvolutionsWithoutABias) {
    take(conv_header + "train,P100,1.5,38,893,326,3,5,2,1,2,k,1x1x1,1x1x1\n");
    EXPECT_THAT(signatures(), ElementsAre("aten::conv2d(input=f32[38,893,5,5], weight=f32[326,893,3,3], stride=[2,2], "
                                          "padding=[1,1])"));
}

TEST_F(ImportNeusight, KeepsRepeatsAndAddsNothingWhenReadAgain) {
    const std::string text = vector_header +
                             "train,relu,V100,0.1,3,5,,\ntrain,relu,V100,0.2,3,5,,\ntrain,relu,V100,0.1,3,5,,\n"
                             "train,relu,T4,0.1,3,5,,\n";
    EXPECT_EQ(take(text).added, 4);
    const Import again = take(text);
    EXPECT_EQ(again.used, 4);
    EXPECT_EQ(again.added, 0);
    std::vector<std::string> sessions;
    for (const OperationRow& row : stored().operations("v100-32g-pcie")) sessions.push_back(row.provenance.session);
    EXPECT_THAT(sessions, ElementsAre("neusight vector train", "neusight vector train repeat 2",
                                      "neusight vector train repeat 3"));
}

TEST_F(ImportNeusight, CountsWhatItCannotUse) {
    const Import counts = take(vector_header +
                               "train,add,T4,,3,5,,\n"
                               "train,add,T4,0,3,5,,\n"
                               "train,sort,T4,0.1,3,5,,\n"
                               "train,add,\"A \"\"card\"\", unknown\",0.1,3,5,,\n"
                               "train,add,T4,0.1,1000000000000,1000000000000,,\n"  // 4e24 bytes
                               "train,add,T4,1e300,3,5,,\n"
                               "train,add,T4,0.1,3,5,,\n");
    EXPECT_EQ(counts.rows, 7);
    EXPECT_EQ(counts.used, 1);
    EXPECT_THAT(counts.dropped,
                UnorderedElementsAre(
                    Pair("not measured", 2), Pair("sizes that cannot be", 1), Pair("a time of more than a year", 1),
                    Pair("an operation that joulecast does not know: sort", 1),
                    Pair("device 'A \"card\", unknown' has no data sheet (joulecast help devices tells "
                         "how to add one)",
                         1)));
}

TEST_F(ImportNeusight, KnowsTheCardsOfItsAuthors) {
    std::string text = vector_header;
    for (const char* card : {"P4", "P100", "V100", "T4", "A100-40G-PCIE", "A100-40G-SXM", "A100-80G-PCIE", "L4", "H100",
                             "MI100", "MI210", "MI250"})
        text += "train,add," + std::string(card) + ",0.1,3,5,,\n";
    EXPECT_EQ(take(text).added, 12);
    std::vector<std::string> ids;
    for (const Device& device : stored().devices()) ids.push_back(device.id);
    EXPECT_THAT(ids, ElementsAre("p4", "p100", "v100-32g-pcie", "t4", "a100-40g-pcie", "a100-40g-sxm", "a100-80g-pcie",
                                 "l4", "h100-sxm", "mi100", "mi210", "mi250"));
}

TEST_F(ImportNeusight, BoundsTheReasonsThatAFileCanMakeUp) {
    std::string text = vector_header;
    for (int i = 0; i < 300; ++i) text += "train,op" + std::to_string(i) + ",T4,0.1,3,5,,\n";
    const Import counts = take(text);
    EXPECT_EQ(counts.dropped.size(), 101U);
    EXPECT_EQ(counts.dropped.at("further reasons"), 200);
}

TEST_F(ImportNeusight, RefusesWhatCannotBeSuchATableWithFileAndLine) {
    const auto row = [](const std::string& time, const std::string& batch) {
        return vector_header + "train,add,T4,0.1,3,5,,\ntrain,add,T4," + time + "," + batch + ",5,,\n";
    };
    EXPECT_THAT(refused(row("nan", "3")), HasSubstr("t.csv:3: latency_ms 'nan' is no finite number"));
    EXPECT_THAT(refused(row("inf", "3")), HasSubstr("t.csv:3: latency_ms 'inf'"));
    EXPECT_THAT(refused(row("1e999", "3")), HasSubstr("t.csv:3: latency_ms"));
    EXPECT_THAT(refused(row("-1", "3")), HasSubstr("t.csv:3: latency_ms is negative"));
    EXPECT_THAT(refused(row("fast", "3")), HasSubstr("t.csv:3: latency_ms 'fast'"));
    EXPECT_THAT(refused(row("0.1", "-3")), HasSubstr("t.csv:3: batch '-3'"));
    EXPECT_THAT(refused(row("0.1", "99999999999999999999")), HasSubstr("t.csv:3: batch '9999"));
    EXPECT_THAT(refused(row("0.1", "3,7")), HasSubstr("t.csv:3: has 9 fields, the header 8"));
    EXPECT_THAT(refused("a,b\n"), HasSubstr("t.csv:1: this is no table of NeuSight"));
    EXPECT_THAT(refused("op,device,latency_ms,batch,hidden\n"),
                HasSubstr("t.csv:1: the header lacks the column split"));
    EXPECT_THAT(refused(""), HasSubstr("t.csv:1: the file is empty"));
    EXPECT_THAT(refused(vector_header + "\"train,add"), HasSubstr("a quoted field is not closed"));
}

TEST_F(ImportNeusight, NamesColumnsThatItHasNeverHeardOf) {
    const Import counts = take("split,op,device,latency_ms,batch,hidden,power_w\ntrain,add,T4,0.1,3,5,70\n");
    EXPECT_THAT(counts.unknown_columns, ElementsAre("power_w"));
    EXPECT_EQ(counts.added, 1);
}

TEST_F(ImportNeusight, TakesPlainNetworksAndCountsTheOthers) {
    const Import counts = take(network_header +
                               "V100,net_a,train,128,4,,30,10,20\n"
                               "V100,net_a,inf,128,4,,9,9,0\n"
                               "V100,net_a,train,128,4,dp4,90,30,60\n"
                               "V100,net_b,inf,128,4,,,,\n");
    EXPECT_EQ(counts.used, 2);
    EXPECT_EQ(counts.dropped.at("not measured"), 1);
    EXPECT_EQ(dropped(counts), 2);
    const auto networks = stored().networks();
    ASSERT_EQ(networks.size(), 2U);
    const NetworkMeasurement& training = networks.at(0).measurement;
    EXPECT_EQ(training.model, "net_a");
    EXPECT_THAT(training.symbols, ElementsAre(Pair("batch", 4), Pair("sequence", 128)));
    EXPECT_EQ(training.mode, Mode::training);
    EXPECT_EQ(training.time.median_s, 0.03);
    ASSERT_TRUE(training.forward);
    EXPECT_EQ(training.forward->mean_s, 0.01);
    EXPECT_FALSE(networks.at(1).measurement.forward);
}

/// A layer of three products between views, in training, eleven layers; the head gives 50 words.
const std::string nodes =
    node_header +
    R"csv(V100,net,train,8,2,,1,1,wte,call_module,net.wte,"[[2, 8]]","(2, 8, 16)",float32,0.5,0.25,0.125
V100,net,train,8,2,,2,11,size,call_method,size,"[[2, 8, 16]]","(1,)",,0.01,0,0
V100,net,train,8,2,,3,11,fc,call_module,net.h.0.fc,"[[2, 8, 16]]","(2, 8, 32)",float32,1,2,0.5
V100,net,train,8,2,,4,11,fc2,call_module,net.h.0.fc,"[[2, 8, 16]]","(2, 8, 32)",float32,1,2,0.25
V100,net,train,8,2,,5,11,view,call_method,view,"[[2, 8, 32], [1]]","(2, 8, 4, 8)",float32,0.01,0,0
V100,net,train,8,2,,6,11,new,call_function,"flash, ""v2""","[[2, 8, 4, 8]]","(2, 8, 4, 8)",float32,1,0,0
V100,net,train,8,2,,7,1,head,call_module,net.lm_head,"[[2, 8, 32]]","(2, 8, 50)",float32,3,6,1
)csv";

TEST_F(ImportNeusight, MakesANetworksListOfItsNodes) {
    const Import counts = take(nodes);
    EXPECT_EQ(counts.rows, 7);
    EXPECT_EQ(counts.used, 4);
    EXPECT_EQ(dropped(counts), 3);
    EXPECT_EQ(counts.added, 4 + 4);  // four times, and four lines of the list
    NetworkMeasurement network;
    network.model = "net";
    network.symbols = {{"batch", 2}, {"sequence", 8}};
    network.mode = Mode::training;
    const auto graph = stored().listed_network(network);
    ASSERT_TRUE(graph);
    std::map<std::string, std::int64_t> calls;
    for (const CountedOperation& counted : count_operations(*graph))
        calls[signature(counted.operation)] = counted.count;
    EXPECT_THAT(calls,
                UnorderedElementsAre(Pair("aten::embedding(weight=f32[50,16]~, indices=i64[2,8])", 1),
                                     Pair("aten::linear(input=f32[2,8,16]~, weight=f32[32,16]~, bias=f32[32]~)", 22),
                                     Pair("fx::flash___v2_(input0=f32[2,8,4,8])", 11),
                                     Pair("aten::linear(input=f32[2,8,32]~, weight=f32[50,32]~)", 1)));
}

TEST_F(ImportNeusight, TakesANodesPassesTogetherAsTrainingMeasuresThem) {
    take(nodes);
    const auto rows = stored().operations();
    ASSERT_EQ(rows.size(), 4U);
    EXPECT_NEAR(rows.at(1).measurement.time.mean_s, 3.5e-3, 1e-12);   // 1 + 2 + 0.5 ms
    EXPECT_NEAR(rows.at(2).measurement.time.mean_s, 3.25e-3, 1e-12);  // its repeat
    ASSERT_TRUE(rows.at(1).measurement.forward);
    EXPECT_NEAR(rows.at(1).measurement.forward->mean_s, 1e-3, 1e-12);
    EXPECT_EQ(rows.at(1).mode, Mode::training);
    EXPECT_EQ(rows.at(1).provenance.session, "neusight nodes net training batch=2;sequence=8");
    EXPECT_EQ(rows.at(2).provenance.session, "neusight nodes net training batch=2;sequence=8 repeat 2");
}

TEST_F(ImportNeusight, StoresOneListForANetworkOnTwoDevices) {
    std::string both = nodes;
    for (std::size_t line = nodes.find('\n') + 1; line < nodes.size();) {
        const std::size_t end = nodes.find('\n', line) + 1;
        both += "T4" + nodes.substr(line + 4, end - line - 4);
        line = end;
    }
    const Import counts = take(both);
    EXPECT_EQ(counts.added, 4 + 4 + 4);
    EXPECT_TRUE(counts.notes.empty());
    EXPECT_EQ(stored().network_operations().size(), 4U);
}

TEST_F(ImportNeusight, SaysWhereADeviceRanOtherCallsUnderTheSameName) {
    const std::size_t first = nodes.find('\n') + 1;
    const std::string row = nodes.substr(first, nodes.find('\n', first) + 1 - first);
    std::string other = "T4" + row.substr(4);
    other.replace(other.find("(2, 8, 16)"), 10, "(2, 8, 24)");
    const Import counts = take(node_header + row + other);
    EXPECT_THAT(counts.notes, ElementsAre(HasSubstr("net (training, batch=2;sequence=8) makes other calls on T4")));
    EXPECT_EQ(stored().network_operations().size(), 1U);
}

TEST_F(ImportNeusight, RefusesNodesThatDoNotStandTogetherAndHostileShapes) {
    const std::size_t first = nodes.find('\n') + 1;
    const std::string row = nodes.substr(first, nodes.find('\n', first) + 1 - first);
    std::string other = row;
    other.replace(other.find("net"), 3, "two");
    EXPECT_THAT(refused(node_header + row + other + row), HasSubstr("t.csv:4: the rows of this network do not stand"));
    const auto with = [&](const std::string& shapes) {
        std::string changed = row;
        changed.replace(changed.find("[[2, 8]]"), 8, shapes);
        return take(node_header + changed).dropped;
    };
    for (const char* shapes : {"[[-2, 8]]", "[[2, x]]", "2, 8", "[[99999999999999999999]]", "[[2[8]]]"})
        EXPECT_THAT(with(shapes), ElementsAre(Pair("shapes that are not lists of sizes", 1))) << shapes;
    EXPECT_THAT(with("[[4000000000000000000, 8]]"), ElementsAre(Pair("sizes that cannot be", 1)));
}

/// What an operation is by the table's own columns: 2 per multiply-add.
std::int64_t flop_of(const TensorType& a, const TensorType& b) {
    return 2 * element_count(a) * b.sizes.at(b.sizes.size() == 3 ? 2 : 0);
}

TEST_F(ImportNeusight, AccountsForEveryRowOfThePublishedTables) {
    std::int64_t tables = 0;
    const std::map<std::string, std::int64_t> steps = {{"ops_gemm_train.csv", 100},
                                                       {"ops_gemm_test.csv", 20},
                                                       {"ops_vector.csv", 100},
                                                       {"ops_conv2d.csv", 50},
                                                       {"networks_measured_vs_predicted.csv", 1},
                                                       {"networks_per_node_measured.csv", 1}};
    for (const auto& [name, step] : steps) {
        const auto path = published_table("neusight/" + name);
        if (path.empty()) continue;
        ++tables;
        Dataset into(folder / "real.db");
        const std::string text = sampled_lines(path, step);
        std::istringstream input(text);
        const Import counts = import_neusight(into, input, name);
        EXPECT_EQ(counts.rows, rows_of(text)) << name;
        EXPECT_EQ(counts.rows, counts.used + dropped(counts)) << name;
        EXPECT_TRUE(counts.unknown_columns.empty()) << name;
        for (const auto& [why, rows] : counts.dropped) EXPECT_THAT(why, ::testing::Not(HasSubstr("cannot be"))) << name;
    }
    if (tables == 0) GTEST_SKIP() << "JOULECAST_DATA is not set: no published tables";
    std::int64_t checked = 0;
    for (const OperationRow& row : Dataset(folder / "real.db").operations()) {
        const auto all = tensors(row.measurement.operation);
        if (row.measurement.operation.target == "aten::bmm" || row.measurement.operation.target == "aten::linear") {
            if (row.mode == Mode::training) continue;
            EXPECT_EQ(forward_counts(row.measurement.operation).flop, flop_of(*all[0], *all[1]));
            ++checked;
        }
    }
    EXPECT_GE(checked, 20);
}

TEST_F(ImportNeusight, CountsTheFlopOfTheTablesOwnShapes) {
    const auto path = published_table("neusight/ops_conv2d.csv");
    if (path.empty()) GTEST_SKIP() << "JOULECAST_DATA is not set: no published tables";
    const std::string text = sampled_lines(path, 500);
    std::string line;
    Dataset into(folder / "real.db");
    std::istringstream head(text);
    import_neusight(into, head, "ops_conv2d.csv");
    std::istringstream again(text);
    std::getline(again, line);
    for (const OperationRow& row : into.operations()) {
        ASSERT_TRUE(std::getline(again, line));
        std::istringstream fields(line);
        std::vector<std::string> cells;
        for (std::string cell; std::getline(fields, cell, ',');) cells.push_back(cell);
        const auto number = [&](std::size_t column) { return std::stoll(cells.at(column)); };
        const std::int64_t batch = number(3), in = number(4), out = number(5), kernel = number(6), size = number(7);
        const std::int64_t places = (size + 2 * number(9) - kernel) / number(8) + 1;
        EXPECT_EQ(forward_counts(row.measurement.operation).flop,
                  2 * batch * places * places * out * in * kernel * kernel);
    }
}

}  // namespace
}  // namespace joulecast
