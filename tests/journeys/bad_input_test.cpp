// Measurements that say less than they seem to: what a user is told of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "joulecast/dataset/sqlite.h"
#include "tests/journeys/pretended.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using namespace joulecast::testing;

TEST(JourneyWithBadInput, AConstantClockTellsNothingOfOthers) {
    const TemporaryFolder folder;
    const std::string db = folder.file("a.db"), predictor = folder.file("p.jcp"), truth = folder.file("truth.db");
    profiled("resnet18 vgg11 mobilenet_v2 --set batch=8 --networks --clocks 900 --db " + db + on("pretend-a"));
    trained(db, predictor);
    const Ran ran = run_joulecast("predict resnet34 --set batch=8 --device pretend-a@1350 --predictor " + predictor);
    EXPECT_EQ(ran.status, 0) << ran.err;
    EXPECT_THAT(ran.out + ran.err, HasSubstr("clocks of pretend-a: its architecture's curve, since one clock"));
    EXPECT_THAT(ran.out, HasSubstr("extrapolated"));
    profiled(unseen_networks + " --clocks 750,1050,1350 --db " + truth + on("pretend-a", "--truth"));
    const Score score = scored(predictor, truth);
    EXPECT_LT(score.time, 0.153) << score;   // 0.066
    EXPECT_LT(score.power, 0.178) << score;  // 0.078
    EXPECT_GE(score.inside, 0.6) << score;   // 1: the intervals are that wide
}

/// Half of the rows know the clock that they were measured at, as those of old releases and of other people's tables do
/// not.
TEST(JourneyWithBadInput, RowsWithoutAClockBesideRowsWithOneAreCounted) {
    const TemporaryFolder folder;
    const std::string db = folder.file("a.db");
    profiled("resnet18 --set batch=8 --db " + db + on("pretend-a"));
    sqlite::Connection(db, sqlite::Connection::Access::read_write)
        .execute("UPDATE operations SET real_sm_clock_mhz = NULL");
    const Ran ran = run_joulecast("profile alexnet --set batch=8 --clocks 750 --db " + db + on("pretend-a"));
    EXPECT_EQ(ran.status, 0) << ran.err;
    const Ran again = run_joulecast("profile vgg11 --set batch=8 --clocks 750 --db " + db + on("pretend-a"));
    EXPECT_THAT(again.err, HasSubstr("stored measurements of pretend-a have no clock, others have one"));
    const Ran info = run_joulecast("info " + db);
    EXPECT_THAT(info.out, HasSubstr("of pretend-a, beside others that tell it"));
}

/// The laws of pretend-a with one number replaced wherever it stands: another machine under the same name.
void write_laws(const std::string& file, const std::string& key, double factor) {
    auto cards = nlohmann::json::parse(run_shell("'" PRETEND "' --print-laws").out);
    for (auto& card : cards.at("cards"))
        for (auto& [name, value] : card.items())
            if (name.starts_with(key) && value.is_number_float()) value = value.get<double>() * factor;
    write_file(file, cards.dump());
}

TEST(JourneyWithBadInput, AWorkerOfAnotherDataSheetUnderTheSameNameIsTold) {
    const TemporaryFolder folder;
    const std::string laws = folder.file("laws.json"), db = folder.file("a.db");
    write_laws(laws, "bandwidth_bytes_per_s", 0.5);
    profiled("resnet18 --set batch=8 --db " + db + on("pretend-a"));
    const Ran other =
        run_joulecast("profile alexnet --set batch=8 --db " + db + on("pretend-a", "--laws '" + laws + "'"));
    EXPECT_EQ(other.status, 0) << other.err;
    EXPECT_THAT(other.err,
                HasSubstr("pretend-a differs from the database: bandwidth_bytes_per_s 9.2e+11, now 4.6e+11"));
}

TEST(JourneyWithBadInput, AWorkerOfAnotherPaceUnderTheSameNameIsTold) {
    const TemporaryFolder folder;
    const std::string laws = folder.file("laws.json"), db = folder.file("a.db");
    write_laws(laws, "matrix_share", 0.5);  // of the peak: what no data sheet tells
    const std::string first = "profile resnet18 --set batch=8 --db " + db + on("pretend-a");
    EXPECT_THAT(run_joulecast(first).err, Not(HasSubstr("earlier sessions")));
    const std::string second = "profile alexnet --set batch=8 --db " + db;
    const Ran same = run_joulecast(second + on("pretend-a", "--seed 2"));
    EXPECT_THAT(same.err, Not(HasSubstr("earlier sessions")));
    EXPECT_THAT(same.err, Not(HasSubstr("differs from the database")));
    const Ran other =
        run_joulecast("profile vgg11 --set batch=8 --db " + db + on("pretend-a", "--laws '" + laws + "'"));
    EXPECT_EQ(other.status, 0) << other.err;
    EXPECT_THAT(other.err, HasSubstr("the reference operation takes "));
    EXPECT_THAT(other.err, HasSubstr("time than in earlier sessions on pretend-a"));
}

}  // namespace
}  // namespace joulecast
