#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/forecast_text.h"
#include "joulecast/answer/session.h"

namespace joulecast::cli {

/// A request to a language model: it reads a prompt and writes tokens, each with the ones before it in its cache.
struct LanguageRequest {
    std::int64_t prompt = 0;  ///< tokens that it reads
    std::int64_t tokens = 0;  ///< that it writes; the first of them comes out of reading the prompt
};

/// A part of a request, for all sequences of the batch.
struct RequestPart {
    double tokens = 0;  ///< of all sequences
    Estimate<Seconds> time;
    Estimate<Joules> energy;
    std::string limited_by;

    double tokens_per_s() const { return tokens / time.value.value(); }
    double energy_per_token_j() const { return energy.value.value() / tokens; }
};

/// What a request takes on one device in one execution.
struct RequestForecast {
    Forecast prefill;  ///< of the prompt
    RequestPart read;
    RequestPart write;        ///< the tokens behind the first; no tokens: time and energy are 0
    Estimate<Seconds> time;   ///< of the whole
    Estimate<Joules> energy;  ///< unknown() where one part's is not known
    double memory_bytes = 0;  ///< the larger of reading and of the last step, with its cache
    std::string overflow;     ///< why that does not fit into the device; empty where it does
    std::int64_t batch = 1;
};

/// Decoding steps are forecast with the first, the middle and the last length of the cache, and summed by Simpson's
/// rule: their cost is all but linear in it. One model makes all of them, so the bounds of intervals add up. `question`
/// is of language models that have a decoding step in the zoo, at batches alone. Throws UsageError for others.
std::vector<RequestForecast> forecast_requests(const Question& question, const LanguageRequest& request,
                                               const SessionSettings& settings, const Session::Tell& tell);

std::string requests_to_text(const std::vector<RequestForecast>& forecasts, const LanguageRequest& request,
                             const TextSettings& settings);
/// "joulecast.request/1".
std::string requests_to_json(const std::vector<RequestForecast>& forecasts, const LanguageRequest& request);
std::string requests_to_csv(const std::vector<RequestForecast>& forecasts, const LanguageRequest& request);

}  // namespace joulecast::cli
