#include "cli/finding.h"

#include <fstream>
#include <set>
#include <system_error>

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

Finding describe(const std::string& part, const FoundMeter& found, Finding::State missing, const std::string& remedy) {
    if (!found.meter) return {part, missing, found.missing_reason, found.remedy.empty() ? remedy : found.remedy};
    const MeterFacts& facts = found.meter->facts();
    return {part, Finding::State::works,
            facts.name + ": " + facts.covers + (facts.counts_energy ? ", counts energy" : ", tells power"), ""};
}

/// Where a meter is needed at all, for those machines that lack it.
std::string only_for(const std::string& meter) {
    if (meter == "rapl") return "only x86 processors have it, and virtual machines hide it";
    if (meter == "hwmon") return "only boards and servers with power sensors have it";
    if (meter == "nvml") return "only for NVIDIA cards: it comes with their driver";
    return "only for NVIDIA cards whose driver cannot be loaded otherwise";
}

}  // namespace

std::vector<Finding> energy_meters(const MeterRequest& machine) {
    MeterRequest request = machine;
    request.name = "auto";
    request.for_gpu = false;
    FoundMeter processors = open_meter(request);
    if (!processors.meter) processors.missing_reason = "none for this processor; the reasons are at the meters below";
    std::vector<Finding> findings = {describe("energy meter", processors, Finding::State::limited,
                                              "time and memory are still measured; a wall meter can be read "
                                              "with --meter command:CMD (docs/energy.md)")};
    for (const auto& [name, found] : survey_meters(request)) {
        findings.push_back(describe("meter " + name, found, Finding::State::missing, only_for(name)));
    }
    return findings;
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
