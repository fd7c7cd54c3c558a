#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "joulecast/dataset/dataset.h"
#include "joulecast/profile/plan.h"
#include "joulecast/profile/progress.h"
#include "joulecast/profile/sweep.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast {

/// A sweep's talk with its worker: who it is, at which point it stands, and what to do when it is lost.
class WorkerSession {
  public:
    WorkerSession(Supervisor& supervisor, Dataset& dataset, const SweepSettings& settings, SweepProgress& progress);

    /// Of the worker that runs now: another one after every start.
    const Provenance& provenance() const { return provenance_; }
    /// From now on everything is measured so: a session of its own, since its rows say how they were measured.
    void measure_by(const MeasureSettings& how);
    /// From now on everything is measured at this point: the worker prepares for it, now and after every restart.
    void enter(const OperatingPoint& point);

    /// The answer with its time stamps. A lost worker is no fault of what was asked: it is asked once more of a fresh
    /// one. Lost again, the reference operation shows whose fault it is: when that is measured, the outcome is
    /// `crashed`; when not, three workers were lost in a row, and an Error ends the sweep.
    Measurement measure(const PlannedOperation& planned);
    NetworkMeasurement measure(const PlannedNetwork& planned);
    /// One repeat, of the reference operation or of what was measured before: its time alone. Never asked twice; lost
    /// workers count all the same.
    Measurement measure_reference();
    /// The light operation, whose clock tells what the device stands at (found_clocks.h).
    Measurement measure_light();
    /// The same, shorter: for following the machine's pace.
    Measurement measure_pace();
    Measurement repeat(const PlannedOperation& planned);

  private:
    template <class Ask>
    auto stamped(Ask ask);
    template <class Ask>
    auto persistently(Ask ask);
    Measurement time_once(const PlannedOperation& planned, const MeasureSettings& how);
    PlannedOperation reference() const;
    void be_ready();
    void renew();
    void prepare();
    void count_loss(const std::string& why);

    Supervisor& supervisor_;
    Dataset& dataset_;
    const SweepSettings& settings_;
    SweepProgress& progress_;
    MeasureSettings how_;
    Provenance provenance_;
    OperatingPoint point_;
    Operation reference_;
    std::string remark_;  ///< the last one that preparing gave
    int restarts_ = 0;
    std::string release_remark_;  ///< what was said of a worker of another release
    int losses_ = 0;              ///< since the last answer
};

}  // namespace joulecast
