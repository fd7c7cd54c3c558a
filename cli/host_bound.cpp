#include "cli/host_bound.h"

#include <cmath>
#include <set>

#include "joulecast/units/joined.h"

namespace joulecast::cli {

std::string host_word(Host host) {
    if (host == Host::python) return "Python";
    if (host == Host::cpp) return "C++";
    return host == Host::graph ? "CUDA graph" : std::string(name(host));
}

void add_host_bound(const NetworkForecast& forecast, std::vector<HostBound>& runs) {
    if (forecast.limited_by == Bound::host)
        runs.push_back({forecast.device, forecast.point.host, forecast.guessed_host_pace});
}

std::string host_bound_words(std::span<const HostBound> runs) {
    if (runs.empty()) return "";
    std::set<std::string> hosts, guessed;
    std::set<double> paces;
    for (const HostBound& run : runs) {
        hosts.insert(host_word(run.host));
        if (std::isnan(run.guessed_pace)) continue;
        guessed.insert(run.device);
        paces.insert(run.guessed_pace);
    }
    std::string text =
        "limited by host: " + joined({hosts.begin(), hosts.end()}) +
        " takes longer to issue the calls than the device to compute; try a larger batch or --host graph";
    if (paces.size() > 1)
        text += ". The CPU beside each card is guessed by the card's age, so " +
                joined({guessed.begin(), guessed.end()}) +
                " may differ by their CPUs alone: name one for all with --host-cpu";
    else if (!paces.empty())
        text += ". The CPU is a guess: name yours with --host-cpu";
    return text;
}

}  // namespace joulecast::cli
