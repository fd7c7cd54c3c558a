#include "cli/named_devices.h"

#include <algorithm>
#include <iterator>

#include "joulecast/answer/shipped.h"
#include "joulecast/device/device_table.h"
#include "joulecast/graph/readers/read_graph.h"

namespace joulecast::cli {

void take_networks(std::vector<std::string>& devices, std::vector<std::string>& networks) {
    const std::string zoo = shipped_folder("zoo");
    const auto is_network = [&](const std::string& word) {
        if (word == "cpu" || known_devices().find(word.substr(0, word.find('@'))) != nullptr) return false;
        return names_network(word, zoo);
    };
    // The first word is the option's own: a network there is a device that is missing.
    const auto behind_first = devices.empty() ? devices.end() : std::next(devices.begin());
    const auto first =
        std::stable_partition(behind_first, devices.end(), [&](const std::string& word) { return !is_network(word); });
    std::move(first, devices.end(), std::back_inserter(networks));
    devices.erase(first, devices.end());
}

}  // namespace joulecast::cli
