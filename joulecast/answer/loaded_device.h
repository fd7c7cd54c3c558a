#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "joulecast/answer/choose_predictor.h"
#include "joulecast/answer/question.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/forecast_operation.h"
#include "joulecast/graph/graph.h"

namespace joulecast {

/// A device with the predictor that answers for it and what a database has of it, read once. Several threads may ask it
/// at once.
class LoadedDevice {
  public:
    /// Operations that the database has of a device that no model was trained on adjust its model. An empty database
    /// is none. Throws what choose_predictor() and Dataset throw.
    /// `engines` are those that it will be asked for.
    LoadedDevice(const std::string& device, const PredictorSource& predictor, const std::string& database,
                 std::span<const std::string> engines = {});
    LoadedDevice(LoadedDevice&&) = default;
    LoadedDevice& operator=(LoadedDevice&&) = default;
    ~LoadedDevice() = default;
    LoadedDevice(const LoadedDevice&) = delete;  // models are known by where they lie
    LoadedDevice& operator=(const LoadedDevice&) = delete;

    /// What the database has of the device at several clocks tells how its time and power follow them. Reads the graphs
    /// of the networks measured so: for those who ask about clocks.
    void calibrate_clocks();

    /// Its calls are issued by that CPU: an id, a data sheet's file, or "cpu" for this machine's; empty: by the one
    /// that was measured, or of a GPU that nobody measured the one in its module. Throws UsageError if `cpu` is not a
    /// CPU, or if this device is itself a CPU, and what device_argument() throws.
    void issue_from(const std::string& named);
    /// Forecasts in all settings are as the device is now: `worker` (empty: joulecast's own) is asked for the operation
    /// that its pace is told by, which takes 0.2 s and the worker's start. Throws UsageError where the pace was not
    /// followed when the models' rows were measured, Error where the worker measures another device or fails.
    void follow_pace(const std::string& worker);
    /// How the pace differs from the usual one; empty before it is followed.
    const std::string& pace_note() const { return pace_note_; }

    /// Which CPU issues, and at what pace; empty where it is the one that was measured.
    const std::string& issuer_note() const { return issuer_note_; }

    const Device& device() const { return chosen_.model().device; }
    /// Its file's name; empty for one that was at hand.
    std::string predictor_name() const;
    const std::string& predictor_path() const { return chosen_.path; }
    const Origin& origin() const { return chosen_.predictor.origin; }
    /// What the user must know of the choice; may be empty.
    const std::string& note() const { return chosen_.note; }
    /// The same in a few words: "h200: forecast from its data sheet, with wide intervals".
    std::string short_note() const;
    /// Of the database: how many operations adjusted the model. Empty where nothing is to be said.
    const std::string& database_note() const { return database_note_; }
    /// nullptr where none was named.
    const Dataset* database() const { return database_ ? &*database_ : nullptr; }

    const std::vector<const Feature*>& columns() const { return columns_; }
    /// The word of the precision that is forecast where that one is asked for: what PyTorch's default is on the device.
    std::string settled(const Execution& execution) const;
    /// That PyTorch's default is forecast as fp32 where it is not; else empty.
    std::string settled_note(const Execution& execution) const;
    /// Why the device has no forecast at that precision, or of that engine; absent where it has.
    std::optional<std::string> refusal_of(const Execution& execution) const;
    std::optional<std::string> refusal_of_format(const Execution& execution) const;
    /// The model that learnt how the device computes so with that engine. Throws UsageError where it cannot compute or
    /// be issued to so, or was measured with other matrix products alone, or not with that engine.
    const DeviceModel& model_for(const Execution& execution) const;
    /// That the model's device computes with; 0 of a GPU.
    static int computing_threads(const DeviceModel& model);
    /// Who issues the calls to that model: another engine than torch does it as it was measured, whatever host torch is
    /// asked for.
    static Host host_for(const DeviceModel& model, const Execution& execution);
    /// What the database has of that model's device and setting.
    const MeasuredOperations& measured(const DeviceModel& model) const { return measured_.at(&model); }
    /// That there is a database, but nothing in it of that model's device and setting; empty where there is.
    std::string measured_note(const DeviceModel& model) const;

    /// The graph as it runs on the device. Throws as model_for() and at_precision() do.
    Graph prepared(Graph graph, const Execution& execution) const;

  private:
    /// Asked for, or else that of the device's measurements.
    const std::string& engine_of(const Execution& execution) const;

    std::optional<Dataset> database_;
    ChosenPredictor chosen_;
    std::vector<std::string> engines_;  ///< that the device was measured with, the usual one first
    std::string database_path_;
    std::string database_note_;
    std::string issuer_note_;
    std::string own_cpu_;  ///< DataSheet::host_cpu of a GPU that nobody measured
    std::string pace_note_;
    std::vector<const Feature*> columns_;
    std::map<const DeviceModel*, MeasuredOperations> measured_;
};

}  // namespace joulecast
