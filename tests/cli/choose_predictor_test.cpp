#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "joulecast/dataset/dataset.h"
#include "joulecast/model/jcp.h"
#include "tests/cli/run_command.h"
#include "tests/cli/suite_folder.h"
#include "tests/train/made_up_gpus.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// A predictor that was measured on no device: a model over three made-up GPUs.
class UnseenDevice : public SuiteFolder<UnseenDevice> {
  public:
    static void set_up_files() {
        const std::vector<DeviceRows> rows = three_made_up_gpus();
        const std::vector<const DeviceRows*> parts{&rows[0], &rows[1], &rows[2]};
        Predictor predictor = empty_predictor();
        predictor.pooled.push_back(train_pooled(parts, quick_settings()));
        predictor.origin.program = "test";
        write_jcp(predictor, file("gpus.jcp"));
    }
    static Ran predict(const std::string& arguments) {
        return run_joulecast("predict alexnet --format json --predictor " + file("gpus.jcp") + " --device " +
                             arguments);
    }
    /// Every made-up operation, three times as slow on a T4 as the model thinks.
    static void write_slow_t4(const std::string& path) {
        const DeviceRows slow = made_up_rows("t4", 3.0);
        Dataset dataset(path);
        dataset.insert(slow.device);
        for (const TrainingRow& row : slow.rows) {
            Measurement m;
            m.operation = row.operation.operation;
            m.asked = m.real = slow.setting;
            m.time.mean_s = m.time.median_s = row.time_s;
            m.time.blocks = 1;
            dataset.insert(m, {});
        }
    }
    static double seconds_of(const Ran& ran) {
        return nlohmann::json::parse(ran.out)["predictions"][0]["time_s"]["value"].get<double>();
    }
};

// "no device is called 'simcard-1'", though the database held its figures.
TEST_F(UnseenDevice, IsKnownByTheFiguresThatTheDatabaseHas) {
    const std::string db = file("probe.db");
    {
        DeviceRows card = made_up_rows("t4", 3.0);
        card.device.id = "simcard-1";
        card.device.display_name = "A simulated card";
        card.setting.device = "simcard-1";
        Dataset dataset(db);
        dataset.insert(card.device);
        for (const TrainingRow& row : card.rows) {
            Measurement m;
            m.operation = row.operation.operation;
            m.asked = m.real = card.setting;
            m.asked.engine = m.real.engine = "simlab";
            m.time.mean_s = m.time.median_s = row.time_s;
            m.time.blocks = 1;
            dataset.insert(m, {});
        }
    }
    EXPECT_EQ(predict("simcard-1").status, 2);
    const auto ran = predict("simcard-1 --db " + db);
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_EQ(nlohmann::json::parse(ran.out)["predictions"][0]["device"], "simcard-1");
    EXPECT_EQ(nlohmann::json::parse(ran.out)["predictions"][0]["engine"], "simlab");
    EXPECT_THAT(ran.err, HasSubstr("the model was adjusted to"));
    const auto refused = predict("simcard-2 --db " + db);
    EXPECT_EQ(refused.status, 2);
    EXPECT_THAT(refused.err, HasSubstr("no device is called 'simcard-2'"));
    EXPECT_EQ(run_joulecast("recommend alexnet --minimise time --predictor " + file("gpus.jcp") +
                            " --device simcard-1 --db " + db)
                  .status,
              0);
    EXPECT_EQ(run_joulecast("trace alexnet --predictor " + file("gpus.jcp") + " --device simcard-1 --db " + db +
                            " -o " + file("trace.json"))
                  .status,
              0);
}

TEST_F(UnseenDevice, IsForecastFromItsDataSheetAndSaysSo) {
    const auto ran = predict("h100");
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("h100 is h100-sxm"));
    EXPECT_THAT(ran.err, HasSubstr("; forecast from its data sheet, with wide intervals\n"));
    const std::string whole =
        "h100-sxm was never measured. Estimated from its data sheet by a model of 3 devices (a100-40g-sxm, p100, "
        "v100-32g-pcie)";
    EXPECT_THAT(ran.err, ::testing::Not(HasSubstr(whole)));
    EXPECT_THAT(predict("h100 -v").err, HasSubstr(whole));
    const auto answer = nlohmann::json::parse(ran.out)["predictions"][0];
    EXPECT_EQ(answer["device"], "h100-sxm");
    EXPECT_LT(answer["time_s"]["low"].get<double>(), answer["time_s"]["value"].get<double>());
    EXPECT_GT(answer["evidence_share"]["extrapolated"].get<double>(), 0.1);
    EXPECT_EQ(answer["evidence_share"]["interpolated"].get<double>(), 0);
}

TEST_F(UnseenDevice, ThatWasTrainedOnIsRefusedWhatItsSheetHasNoRateForAllTheSame) {
    for (const std::string precision : {"bf16", "fp8"}) {
        const auto ran = predict("p100 --precision " + precision);
        EXPECT_EQ(ran.status, 2) << precision;
        EXPECT_THAT(ran.err, HasSubstr("has no " + precision));
    }
    EXPECT_EQ(predict("p100 --precision fp16").status, 0);
}

