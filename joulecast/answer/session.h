#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/answer/answer.h"
#include "joulecast/answer/choose_predictor.h"
#include "joulecast/answer/question.h"
#include "joulecast/answer/recently_used.h"
#include "joulecast/forecast/forecast_cache.h"

namespace joulecast {

class NetworkOverClocks;
class WarmDevice;

struct SessionSettings {
    PredictorSource predictor{};    ///< without: the shipped one that covers a device
    std::string database{};         ///< its operations count as measured; empty: none
    std::size_t most_devices = 16;  ///< that are kept, some MB each
    /// Forecasts of networks that are kept at most, 0.1 to 5 MB each; with 0 no graph is kept either. For one question
    /// take 0.
    std::size_t most_networks = 256;
    /// Operations kept of each model of a device in each thread, 1 kB each.
    std::size_t most_operations = ForecastCache::default_capacity;
};

/// Answers questions from a predictor and a database. What was loaded and forecast stays: a bounded number of devices,
/// graphs and forecasts, those asked for lately; a device is the same however it is named, with a clock or without.
/// Several threads may ask at once. Prints nothing.
class Session {
  public:
    using Tell = std::function<void(const std::string& note)>;

    explicit Session(SessionSettings settings = {});
    ~Session();
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    /// Forecasts are made side by side on all cores. `tell` hears each of Answer::notes as it comes up: also those
    /// before an error. Throws UsageError for what a user may not ask (a device that nobody knows, a precision that it
    /// does not have, clocks out of its range), Error and FormatError for files that cannot be read and for networks
    /// that cannot be forecast.
    Answer answer(const Question& question, const Tell& tell = {});

    /// One device of a question, to be asked for models and other clocks, and for that engine if it is named. Throws as
    /// answer().
    AnsweringDevice device(const std::string& name, const std::string& host_cpu = "", const std::string& engine = "");
    /// A network as open_model() gives it. Throws what that throws.
    std::shared_ptr<const Graph> network(const std::string& model, const SymbolValues& sizes, Mode mode);

  private:
    struct Wanted;
    struct Asked;
    struct KeptNetwork;
    class Notes;
    class Networks;

    std::shared_ptr<WarmDevice> warm(const Wanted& wanted, Notes& notes);
    std::shared_ptr<WarmDevice> loaded(const Wanted& wanted, Notes& notes);
    Asked asked(const DeviceAtClock& named, const Question& question, const std::vector<Execution>& executions,
                Notes& notes);
    Forecast forecast(const std::shared_ptr<WarmDevice>& on, const Graph& prepared, const Execution& execution);
    static void check_refused(const std::vector<Asked>& devices, const std::vector<Execution>& executions,
                              Notes& notes);
    void answer_networks(const Question& question, const std::vector<Asked>& devices, Answer& answer, Notes& notes);
    void answer_calls(const Question& question, const std::vector<Asked>& devices, Answer& answer);

    SessionSettings settings_;
    std::mutex keeping_;  ///< of all below
    RecentlyUsed<std::shared_ptr<WarmDevice>> devices_;
    RecentlyUsed<std::shared_ptr<const Graph>> graphs_;
    RecentlyUsed<std::shared_ptr<const KeptNetwork>> networks_;
};

}  // namespace joulecast
