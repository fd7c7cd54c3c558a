#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/learn/forest.h"
#include "joulecast/physics/clock_curve.h"

namespace joulecast {

// What trees learned of workloads that one device ran at several clocks (train/fit_learned_clocks.h). From one point
// nobody sees whether arithmetic or bytes bind a workload; others that drew as much power, took as long, moved as many
// bytes or have words of their names in common tell it.

/// One way to learn it.
struct LearnedMember {
    /// Of names, in the order of the columns behind the numbers; empty: names do not count.
    std::vector<std::string> words;
    /// log(measured / told) of time and power, told by a curve of half arithmetic and half bytes.
    Forest time;
    Forest power;
    double time_weight = 0;  ///< 0 to 1, as all members together; the rest is what the curve without them tells
    double power_weight = 0;
    friend bool operator==(const LearnedMember&, const LearnedMember&) = default;
};

struct LearnedClocks {
    std::vector<LearnedMember> members;
    friend bool operator==(const LearnedClocks&, const LearnedClocks&) = default;
};

/// Columns before those of words: logarithms of x, y, and of seconds and watts at the highest clocks; how active the
/// memory was.
inline constexpr std::size_t learned_numbers = 5;

/// Lower case; of "mixbench-cuda:benchmark_double32" mixbench, cuda, benchmark, double32, double, 32; each once,
/// sorted.
std::vector<std::string> words_of(std::string_view name);

/// The activity of a memory that cannot move more: refreshing and turning between reading and writing take the rest.
inline constexpr double saturated_memory = 0.85;

/// How active kernels keep the memory at the highest clocks, by what their bytes take of their time. NaN for none.
double memory_active_of(std::span<const KernelTime> kernels);

/// A workload as the trees see it. What it took at the highest clocks is told by the curve of half arithmetic and half
/// bytes from where it is known.
class LearnedWorkload {
  public:
    LearnedWorkload(ClockParameters parameters, const ClockedPoint& known, WorkloadTraits traits);

    /// A row for trees with those words.
    std::vector<float> row(const std::vector<std::string>& words) const;
    /// The clocks that a row holds for.
    static void place(std::vector<float>& row, double x, double y);

    /// log of time and power over those of the known point, by half arithmetic and half bytes.
    double half_time(double x, double y) const;
    double half_power(double x, double y) const;

  private:
    WorkloadCurve half_;
    WorkloadTraits traits_;
    std::vector<std::string> words_;
    double time_s_ = 0;
    double power_w_ = 0;
};

/// What was learned, for one workload.
class LearnedCurve {
  public:
    /// Of `parameters.learned`, which must be there.
    LearnedCurve(const ClockParameters& parameters, const ClockedPoint& known, WorkloadTraits traits);

    /// log of the time over that of the known point, where a curve without trees tells `untaught`; 0 at the known
    /// point.
    double log_time(double x, double y, double untaught) const;
    double log_power(double x, double y, double untaught) const;

  private:
    double learned(double LearnedMember::* weight, Forest LearnedMember::* forest, double half, double untaught,
                   double x, double y) const;

    SharedLearnedClocks clocks_;
    LearnedWorkload workload_;
    std::vector<std::vector<float>> rows_;  ///< of each member, at the known point
};

}  // namespace joulecast
