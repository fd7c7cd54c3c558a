#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "cli/predict_request.h"
#include "joulecast/answer/session.h"

namespace joulecast::cli {

/// What requests are answered with.
struct RequestSource {
    std::string device;     ///< of requests that name none; may be empty
    std::string predictor;  ///< as --predictor
    std::string database;   ///< as --db
    bool strict = false;    ///< calls without a record and networks that do not fit are errors
};

/// Answers requests (docs/guide/predict.md) by a Session. Writes nothing but its answers. Several threads may ask at
/// once.
class PredictService {
  public:
    explicit PredictService(RequestSource source);

    /// One line of JSON without its end, for one of a request. What cannot be answered is {"id":..., "error":"...",
    /// "status":1 or 2}, 2 where the request is wrong. Throws nothing.
    std::string answer(std::string_view line);
    /// Whether an answer had operations without a record.
    bool parts_were_unknown() const { return parts_were_unknown_; }

  private:
    DeviceAtClock device_of(const PredictRequest& request) const;
    std::string body(PredictRequest& request);
    void check(const NetworkForecast& network);

    RequestSource source_;
    std::atomic<bool> parts_were_unknown_ = false;
    Session session_;
};

}  // namespace joulecast::cli
