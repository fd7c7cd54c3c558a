#pragma once

#include <string>
#include <vector>

#include "joulecast/answer/answer.h"

namespace joulecast::cli {

/// "physical power model 12 %": where energy is known worse than from measured power alone, else empty.
std::string power_evidence_words(const NetworkForecast& network);

/// "calls have no record (aten::x). They are estimated from the bytes of their inputs;", or of a published method that
/// it has no forecast of them.
std::string unknown_words(const std::vector<std::string>& operations, const std::string& method);

/// The call's name with its role under an engine that fuses calls: "relu in convolution", "dropout (not run)".
std::string with_role(const std::string& call, const OperationForecast& operation);

/// What an engine other than torch makes of a network by its rules, or that these are not known; empty of torch.
std::string fusion_words(const NetworkForecast& network);

/// That nobody knows how fast convolutions of groups train with channels last; empty of networks without.
std::string groups_note(const NetworkForecast& network);

/// That depthwise convolutions with channels last are beyond the indices of cuDNN's fast kernels, and which batch is
/// not; empty where none is.
std::string indices_note(const NetworkForecast& network);

/// What decides the network's time, for people: "host", "compute" or "memory" (which of the two its kernels wait for
/// longer at these clocks, by their counts and the data sheet), "power limit"; "device" where nothing tells.
std::string limit_name(const NetworkForecast& network);

/// The unit of a quantity as show() prints it, with the space before it: " ms" of "5.45 ms"; "" where it has none.
std::string unit_of(const std::string& shown);
std::string without_unit(const std::string& shown);

/// What forecasts lack, for the user's eyes and for --strict.
struct Shortfalls {
    std::vector<std::string> notes;    ///< all that is to be told, in order
    std::vector<std::string> unknown;  ///< of these, on calls without a record
    bool fits = true;                  ///< all networks into the memory of their devices, as far as that is known

    bool any() const { return !fits || !unknown.empty(); }
};
Shortfalls shortfalls(const std::vector<Forecast>& forecasts);

}  // namespace joulecast::cli
