#include "cli/finding.h"

#include <fstream>
#include <set>
#include <system_error>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/meter/clock_guard.h"
#include "joulecast/meter/clock_lease.h"
#include "joulecast/meter/nvml.h"

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

Finding gpu_driver(const std::string& nvml_library) {
    Finding finding{"GPU driver", Finding::State::missing, "", "needed for measuring an NVIDIA GPU only"};
    const auto nvml = Nvml::open(nvml_library, finding.found);
    if (!nvml) return finding;
    finding.found = "NVIDIA " + nvml->driver();
    for (const NvmlGpu& gpu : nvml->gpus()) finding.found += ", " + gpu.label();
    if (!nvml->gpus().empty()) return {finding.part, Finding::State::works, finding.found, ""};
    return {finding.part, Finding::State::broken, finding.found + ", but no GPU answers",
            "look for NVRM and Xid in the kernel log; a reboot may help"};
}

Finding gpu_clocks(const std::string& nvml_library) {
    Finding finding{"GPU clocks", Finding::State::missing, "", "needed for measuring at several clocks only"};
    const auto nvml = Nvml::open(nvml_library, finding.found);
    if (!nvml) return finding;
    const std::vector<NvmlGpu> gpus = nvml->gpus();
    if (gpus.empty()) return {finding.part, finding.state, "no GPU answers", finding.what_to_do};
    for (const NvmlGpu& gpu : gpus) {
        try {
            const auto folder = default_clock_state_folder();
            if (is_leased(folder, gpu) || !left_behind(folder, gpu)) continue;
            return {finding.part, Finding::State::limited, gpu.label() + " was left locked by a measurement that died",
                    "joulecast clocks reset"};
        } catch (const Error& error) {
            return {finding.part, Finding::State::limited, error.what(), "joulecast clocks reset"};
        }
    }
    if (ClockGuard(gpus.front()).why_not().empty()) {
        return {finding.part, Finding::State::works, "can be locked, and are restored at the end", ""};
    }
    return {finding.part, Finding::State::limited, "this user may not lock them; the current clock can be measured",
            "run as root, or let an administrator install joulecast-clockd as a service (docs/clocks.md)"};
}

}  // namespace joulecast::cli
