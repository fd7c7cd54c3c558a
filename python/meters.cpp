#include "python/meters.h"

#include <optional>
#include <string>

#include <nanobind/stl/string.h>

#include "joulecast/measure/meter_log.h"
#include "joulecast/measure/trace.h"
#include "joulecast/meter/open_meter.h"

namespace nb = nanobind;

namespace joulecast::python {
namespace {

/// A meter that is read in a thread of its own, from start() to stop(). Without a meter it only knows why.
class Recording {
  public:
    Recording(const std::string& meter, bool for_gpu, const std::string& gpu) {
        check_meter_name(meter);
        MeterRequest request;
        request.name = meter;
        request.for_gpu = for_gpu;
        request.gpu = gpu;
        found_ = open_meter(request);
    }

    std::string meter() const { return found_.meter ? found_.meter->facts().name : ""; }
    const std::string& missing_reason() const { return found_.missing_reason; }

    void start(double period_s) {
        if (found_.meter) log_.emplace(*found_.meter, period_s);
    }
    void stop(double linger_s) {
        if (log_) log_->stop(linger_s);
    }
    /// joules, mean and highest watts, why not
    nb::tuple between(double start_s, double end_s) const {
        TraceEnergy found;
        found.missing_reason = found_.missing_reason;
        if (log_) {
            found = energy_between(log_->readings(), found_.meter->facts().counts_energy, start_s, end_s);
            if (!log_->lost().empty()) found.missing_reason = log_->lost();
        }
        return nb::make_tuple(found.energy_j, found.power_w, found.peak_power_w, found.missing_reason);
    }
    /// (seconds on the steady clock, watts)
    nb::list samples() const {
        nb::list result;
        if (!log_) return result;
        for (const PowerSample& sample : power_samples(log_->readings(), found_.meter->facts().counts_energy)) {
            result.append(nb::make_tuple(sample.time_s, sample.power_w));
        }
        return result;
    }

  private:
    FoundMeter found_;
    std::optional<MeterLog> log_;  ///< after the meter that it reads
};

}  // namespace

void add_meters(nb::module_& module) {
    const auto free = nb::call_guard<nb::gil_scoped_release>();
    nb::class_<Recording>(module, "Recording")
        .def(nb::init<const std::string&, bool, const std::string&>(), nb::arg("meter"), nb::arg("for_gpu"),
             nb::arg("gpu"), free)
        .def_prop_ro("meter", &Recording::meter)
        .def_prop_ro("missing_reason", &Recording::missing_reason)
        .def("start", &Recording::start, nb::arg("period_s"), free)
        .def("stop", &Recording::stop, nb::arg("linger_s"), free)
        .def("between", &Recording::between, nb::arg("start_s"), nb::arg("end_s"))
        .def("samples", &Recording::samples);
}

}  // namespace joulecast::python
