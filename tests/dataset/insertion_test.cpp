#include "joulecast/dataset/insertion.h"

#include <gmock/gmock.h>

#include "dataset/samples.h"
#include "joulecast/error.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using namespace joulecast::testing;

class InsertionTest : public DatasetFolder {
  protected:
    Dataset dataset() const { return Dataset(folder / "a.db"); }

    static OperationRow row(std::int64_t batch, const std::string& session = "s1") {
        return {0, sample_measurement(relu(batch)), Mode::inference, sample_provenance(session)};
    }

    static NetworkMeasurement network() {
        NetworkMeasurement measurement;
        measurement.model = "mynet";
        measurement.symbols = {{"batch", 8}, {"seq", 128}};
        return measurement;
    }
};

TEST_F(InsertionTest, StoresNothingWithoutACommit) {
    Dataset into = dataset();
    {
        Insertion insertion(into);
        insertion.add(sample_device());
        EXPECT_TRUE(insertion.add(row(1)));
        EXPECT_TRUE(insertion.add(sample_line(relu(1), 3)));
    }
    EXPECT_TRUE(into.devices().empty() && into.operations().empty() && into.network_operations().empty());
}

TEST_F(InsertionTest, RemembersNothingOfWhatWasRolledBack) {
    // Session ids are remembered within an insertion: those of one that was given up may later be another session's.
    Dataset into = dataset();
    into.insert(sample_device());
    {
        Insertion given_up(into);
        given_up.add(row(1, "given up"));
    }
    Insertion insertion(into);
    insertion.add(row(1, "other"));
    insertion.add(row(1, "given up"));
    insertion.commit();
    const auto rows = into.operations();
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows.at(0).provenance.session, "other");
    EXPECT_EQ(rows.at(1).provenance.session, "given up");
}

TEST_F(InsertionTest, SkipsWhatIsThereAndKeepsRepeatsOfOtherSessions) {
    Dataset into = dataset();
    into.insert(sample_device());
    Insertion insertion(into);
    EXPECT_TRUE(insertion.add(row(1, "s1")));
    EXPECT_FALSE(insertion.add(row(1, "s1")));
    EXPECT_TRUE(insertion.add(row(1, "s1 repeat 2")));
    insertion.commit();
    EXPECT_EQ(into.operations().size(), 2U);
    EXPECT_EQ(into.operations().at(1).measurement.block_s.size(), 0U);
    EXPECT_EQ(into.operations({}, true).at(1).measurement.block_s, row(1).measurement.block_s);
}

TEST_F(InsertionTest, RefusesRowsOfADeviceThatIsNotThere) {
    Dataset into = dataset();
    Insertion insertion(into);
    EXPECT_THROW(insertion.add(row(1)), Error);
}

TEST_F(InsertionTest, GivesAListedNetworkBackAsABag) {
    Dataset into = dataset();
    Insertion insertion(into);
    EXPECT_TRUE(insertion.add(sample_line(relu(1), 3)));
    EXPECT_TRUE(insertion.add(sample_line(relu(2), 1)));
    EXPECT_FALSE(insertion.add(sample_line(relu(2), 9)));  // one line for each operation
    insertion.commit();
    const auto graph = into.listed_network(network());
    ASSERT_TRUE(graph);
    EXPECT_EQ(graph->name, "mynet");
    EXPECT_FALSE(graph->has_edges);
    EXPECT_EQ(graph->symbols.at("batch").value, 8);
    const auto counted = count_operations(*graph);
    ASSERT_EQ(counted.size(), 2U);
    EXPECT_EQ(counted.at(0).operation, relu(1));
    EXPECT_EQ(counted.at(0).count, 3);
    EXPECT_EQ(counted.at(1).count, 1);
}

TEST_F(InsertionTest, FindsAListByModelSymbolsModeAndPrecision) {
    Dataset into = dataset();
    Insertion insertion(into);
    insertion.add(sample_line(relu(1), 3));
    insertion.commit();
    const auto is_listed = [&](auto change) {
        NetworkMeasurement other = network();
        change(other);
        return into.listed_network(other).has_value();
    };
    EXPECT_TRUE(is_listed([](auto&) {}));
    EXPECT_FALSE(is_listed([](auto& n) { n.model = "other"; }));
    EXPECT_FALSE(is_listed([](auto& n) { n.symbols["batch"] = 9; }));
    EXPECT_FALSE(is_listed([](auto& n) { n.mode = Mode::training; }));
    EXPECT_FALSE(is_listed([](auto& n) { n.precision = "bf16"; }));
}

TEST_F(InsertionTest, LeavesAListThatIsThereWhole) {
    Dataset into = dataset();
    for (const std::int64_t batch : {1, 2}) {
        Insertion insertion(into);
        EXPECT_EQ(insertion.add(sample_line(relu(batch), 3)), batch == 1);
        insertion.commit();
    }
    EXPECT_EQ(into.network_operations().size(), 1U);
}

TEST_F(InsertionTest, RefusesLinesThatCannotBe) {
    Dataset into = dataset();
    Insertion insertion(into);
    const auto why = [&](auto change) {
        NetworkOperationRow line = sample_line(relu(1), 1);
        change(line);
        try {
            insertion.add(line);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    EXPECT_THAT(why([](auto& line) { line.count = 0; }), HasSubstr("count is below 1"));
    EXPECT_THAT(why([](auto& line) { line.model.clear(); }), HasSubstr("model is empty"));
    EXPECT_THAT(why([](auto& line) { tensors(line.operation)[0]->requires_grad = true; }),
                HasSubstr("a gradient flows"));
}

TEST_F(InsertionTest, MergesListsAndRows) {
    Dataset from = dataset();
    from.insert(sample_device());
    Insertion insertion(from);
    insertion.add(row(1));
    insertion.add(sample_line(relu(1), 3));
    insertion.commit();
    Dataset into(folder / "b.db");
    EXPECT_EQ(into.merge(from), 2);
    EXPECT_EQ(into.merge(from), 0);
    EXPECT_EQ(into.network_operations().at(0).count, 3);
    EXPECT_EQ(into.network_operations().at(0).source, "made up");
}

}  // namespace
}  // namespace joulecast
