#include "joulecast/train/fit_voltage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "joulecast/device/device_table.h"
#include "joulecast/train/fit_over_clocks.h"

namespace joulecast {
namespace {

/// A card by a law of this test: arithmetic at 70 % of its peak, bytes at 80 % of the bandwidth, 4 us beside. The
/// voltage of its core, which rises along a line from the knee on, moves no byte of its memory.
struct Card {
    double knee = 0.7;
    double idle_at_knee_w = 30;  ///< idle power goes on along the same line up to the knee
    Device sheet = find_device("a100-40g-pcie");

    double voltage(double x) const { return 1 + 1.2 * std::max(0.0, x - knee); }

    /// What an operation draws more or less than others of its kind, at all clocks: a fifth, by its size.
    static double own_factor(const TrainingRow& row) {
        return 1 + 0.2 * std::sin(7 * std::log(row.operation.roofline.byte_s));
    }

    TrainingRow measured(const std::string& text, double mhz) const {
        TrainingRow row;
        const Operation operation = parse_operation(text);
        row.operation = prepare(operation, sheet, Math::ieee);
        row.group = operation_group(operation);
        row.sm_clock_mhz = row.asked_sm_clock_mhz = mhz;
        const double x = mhz / highest_clock_mhz(sheet);
        const double arithmetic = row.operation.roofline.flop_s / 0.7 / x;
        const double bytes = row.operation.roofline.byte_s / 0.8;
        row.time_s = 4e-6 + std::max(arithmetic, bytes);
        const double squared = voltage(x) * voltage(x) * own_factor(row);
        row.idle_power_w = (idle_at_knee_w + 10 * x) * voltage(x);
        row.power_w = row.idle_power_w + (squared * 150 * x * arithmetic + 90 * own_factor(row) * bytes) / row.time_s;
        return row;
    }

    std::vector<TrainingRow> rows(const std::vector<double>& clocks_mhz) const {
        std::vector<TrainingRow> rows;
        for (const double mhz : clocks_mhz) {
            for (int size = 6; size < 15; ++size) {
                for (const int part : {4, 5, 6, 7}) {
                    const std::string n = std::to_string(part << size);
                    rows.push_back(measured("aten::linear(input=f32[" + n + ",1024], weight=f32[1024,1024])", mhz));
                    rows.push_back(measured("aten::relu(self=f32[" + std::to_string(part << (size + 10)) + "])", mhz));
                }
            }
        }
        return rows;
    }

    ClockParameters settled(const std::vector<double>& clocks_mhz) const {
        OperatingPoint point;
        point.device = sheet.id;
        return *frame_over_clocks(frame_of(sheet, point), rows(clocks_mhz), {}).clocks;
    }
};

double highest_mhz() {
    return highest_clock_mhz(Card{}.sheet);
}

// The curves of single operations alone put a knee of 0.62 at 0.47, since half of them draw for bytes.
TEST(FitVoltage, FindsTheKneeOfACardWhoseMemoryHasAVoltageOfItsOwn) {
    for (const double knee : {0.60, 0.66, 0.74}) {
        Card card;
        card.knee = knee;
        const ClockParameters settled =
            card.settled({0.40 * highest_mhz(), 0.58 * highest_mhz(), 0.80 * highest_mhz(), highest_mhz()});
        EXPECT_NEAR(settled.knee, knee, 0.012) << knee;
        EXPECT_NEAR(relative_voltage(settled, 1) / relative_voltage(settled, 0.8), card.voltage(1) / card.voltage(0.8),
                    0.02);
    }
}

TEST(FitVoltage, PutsNoKneeWhereIdlePowerStillGoesUpAlongALine) {
    Card card;
    card.knee = 0.86;
    const ClockParameters settled =
        card.settled({0.40 * highest_mhz(), 0.60 * highest_mhz(), 0.84 * highest_mhz(), highest_mhz()});
    EXPECT_GE(settled.knee, 0.84);
}

TEST(FitVoltage, LeavesTheArchitecturesKneeWhereTwoClocksTellNothing) {
    Card card;
    card.knee = 0.86;
    const ClockParameters settled = card.settled({0.60 * highest_mhz(), highest_mhz()});
    EXPECT_NEAR(settled.knee, default_clock_parameters(card.sheet).knee, 0.03);
    EXPECT_EQ(settled.bend, 1.5);
}

TEST(FitVoltage, AKneeThatNothingTellsIsTheArchitecturesAmongThoseThatMayBe) {
    Card card;
    card.knee = 0.72;  // between 0.64 and 0.95 of the highest clock any knee tells the rows
    const ClockParameters settled =
        card.settled({0.30 * highest_mhz(), 0.45 * highest_mhz(), 0.64 * highest_mhz(), 0.95 * highest_mhz()});
    EXPECT_NEAR(settled.knee, 0.72, 0.04);
}

}  // namespace
}  // namespace joulecast
