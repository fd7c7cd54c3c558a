#pragma once

#include <filesystem>
#include <string>

#include "joulecast/device/device.h"

namespace joulecast {

/// A folder that comes with joulecast, zoo/ or predictors/: under $JOULECAST_HOME, under the folder of ship_from(), or
/// found relative to the program or to this library (build tree, install tree). It need not exist.
std::string shipped_folder(const std::string& name);

/// Where these folders lie for a program that is not installed as ours is; $JOULECAST_HOME goes before it. For the
/// start of a program, before anything is asked.
void ship_from(const std::filesystem::path& folder);

bool is_on_path(const std::string& program);

/// The path of a program in the folder of this one; empty where it has none of that name. Throws Error where that
/// folder cannot be found.
std::string beside_this_program(const std::string& program);

/// The worker command where none is given: joulecast-torch (host python: joulecast-python) beside this program, or else
/// the one on the PATH. Throws Error, saying what to do, where there is no joulecast-python.
std::string default_worker(Host host = Host::cpp);

}  // namespace joulecast