TEST_F(UnseenDevice, IsIssuedToByTheCpuAskedFor) {
    const auto host_seconds = [](const Ran& ran) {
        return nlohmann::json::parse(ran.out)["predictions"][0]["host_time_s"]["value"].get<double>();
    };
    const auto as_measured = predict("h100");
    EXPECT_TRUE(nlohmann::json::parse(as_measured.out)["predictions"][0]["host_cpu"].is_null());
    const auto quick = predict("h100 --host-cpu core-i9-13900k"), slow = predict("h100 --host-cpu xeon-e5-2686-v4");
    ASSERT_EQ(quick.status, 0) << quick.err;
    EXPECT_EQ(nlohmann::json::parse(quick.out)["predictions"][0]["host_cpu"], "core-i9-13900k");
    // 1.40 x 5.8 GHz against 0.91 x 3.0 GHz.
    EXPECT_NEAR(host_seconds(slow) / host_seconds(quick), 1.40 * 5.8 / (0.91 * 3.0), 1e-9);
    EXPECT_GT(host_seconds(as_measured), host_seconds(quick));
    EXPECT_GT(seconds_of(slow), seconds_of(quick)) << "alexnet in a batch of one waits for its host";
    EXPECT_THAT(slow.err, HasSubstr("xeon-e5-2686-v4 issues the calls: it takes "));
    EXPECT_THAT(slow.err, HasSubstr("times as long as the unknown CPU of the measurements"));
}

TEST_F(UnseenDevice, IsIssuedToByTheCpuOfItsModule) {
    const auto told = [](const Ran& ran) { return nlohmann::json::parse(ran.out)["predictions"][0]; };
    EXPECT_EQ(told(predict("gh200"))["host_cpu"], "grace");
    EXPECT_EQ(told(predict("gh200 --host-cpu epyc-7763"))["host_cpu"], "epyc-7763");
    const auto board = predict("jetson-orin");
    EXPECT_EQ(told(board)["host_cpu"], "cortex-a78ae");
    EXPECT_GT(told(board)["host_time_s"]["value"], told(predict("gh200"))["host_time_s"]["value"]);
    EXPECT_THAT(board.out, Not(HasSubstr("guess")));
}

TEST_F(UnseenDevice, WhoseSheetNamesNoCpuIsRefusedInTheWordsOfTheSheet) {
    for (const auto& [cpu, why] :
         {std::pair("abacus", "no device is called 'abacus'"), std::pair("a100", "is not a CPU")}) {
        write_file(file("module.json"),
                   std::string(R"({"schema":"joulecast.device/1","id":"module","kind":"gpu","units":50,
            "peak_flop_per_s_fp32":1e13,"bandwidth_bytes_per_s":1e12,"sources":[{"text":"made up"}],"host_cpu":")") +
                       cpu + "\"}");
        const auto ran = predict(file("module.json"));
        EXPECT_EQ(ran.status, 2) << cpu;
        EXPECT_THAT(ran.err, HasSubstr("\"host_cpu\" in the data sheet of module: "));
        EXPECT_THAT(ran.err, HasSubstr(why));
    }
}

TEST_F(UnseenDevice, IsNotIssuedToByAGpu) {
    const auto ran = predict("h100 --host-cpu a100");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("is not a CPU"));
    EXPECT_EQ(predict("h100 --host-cpu no-such-cpu").status, 2);
    const auto cpu = run_joulecast("predict alexnet --device cpu --host-cpu epyc-7763");
    EXPECT_EQ(cpu.status, 2);
    EXPECT_THAT(cpu.err, HasSubstr("issues its own calls"));
}

TEST_F(UnseenDevice, CanBeAFileOfOnesOwn) {
    write_file(file("mine.json"), R"({"schema":"joulecast.device/1","id":"mine","kind":"gpu","units":50,
        "peak_flop_per_s_fp32":1e13,"bandwidth_bytes_per_s":1e12,"sources":[{"text":"made up"}]})");
    const auto ran = predict(file("mine.json"));
    ASSERT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.err, HasSubstr("mine: forecast from its data sheet"));
}

TEST_F(UnseenDevice, ThatNobodyKnowsIsRefusedWithThoseNearIt) {
    const auto ran = predict("h1000");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("h100-sxm"));
}

TEST_F(UnseenDevice, AdjustsToWhatWasMeasuredOnIt) {
    write_slow_t4(file("t4.db"));
    const auto before = predict("t4");
    const auto after = predict("t4 --db " + file("t4.db"));
    ASSERT_EQ(after.status, 0) << after.err;
    EXPECT_THAT(after.err, HasSubstr("the model was adjusted to "));
    EXPECT_GT(seconds_of(after), 1.5 * seconds_of(before));
    // What torch.compile leaves to libraries runs as it was measured under torch.
    const auto compiled = [&](const std::string& more) {
        return seconds_of(predict("t4 --engine torch-compile" + more));
    };
    EXPECT_GT(compiled(" --db " + file("t4.db")), 1.5 * compiled(""));
}

TEST_F(UnseenDevice, IsRecommendedByWhatWasMeasuredOnItToo) {
    write_slow_t4(file("slow.db"));
    const auto seconds = [](const std::string& more) {
        const auto ran =
            run_joulecast("recommend alexnet --format json --predictor " + file("gpus.jcp") + " --device t4" + more);
        EXPECT_EQ(ran.status, 0) << ran.err;
        return nlohmann::json::parse(ran.out)["default"]["time_s"]["value"].get<double>();
    };
    EXPECT_GT(seconds(" --db " + file("slow.db")), 1.5 * seconds(""));
}

}  // namespace
}  // namespace joulecast::testing
