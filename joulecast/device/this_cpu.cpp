#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include "joulecast/device/device.h"
#include "joulecast/units/trimmed.h"

namespace joulecast {

namespace {

/// The file's text without surrounding blanks; absent if it cannot be read. Files in /proc and /sys tell no size.
std::optional<std::string> read_text(const std::string& path) {
    std::ifstream file(path);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    std::string result(trimmed(text.view()));
    if (result.empty()) return std::nullopt;
    return result;
}

std::optional<double> leading_number(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end == text.data() || !(value >= 0.0)) return std::nullopt;
    return value;
}

/// What /proc/cpuinfo says of the machine, as far as it concerns us.
struct CpuInfo {
    std::string model;
    std::set<std::string> flags;
    std::set<std::pair<std::string, std::string>> cores;  ///< (socket, core): hyper-threads of a core count once
    std::set<std::string> sockets;
    int processors = 0;
    std::optional<double> mhz;
    std::string arm_part;
    std::string vendor;
    double family = 0;  ///< of x86; 0: not told
    double model_number = 0;
};

/// "amd" of "AuthenticAMD", and of ARM's number for itself; empty for vendors that make no processor we know.
std::string vendor_named(const std::string& text) {
    if (text == "AuthenticAMD") return "amd";
    if (text == "GenuineIntel") return "intel";
    return text == "0x41" ? "arm" : "";
}

CpuInfo read_cpu_info(const std::string& root) {
    CpuInfo info;
    std::ifstream file(root + "/proc/cpuinfo");
    std::string socket = "0";
    for (std::string line; std::getline(file, line);) {
        const auto colon = line.find(':');
        if (colon == std::string::npos) continue;
        const std::string key(trimmed(std::string_view(line).substr(0, colon)));
        const std::string value(trimmed(std::string_view(line).substr(colon + 1)));
        if (key == "processor") ++info.processors;
        if (key == "physical id") socket = value;
        if (key == "core id") info.cores.emplace(socket, value);
        if (key == "physical id") info.sockets.insert(value);
        if (key == "model name" && info.model.empty()) info.model = value;
        if (key == "vendor_id" || key == "CPU implementer") info.vendor = vendor_named(value);
        if (key == "CPU part" && info.arm_part.empty()) info.arm_part = value;
        if (key == "cpu family") info.family = leading_number(value).value_or(0);
        if (key == "model") info.model_number = leading_number(value).value_or(0);
        if (key == "cpu MHz") {
            if (const auto mhz = leading_number(value)) info.mhz = std::max(*mhz, info.mhz.value_or(0.0));
        }
        if ((key == "flags" || key == "Features") && info.flags.empty()) {
            std::istringstream words(value);
            for (std::string word; words >> word;) info.flags.insert(word);
        }
    }
    return info;
}

/// Models of one family, from `first` to `last`.
struct Generation {
    std::string_view vendor;
    int family;
    int first;
    int last;
    std::string_view architecture;
};

/// By the numbers that processors tell of themselves (AMD's and Intel's programming manuals).
constexpr std::array generations{
    Generation{"intel", 6, 60, 63, "haswell"},           Generation{"intel", 6, 69, 70, "haswell"},
    Generation{"intel", 6, 61, 61, "broadwell"},         Generation{"intel", 6, 71, 71, "broadwell"},
    Generation{"intel", 6, 79, 79, "broadwell"},         Generation{"intel", 6, 86, 86, "broadwell"},
    Generation{"intel", 6, 78, 78, "skylake"},           Generation{"intel", 6, 85, 85, "skylake"},
    Generation{"intel", 6, 94, 94, "skylake"},           Generation{"intel", 6, 142, 142, "skylake"},
    Generation{"intel", 6, 158, 158, "skylake"},         Generation{"intel", 6, 165, 166, "skylake"},
    Generation{"intel", 6, 106, 106, "ice-lake"},        Generation{"intel", 6, 108, 108, "ice-lake"},
    Generation{"intel", 6, 125, 126, "ice-lake"},        Generation{"intel", 6, 143, 143, "sapphire-rapids"},
    Generation{"intel", 6, 207, 207, "sapphire-rapids"},  // Emerald Rapids has the same cores
    Generation{"intel", 6, 151, 151, "golden-cove"},     Generation{"intel", 6, 154, 154, "golden-cove"},
    Generation{"intel", 6, 183, 183, "golden-cove"},     Generation{"intel", 6, 186, 186, "golden-cove"},
    Generation{"intel", 6, 173, 174, "granite-rapids"},  Generation{"amd", 0x17, 0x00, 0x2F, "zen"},
    Generation{"amd", 0x17, 0x30, 0xFF, "zen2"},         Generation{"amd", 0x19, 0x00, 0x0F, "zen3"},
    Generation{"amd", 0x19, 0x10, 0x1F, "zen4"},         Generation{"amd", 0x19, 0x20, 0x5F, "zen3"},
    Generation{"amd", 0x19, 0x60, 0xAF, "zen4"},         Generation{"amd", 0x1A, 0x00, 0xFF, "zen5"},
};

struct ArmCore {
    std::string_view part;
    std::string_view architecture;
};

constexpr std::array arm_cores{ArmCore{"0xd0c", "neoverse-n1"}, ArmCore{"0xd40", "neoverse-v1"},
                               ArmCore{"0xd4f", "neoverse-v2"}};

/// Empty for a processor that is not listed.
std::string architecture_of(const CpuInfo& info) {
    for (const Generation& generation : generations) {
        if (generation.vendor == info.vendor && generation.family == info.family &&
            generation.first <= info.model_number && info.model_number <= generation.last)
            return std::string(generation.architecture);
    }
    for (const ArmCore& core : arm_cores) {
        if (info.vendor == "arm" && info.arm_part == core.part) return std::string(core.architecture);
    }
    return "";
}

std::string model_name(const CpuInfo& info, const std::string& root) {
    if (!info.model.empty()) return info.model;
    // ARM kernels write no model name; boards carry theirs in the device tree, NUL-terminated.
    if (auto board = read_text(root + "/proc/device-tree/model")) {
        std::erase(*board, '\0');
        return *board;
    }
    if (!info.arm_part.empty()) return "ARM part " + info.arm_part;
    return "unknown processor";
}

/// "AMD EPYC 9B45 96-Core Processor", 2 cores -> "cpu-amd-epyc-9b45-2c". Words that every vendor adds to every name
/// are dropped, and so is the core count of the whole package: what counts is how many cores this machine has of it.
std::string id_of(const std::string& model, int cores) {
    static const std::set<std::string> noise = {"cpu", "processor", "r", "tm", "core", "with", "radeon", "graphics"};
    std::string text = model.substr(0, model.find('@'));
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    std::string id = "cpu";
    std::string word;
    const auto take_word = [&] {
        const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
        const auto dash = word.find("-core");
        const bool core_count =
            dash != std::string::npos && std::all_of(word.begin(), word.begin() + static_cast<long>(dash), is_digit);
        while (!word.empty() && word.front() == '-') word.erase(0, 1);
        while (!word.empty() && word.back() == '-') word.pop_back();
        if (!word.empty() && !core_count && !noise.contains(word)) id += "-" + word;
        word.clear();
    };
    for (const char c : text) {
        const bool allowed = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
        if (allowed)
            word += c;
        else
            take_word();
    }
    take_word();
    return id + "-" + std::to_string(cores) + "c";
}

/// "32768K" -> bytes, as /sys/devices/system/cpu writes cache sizes.
std::optional<double> cache_size(const std::string& text) {
    const auto number = leading_number(text);
    if (!number) return std::nullopt;
    if (text.ends_with('K')) return *number * 1024.0;
    if (text.ends_with('M')) return *number * 1024.0 * 1024.0;
    return number;
}

/// Size of the one cache of the highest level that cpu0 uses; other cores may have others of it.
std::optional<double> last_level_cache(const std::string& root) {
    double highest_level = 0.0;
    std::optional<double> size;
    for (int index = 0; index < 8; ++index) {
        const std::string folder = root + "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index);
        const auto level = read_text(folder + "/level");
        const auto bytes = read_text(folder + "/size");
        const auto type = read_text(folder + "/type");
        if (!level || !bytes || (type && *type == "Instruction")) continue;
        const auto level_number = leading_number(*level);
        if (level_number && *level_number >= highest_level) {
            highest_level = *level_number;
            size = cache_size(*bytes);
        }
    }
    return size;
}

/// FLOP per core and cycle of float32 and bfloat16 matrix products.
/// Two fused multiply-add units of the widest vector registers, as server cores since Skylake-SP and Zen 2 have them
/// (Zen 4 runs 512-bit registers at half that rate: an upper bound there).
std::pair<double, double> flop_per_cycle(const std::set<std::string>& flags) {
    const double amx = 2048.0;  // Intel AMX: 16 x 16 tile, 32 products deep in bf16, every 16 cycles, 2 FLOP each
    if (flags.contains("avx512f")) {
        const double fp32 = 2.0 * 16.0 * 2.0;
        if (flags.contains("amx_bf16")) return {fp32, amx};
        return {fp32, flags.contains("avx512_bf16") ? 2.0 * fp32 : fp32};
    }
    if (flags.contains("avx2")) return {2.0 * 8.0 * 2.0, 2.0 * 8.0 * 2.0};
    if (flags.contains("avx")) return {8.0 * 2.0, 8.0 * 2.0};
    if (flags.contains("asimd")) return {2.0 * 4.0 * 2.0, flags.contains("bf16") ? 64.0 : 16.0};
    return {4.0 * 2.0, 4.0 * 2.0};
}

std::optional<double> clock_mhz(const CpuInfo& info, const std::string& root) {
    if (const auto text = read_text(root + "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")) {
        if (const auto khz = leading_number(*text)) return *khz / 1000.0;
    }
    return info.mhz;
}

std::optional<double> memory_bytes(const std::string& root) {
    std::ifstream file(root + "/proc/meminfo");
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("MemTotal:")) continue;
        if (const auto kib = leading_number(trimmed(std::string_view(line).substr(9)))) return *kib * 1024.0;
    }
    return std::nullopt;
}

}  // namespace

