#include "joulecast/meter/cpu_state.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "joulecast/meter/nvml.h"
#include "joulecast/meter/sysfs.h"
#include "joulecast/units/trimmed.h"

namespace joulecast {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_lines = 1'000'000;

/// Calls back with key and value of each "key : value" line of a file in /proc.
template <class Take>
void read_pairs(const fs::path& path, Take take) {
    std::ifstream file(path);
    std::string line;
    for (std::size_t i = 0; i < most_lines && std::getline(file, line); ++i) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string_view text(line);
        take(trimmed(text.substr(0, colon)), trimmed(text.substr(colon + 1)));
    }
}

std::vector<int> allowed_processors(const fs::path& root) {
    std::vector<int> list;
    read_pairs(root / "proc" / "self" / "status", [&](std::string_view key, std::string_view value) {
        if (key == "Cpus_allowed_list") list = processor_list(std::string(value));
    });
    return list;
}

fs::path processor_folder(const fs::path& root, int processor) {
    return root / "sys" / "devices" / "system" / "cpu" / ("cpu" + std::to_string(processor));
}

/// Sensors of the processor's own drivers, or else the thermal zones that are named after it.
std::vector<fs::path> temperature_files(const fs::path& root) {
    static const std::set<std::string> chips = {"coretemp", "k10temp",     "k8temp",
                                                "zenpower", "cpu_thermal", "via_cputemp"};
    std::vector<fs::path> files;
    for (const fs::path& chip : sysfs_entries(root / "sys" / "class" / "hwmon")) {
        if (!chips.contains(sysfs_text(chip / "name").value_or(""))) continue;
        for (const fs::path& file : sysfs_entries(chip)) {
            const std::string name = file.filename().string();
            if (!name.starts_with("temp") || !name.ends_with("_input")) continue;
            // Tctl is raised by up to 27 degrees on some Ryzens, to drive the fan; Tdie is the temperature.
            const std::string label = sysfs_text(chip / (name.substr(0, name.size() - 6) + "_label")).value_or("");
            if (label == "Tdie") return {file};
            files.push_back(file);
        }
    }
    if (!files.empty()) return files;
    for (const fs::path& zone : sysfs_entries(root / "sys" / "class" / "thermal")) {
        std::string type = sysfs_text(zone / "type").value_or("");
        std::transform(type.begin(), type.end(), type.begin(), [](unsigned char c) { return std::tolower(c); });
        if (type.find("cpu") != std::string::npos || type == "x86_pkg_temp" || type.starts_with("soc")) {
            files.push_back(zone / "temp");
        }
    }
    return files;
}

/// What the firmware of a Raspberry Pi says of now (its bits 0 to 3: under-voltage, frequency capped, throttled, soft
/// limit of temperature; higher ones are of the past). raspberrypi.com, documentation of `vcgencmd get_throttled`.
std::uint64_t firmware_reasons(const fs::path& root) {
    constexpr unsigned under_voltage = 1U;
    constexpr unsigned capped_or_hot = 2U | 4U | 8U;
    std::uint64_t reasons = 0;
    for (const fs::path& device :
         sysfs_entries(root / "sys" / "bus" / "platform" / "drivers" / "raspberrypi-firmware")) {
        const std::string text = sysfs_text(device / "get_throttled").value_or("");
        const std::string_view digits = text.starts_with("0x") ? std::string_view(text).substr(2) : text;
        unsigned bits = 0;
        if (std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16).ec != std::errc{}) continue;
        // A supply that is too weak caps the frequency as well.
        if ((bits & under_voltage) != 0) reasons |= throttle::power_brake;
        if ((bits & under_voltage) == 0 && (bits & capped_or_hot) != 0) reasons |= throttle::software_thermal;
    }
    return reasons;
}

/// The kernel's governor of temperature has lowered the processor's clock: how boards of ARM throttle.
bool is_cooled(const fs::path& root) {
    for (const fs::path& device : sysfs_entries(root / "sys" / "class" / "thermal")) {
        if (!device.filename().string().starts_with("cooling_device")) continue;
        const std::string type = sysfs_text(device / "type").value_or("");
        if (type.find("cpufreq") == std::string::npos && type != "Processor") continue;
        if (sysfs_number(device / "cur_state").value_or(0.0) > 0.0) return true;
    }
    return false;
}

}  // namespace

CpuStateProbe::CpuStateProbe(fs::path root, std::vector<int> processors)
    : root_(std::move(root)), processors_(std::move(processors)), temperature_files_(temperature_files(root_)) {
    if (processors_.empty()) processors_ = allowed_processors(root_);
    DeviceState first;
    read_throttling(first);  // events from before are not this probe's
}

double CpuStateProbe::clock_mhz() const {
    double sum = 0.0;
    int known = 0;
    for (const int processor : processors_) {
        const auto khz = sysfs_number(processor_folder(root_, processor) / "cpufreq" / "scaling_cur_freq");
        if (!khz) continue;
        sum += *khz * 1e-3;
        ++known;
    }
    if (known > 0) return sum / known;
    // Virtual machines have no cpufreq; what they print here is the host's nominal clock, better than nothing.
    int processor = -1;
    read_pairs(root_ / "proc" / "cpuinfo", [&](std::string_view key, std::string_view value) {
        double mhz = 0.0;
        if (key == "processor") std::from_chars(value.data(), value.data() + value.size(), processor);
        if (key != "cpu MHz" || std::find(processors_.begin(), processors_.end(), processor) == processors_.end())
            return;
        if (std::from_chars(value.data(), value.data() + value.size(), mhz).ec != std::errc{} || !(mhz > 0.0)) return;
        sum += mhz;
        ++known;
    });
    return known > 0 ? sum / known : std::numeric_limits<double>::quiet_NaN();
}

void CpuStateProbe::read_throttling(DeviceState& state) {
    double events = std::numeric_limits<double>::quiet_NaN();
    for (const int processor : processors_) {
        const fs::path folder = processor_folder(root_, processor) / "thermal_throttle";
        for (const std::string part : {"core", "package"}) {
            const auto count = sysfs_number(folder / (part + "_throttle_count"));
            if (count) events = (std::isnan(events) ? 0.0 : events) + *count;
            const auto total_ms = sysfs_number(folder / (part + "_throttle_total_time_ms"));
            if (total_ms) state.thermally_limited_s = std::fmax(state.thermally_limited_s, *total_ms * 1e-3);
        }
    }
    if (events > throttle_events_) state.throttle_reasons |= throttle::hardware_thermal;
    throttle_events_ = events;
    if (is_cooled(root_)) state.throttle_reasons |= throttle::software_thermal;
    state.throttle_reasons |= firmware_reasons(root_);
}

DeviceState CpuStateProbe::read() {
    DeviceState state;
    state.sm_clock_mhz = clock_mhz();
    for (const fs::path& file : temperature_files_) {
        const auto millidegrees = sysfs_number(file);
        if (millidegrees) state.temperature_c = std::fmax(state.temperature_c, *millidegrees * 1e-3);
    }
    std::set<std::string> governors;
    for (const int processor : processors_) {
        const auto governor = sysfs_text(processor_folder(root_, processor) / "cpufreq" / "scaling_governor");
        if (governor) governors.insert(*governor);
    }
    for (const std::string& governor : governors) {
        state.performance_state += (state.performance_state.empty() ? "" : "+") + governor;
    }
    read_throttling(state);
    return state;
}

}  // namespace joulecast
