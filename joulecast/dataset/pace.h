#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/measure/pace_reference.h"

namespace joulecast {

/// How much longer than usual a machine took for everything at a moment, by the reference operation that sweeps repeat
/// every few seconds (docs/method.md, "Pace"). Usual is the median of all repeats on that device with the same worker,
/// number of threads, clocks and card (card.h).
class Pace {
  public:
    explicit Pace(std::span<const ReferenceRow> references) : Pace(references, references) {}
    /// The same with the median of `usual` as 1, so that two databases of one machine can be put to one pace.
    Pace(std::span<const ReferenceRow> references, std::span<const ReferenceRow> usual);

    /// 1.1: everything took a tenth longer. 1 where it is not known: fewer than three repeats, repeats too far apart in
    /// time to follow the machine, or repeats that differ by no more than they err. Both times as of Measurement: the
    /// mean between them (a network is measured for seconds), and at the start where the end is not known.
    double at(const OperatingPoint& asked, const Provenance& provenance, const std::string& started_at,
              const std::string& ended_at = {}) const;

    /// The reference operation under these conditions, and the median of its repeats, where they follow the machine.
    std::optional<PaceReference> usual(const OperatingPoint& asked, const Provenance& provenance) const;

    /// Of all that was measured under the same conditions: the median, NaN where no repeats tell.
    double median_of(const OperatingPoint& asked, const Provenance& provenance) const;

  private:
    struct Course {
        std::vector<double> at_s;  ///< since 1970, ascending
        std::vector<double> log_pace;
        PaceReference usual;

        /// Logarithm of the pace, between two repeats on the line through them, beyond the ends as at these.
        double log_pace_at(double s) const;
        double mean_log_pace(double from_s, double to_s) const;
    };
    const Course* course(const OperatingPoint& asked, const Provenance& provenance) const;
    std::map<std::string, Course> courses_;  ///< by conditions
};

/// How far the machine's pace ranged: the 90th percentile of the repeats' times over the 10th, without single repeats
/// that were disturbed. Under several conditions the largest. NaN where none has five repeats.
double pace_range(std::span<const ReferenceRow> references);
/// Beyond it a machine drifted: what was measured at one time is no measure of another. Quiet ones range within 1.1.
inline constexpr double steady_pace_range = 1.25;

/// Times and energies as they would have been at the usual pace; power stays as it was.
void put_to_one_pace(std::vector<OperationRow>& rows, const Pace& pace);
void put_to_one_pace(std::vector<NetworkRow>& rows, const Pace& pace);

}  // namespace joulecast