Device this_cpu(const std::string& root) {
    const CpuInfo info = read_cpu_info(root);
    const auto unknown = std::numeric_limits<double>::quiet_NaN();
    Device device;
    device.kind = Device::Kind::cpu;
    device.display_name = model_name(info, root);
    const int counted = info.cores.empty() ? info.processors : static_cast<int>(info.cores.size());
    device.units = std::max(counted, 1);
    device.id = id_of(device.display_name, device.units);
    device.max_clock_mhz = clock_mhz(info, root).value_or(unknown);
    const auto [fp32, bf16] = flop_per_cycle(info.flags);
    const double cycles_per_s = device.max_clock_mhz * 1e6 * device.units;
    device.vendor = info.vendor;
    device.architecture = architecture_of(info);
    device.fp32_lanes_per_unit = fp32 / 2.0;
    device.peak_flop_per_s_fp32 = device.vector_flop_per_s_fp32 = fp32 * cycles_per_s;
    device.peak_flop_per_s_bf16 = bf16 * cycles_per_s;
    // A core keeps about 16 cache lines of 64 bytes in flight for some 80 ns: 12.8 GB/s. A socket's channels end the
    // growth; 200 GB/s is eight of DDR4-3200.
    const double sockets = std::max<double>(1.0, static_cast<double>(info.sockets.size()));
    device.bandwidth_bytes_per_s = std::min(12.8e9 * device.units, 200e9 * sockets);
    device.last_level_cache_bytes = last_level_cache(root).value_or(unknown);
    device.memory_bytes = memory_bytes(root).value_or(unknown);
    device.source =
        "read from /proc and /sys; peak and bandwidth estimated from cores, clock and instruction set, not measured";
    return device;
}

}  // namespace joulecast
