#include "cli/host_bound.h"

#include <set>

#include "joulecast/units/joined.h"

namespace joulecast::cli {

std::string host_word(Host host) {
    if (host == Host::python) return "Python";
    if (host == Host::cpp) return "C++";
    return host == Host::graph ? "CUDA graph" : std::string(name(host));
}

std::vector<HostBound> host_bound(std::span<const Forecast> forecasts) {
    std::vector<HostBound> runs;
    for (const Forecast& f : forecasts)
        if (f.network.limited_by == Bound::host)
            runs.push_back({f.network.device, f.network.point.host, has_assumed_host(f.network)});
    return runs;
}

std::string host_bound_words(std::span<const HostBound> runs) {
    if (runs.empty()) return "";
    std::set<std::string> hosts, guessed;
    for (const HostBound& run : runs) {
        hosts.insert(host_word(run.host));
        if (run.is_assumed) guessed.insert(run.device);
    }
    std::string text =
        "limited by host: " + joined({hosts.begin(), hosts.end()}) +
        " takes longer to issue the calls than the device to compute; try a larger batch or --host graph";
    if (guessed.size() == 1) text += ". The CPU is a guess: name yours with --host-cpu";
    if (guessed.size() > 1)
        text += ". The CPU beside each card is guessed by the card's age, so " +
                joined({guessed.begin(), guessed.end()}) +
                " may differ by their CPUs alone: name one for all with --host-cpu";
    return text;
}

}  // namespace joulecast::cli
