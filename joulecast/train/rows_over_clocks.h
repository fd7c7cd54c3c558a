#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "joulecast/train/train.h"

namespace joulecast {

// Rows of operations and networks that were measured at several clocks.

/// Fewer rows of a clock tell nothing of it.
inline constexpr std::size_t least_rows_of_clock = 3;

bool has_clock(const TrainingRow& row);
/// 0: not told.
double memory_clock_or_zero(const TrainingRow& row);
/// More than 1.5 % apart, of the memory 1 %; false where either is not known.
bool are_other_clocks(double a_mhz, double b_mhz);
bool are_other_memory_clocks(double a_mhz, double b_mhz);

/// Whether the rows were measured at several clocks: rows that were asked for different clocks or power limits ran at
/// clocks more than 2 % apart, or a tenth of the operations ran at clocks more than 3 % apart, as another program had
/// set them. Always false for a CPU.
bool differ_in_clocks(const Device& device, std::span<const TrainingRow> rows);

/// The clocks of the rows: those within 1.5 % are one, few rows between are left out, at most eight core clocks for
/// each memory clock.
std::vector<TrainedClock> trained_clocks(std::span<const TrainingRow> rows);

/// Rows that the frame can learn from, each at its own clocks. Over clocks: those whose clock is known. Of rows that
/// differ in power limits or clocks that nobody read: those of the highest setting alone.
std::vector<TrainingRow> at_own_clocks(const DeviceModel& frame, std::span<const TrainingRow> rows);
/// How many rows that leaves out, and why; empty where it leaves out none.
std::string rows_left_out(const DeviceModel& frame, std::span<const TrainingRow> rows);

/// The networks that calibrate the frame: over clocks all whose clock is known, else of each the runs at the highest.
std::vector<TrainingNetwork> at_learnt_clocks(const DeviceModel& frame, std::span<const TrainingNetwork> networks);

/// A row as forecasts of the model take it: at its own clocks.
PreparedOperation at_own_clocks(const DeviceModel& device, const TrainingRow& row);
/// The point of a network with its clocks as read, else as asked for.
OperatingPoint clocks_of(const NetworkMeasurement& network);
/// Where a network was measured; the highest clocks where nobody read them.
ClockPlace place_of(const DeviceModel& device, const NetworkMeasurement& network);

}  // namespace joulecast
