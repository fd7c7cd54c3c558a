#include "joulecast/dataset/suspect_rows.h"

#include <gtest/gtest.h>

#include "dataset/samples.h"
#include "joulecast/dataset/repeat_spread.h"

namespace joulecast {
namespace {

using namespace joulecast::testing;

OperationRow operation_row(std::int64_t id, Outcome outcome) {
    OperationRow row{id, sample_measurement(relu(1)), Mode::inference, sample_provenance()};
    row.measurement.outcome = outcome;
    row.measurement.message = "time is 1e+308 s";
    return row;
}

TEST(SuspectRows, AreNamedByTheFirstAndCounted) {
    const std::vector<OperationRow> rows{operation_row(4, Outcome::ok), operation_row(5, Outcome::suspect),
                                         operation_row(6, Outcome::crashed), operation_row(7, Outcome::suspect)};
    NetworkRow network{2, sample_network("resnet18", 8), sample_provenance()};
    const std::string first = "operation 5 of the database cannot be right, and nothing learns from it (" +
                              signature(relu(1)) + "): time is 1e+308 s";
    EXPECT_EQ(suspect_rows(std::span(rows).first(2)), first);
    EXPECT_EQ(suspect_rows(rows, std::span(&network, 1)), first + "; and 1 other row");
    network.measurement.outcome = Outcome::suspect;
    EXPECT_EQ(suspect_rows(rows, std::span(&network, 1)), first + "; and 2 other rows");
    EXPECT_EQ(suspect_rows(std::span(rows).first(1)), "");
}

// One repeat of 1e308 s made the pace of its whole session infinite, and every operation of it unusable.
TEST(SuspectRows, RepeatsThatCannotBeRightAreNamedAndTellNoSpread) {
    std::vector<ReferenceRow> repeats;
    for (int i = 0; i < 4; ++i) {
        repeats.push_back(sample_reference("2026-01-02T03:04:0" + std::to_string(i) + ".000Z", 0.1 + 0.001 * i));
        repeats.back().id = i + 1;
    }
    const RepeatSpread sound(repeats);
    repeats.push_back(sample_reference("2026-01-02T03:04:09.000Z", 1e308));
    repeats.back().id = 5;
    EXPECT_EQ(suspect_rows({}, {}, repeats), "repeat 5 of the database cannot be right, and nothing learns from it (" +
                                                 repeats.back().operation +
                                                 "): time is 1e+308 s, not from 1 ns to a day");
    const ReferenceRow& row = repeats.front();
    EXPECT_EQ(RepeatSpread(repeats).of(row.asked.device, row.provenance.session),
              sound.of(row.asked.device, row.provenance.session));
}

}  // namespace
}  // namespace joulecast
