#include "lab/verbs/choose_baselines.h"

#include "joulecast/error.h"
#include "lab/baselines/baselines.h"

namespace joulecast::cli {

void choose_baselines(const std::vector<std::string>& names, ValidationSettings& settings) {
    for (const std::string& name : names) {
        if (name.empty()) continue;
        const Baseline* of_operations = find_baseline(name);
        const NetworkBaseline* of_networks = find_network_baseline(name);
        if (!of_operations && !of_networks)
            throw UsageError("unknown baseline " + name + ". There are: " + baseline_names() + ".");
        if (of_operations) settings.baselines.push_back(of_operations);
        if (of_networks) settings.network_baselines.push_back(of_networks);
    }
    if (!settings.baselines.empty() || !settings.network_baselines.empty()) return;
    for (const Baseline& baseline : baselines()) settings.baselines.push_back(&baseline);
    for (const NetworkBaseline& baseline : network_baselines()) settings.network_baselines.push_back(&baseline);
}

}  // namespace joulecast::cli
