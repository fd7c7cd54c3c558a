#pragma once

#include <string>
#include <vector>

namespace joulecast::cli {

/// --device takes all words behind it: `--device h100 resnet50` names a network there. Moves those that name networks
/// and no device (names_network()) to the networks.
void take_networks(std::vector<std::string>& devices, std::vector<std::string>& networks);

}  // namespace joulecast::cli
