#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cli/device_forecasts.h"
#include "cli/forecast_request.h"
#include "cli/recently_used.h"

namespace joulecast::cli {

/// What requests are answered with.
struct RequestSource {
    std::string device;     ///< of requests that name none; may be empty
    std::string predictor;  ///< as --predictor
    std::string database;   ///< as --db
    bool strict = false;    ///< calls without a record and networks that do not fit are errors
};

/// Answers requests (docs/guide/predict.md), from what stays loaded: a bounded number of devices, graphs and forecasts,
/// those asked for lately. Writes nothing but its answers. Several threads may ask at once.
class ForecastService {
  public:
    explicit ForecastService(RequestSource source);

    /// One line of JSON without its end, for one of a request. What cannot be answered is {"id":..., "error":"...",
    /// "status":1 or 2}, 2 where the request is wrong. Throws nothing.
    std::string answer(std::string_view line);
    /// Whether an answer had operations without a record.
    bool parts_were_unknown() const { return parts_were_unknown_; }

  private:
    /// A request's device, and where it is to run.
    struct Wanted {
        std::string device;
        OperatingPoint asked;
        std::string host_cpu;  ///< empty: the one that was measured
    };

    Wanted wanted(const ForecastRequest& request) const;
    std::shared_ptr<SharedForecasts> served(const Wanted& wanted);
    std::shared_ptr<const Graph> graph(const ForecastRequest& request, const std::string& key);
    std::shared_ptr<const ForecastOverClocks> forecast(const ForecastRequest& request, const Wanted& wanted,
                                                       SharedForecasts& on);
    std::shared_ptr<const ForecastOverClocks> forecast_anew(const ForecastRequest& request,
                                                            const std::string& graph_key, SharedForecasts& on);
    std::string body(const ForecastRequest& request);
    void check(const NetworkForecast& network);

    RequestSource source_;
    std::atomic<bool> parts_were_unknown_ = false;
    std::mutex keeping_;  ///< of all below
    RecentlyUsed<std::shared_ptr<SharedForecasts>> devices_;
    RecentlyUsed<std::shared_ptr<const Graph>> graphs_;
    RecentlyUsed<std::shared_ptr<const ForecastOverClocks>> forecasts_;
};

}  // namespace joulecast::cli
