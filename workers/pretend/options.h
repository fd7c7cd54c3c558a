#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workers/pretend/card.h"

namespace joulecast::pretend {

/// What goes wrong on demand.
enum class Mishap { crash, hang, out_of_memory, unsupported, unstable, outlier, impossible, no_energy, thermal };

/// One word of --fail: KIND:EVERY, each EVERY-th trial; or KIND:WORD, each trial whose operation or network has the
/// WORD in its text.
struct Demand {
    Mishap mishap = Mishap::crash;
    std::int64_t every = 0;
    std::string word;
};

struct Options {
    std::vector<Card> cards;
    std::string device;                 ///< that hello tells of where none is asked for; empty: the first
    std::optional<std::uint64_t> seed;  ///< of noise and drift; absent: another one each time
    double noise = 0.006;
    double drift = 0.01;
    std::vector<Demand> demands;
    bool print_laws = false;
    bool help = false;
    bool version = false;
};

extern const char* const usage;

/// Throws UsageError.
Options parse_options(const std::vector<std::string>& words);

}  // namespace joulecast::pretend
