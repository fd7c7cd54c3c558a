#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/run_command.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

TEST(PublishedImport, TellsWhatBecameOfThePublishedRows) {
    const TemporaryFolder folder;
    write_file(folder.file("made_up.csv"),
               "split,op,device,latency_ms,batch,hidden,grid,colour\n"
               "train,add,T4,0.1,3,5,,red\ntrain,add,T4,,3,5,,red\ntrain,relu,T4,0.1,3,5,,red\n");
    const std::string import = "import neusight " + folder.file("made_up.csv") + " --db " + folder.file("a.db");
    const auto ran = run_laboratory(import + " --format json");
    EXPECT_EQ(ran.status, 0);
    EXPECT_THAT(ran.err, HasSubstr("columns that are not known and not read: colour"));
    const auto one = nlohmann::json::parse(ran.out).at(0);
    EXPECT_EQ(one.at("rows"), 3);
    EXPECT_EQ(one.at("used"), 2);
    EXPECT_EQ(one.at("added"), 2);
    EXPECT_EQ(one.at("dropped"), 1);
    EXPECT_EQ(one.at("dropped_reasons"), "not measured: 1");
    EXPECT_EQ(one.at("dropped_columns"), "grid");
    EXPECT_THAT(run_laboratory(import).out, HasSubstr("1  not measured"));
}

TEST(PublishedImport, WhatATableHasNoFormForIsCountedByReason) {
    const TemporaryFolder folder;
    write_file(folder.file("gemm.csv"),
               "gpu,backend,version,dtype,m,n,k,latency_ms\nB200,vllm,1,bfloat16,7,64,32,0.5\n"
               "B200,vllm,1,nvfp4,7,64,32,0.5\n");
    const auto told =
        run_laboratory("import aiconfigurator " + folder.file("gemm.csv") + " --db " + folder.file("a.db"));
    EXPECT_EQ(told.status, 0) << told.err;
    EXPECT_THAT(told.out, HasSubstr("1  dtype nvfp4: no tensor type of ours"));
}

TEST(PublishedImport, ReadsPublishedTablesAlone) {
    const TemporaryFolder folder;
    const std::string db = " --db " + folder.file("a.db");
    EXPECT_EQ(run_laboratory("import csv a.csv" + db).status, 2) << "a user's own files are joulecast's";
    EXPECT_EQ(run_laboratory("import vidur a.csv --model resnet50" + db).status, 2) << "an option of smi-log";
    const auto ran = run_laboratory("import vidur none.csv" + db);
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("cannot read 'none.csv'"));
}

}  // namespace
}  // namespace joulecast
