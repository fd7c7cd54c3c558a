#pragma once

#include <string>

#include "joulecast/device/device.h"
#include "joulecast/recommend/candidate.h"

namespace joulecast {

/// How to set a device so.
struct Application {
    std::string command;  ///< exact, for a shell; empty: there is none, or nothing to set
    std::string undo;     ///< what takes it back
    std::string note;     ///< why there is no command, or what to know of it; may be empty
};

/// NVIDIA: locked clocks (nvidia-smi -lgc, -lmc: Volta and newer) or application clocks (-ac: Kepler to Pascal), and
/// the power limit (-pl); AMD: rocm-smi --setperfdeterminism and --setpoweroverdrive. All of them need root.
Application how_to_apply(const Candidate& candidate, const Device& device);

/// What to write in a program for the precision, the memory format and the engine: "model.to(torch.bfloat16),
/// torch.compile(model)". Empty where PyTorch does so by itself.
std::string how_to_run(const Candidate& candidate, const Device& device);

}  // namespace joulecast
