#include "cli/finding.h"

#include <fstream>
#include <set>
#include <system_error>

namespace joulecast::cli {
namespace {

std::string first_word(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string word;
    file >> word;
    return word;
}

}  // namespace

Finding energy_meter(const std::filesystem::path& root) {
    const auto domains = root / "sys" / "class" / "powercap";
    std::error_code none;
    std::string unreadable;
    int readable = 0;
    for (const auto& entry : std::filesystem::directory_iterator(domains, none)) {
        const auto counter = entry.path() / "energy_uj";
        if (!std::filesystem::exists(counter, none)) continue;
        if (first_word(counter).empty()) {
            unreadable = counter.string();
        } else {
            ++readable;
        }
    }
    Finding finding{"energy meter", Finding::State::works, "", ""};
    if (readable > 0) {
        finding.found = "RAPL, " + std::to_string(readable) + " readable counters";
    } else if (!unreadable.empty()) {
        finding.state = Finding::State::limited;
        finding.found = "RAPL is there, but " + unreadable + " may not be read";
        finding.what_to_do = "sudo chmod a+r /sys/class/powercap/*/energy_uj (until the next boot)";
    } else {
        finding.state = Finding::State::limited;
        finding.found = "no RAPL counter below " + domains.string() + " (virtual machine?)";
        finding.what_to_do = "measure on the bare machine if energy matters; time and memory are measured all the same";
    }
    return finding;
}

Finding clock_governor(const std::filesystem::path& root) {
    const auto cpus = root / "sys" / "devices" / "system" / "cpu";
    std::error_code none;
    std::set<std::string> governors;
    for (const auto& entry : std::filesystem::directory_iterator(cpus, none)) {
        const std::string governor = first_word(entry.path() / "cpufreq" / "scaling_governor");
        if (!governor.empty()) governors.insert(governor);
    }
    Finding finding{"clock governor", Finding::State::works, "", ""};
    for (const auto& governor : governors) finding.found += (finding.found.empty() ? "" : ", ") + governor;
    if (governors.empty()) {
        finding.state = Finding::State::limited;
        finding.found = "not shown by this system (virtual machine?)";
        finding.what_to_do = "nothing can be set here; expect measurements to scatter more";
    } else if (governors != std::set<std::string>{"performance"}) {
        finding.state = Finding::State::limited;
        finding.what_to_do = "sudo cpupower frequency-set -g performance (while measuring)";
    }
    return finding;
}

}  // namespace joulecast::cli
