#include "workers/torch/gpu_facts.h"

#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

namespace joulecast::torch_worker {

namespace {

/// FLOP per multiprocessor and cycle.
struct Architecture {
    int major;
    int minor;
    double fp32;  ///< two for each CUDA core
    double bf16;  ///< dense tensor cores, 32-bit accumulation; fp16 where there is no bf16; 0: no tensor cores
};

constexpr std::array<Architecture, 14> architectures = {{
    {5, 2, 256, 0},
    {6, 0, 128, 0},
    {6, 1, 256, 0},
    {7, 0, 128, 1024},
    {7, 5, 128, 1024},
    {8, 0, 128, 2048},
    {8, 6, 256, 1024},
    {8, 7, 256, 1024},
    {8, 9, 256, 1024},
    {9, 0, 256, 4096},
    {10, 0, 256, 8192},
    {10, 3, 256, 8192},
    {11, 0, 256, 4096},
    {12, 0, 256, 1024},
}};

std::optional<Architecture> architecture_of(int major, int minor) {
    for (const Architecture& known : architectures) {
        if (known.major == major && known.minor == minor) return known;
    }
    return std::nullopt;
}

/// Lower-case words of letters and digits.
std::vector<std::string> words_of(const std::string& name) {
    std::string spaced;
    for (const char c : name) {
        const auto byte = static_cast<unsigned char>(c);
        spaced += std::isalnum(byte) != 0 ? static_cast<char>(std::tolower(byte)) : ' ';
    }
    std::vector<std::string> words;
    std::istringstream stream(spaced);
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

bool is_brand(std::string_view word) {
    return word == "nvidia" || word == "tesla" || word == "geforce" || word == "quadro" || word == "graphics" ||
           word == "gpu" || word == "hbm2" || word == "hbm2e" || word == "hbm3" || word == "hbm3e";
}

bool is_digits(std::string_view text) {
    if (text.empty()) return false;
    for (const char c : text) {
        if (std::isdigit(static_cast<unsigned char>(c)) == 0) return false;
    }
    return true;
}

/// Cards that were sold with memories of several sizes, which their id then names.
bool sold_in_sizes(const std::string& model) {
    return model == "a100" || model == "v100" || model == "p100";
}

}  // namespace

std::string gpu_id(const std::string& name, double memory_bytes) {
    std::string model;
    std::string socket;
    std::string size;
    for (const std::string& word : words_of(name)) {
        if (is_brand(word)) continue;
        if (word.starts_with("sxm")) {
            socket = "sxm";
        } else if (word.starts_with("pcie") || word == "nvl") {
            socket = word.starts_with("pcie") ? "pcie" : "nvl";
        } else if (word.ends_with("gb") && is_digits(std::string_view(word).substr(0, word.size() - 2))) {
            size = word.substr(0, word.size() - 1);
        } else if (model == "rtx" || model == "gtx" || model == "titan") {
            model += word;
        } else if (!model.empty() && (word == "ti" || word == "super")) {
            model += word;
        } else {
            model += (model.empty() ? "" : "-") + word;
        }
    }
    if (model.empty()) return "gpu";
    if (model == "h100" && socket.empty()) socket = "sxm";  // the SXM card calls itself "NVIDIA H100 80GB HBM3"
    std::string id = model;
    if (sold_in_sizes(model)) {
        if (size.empty()) size = std::to_string(std::llround(memory_bytes / (1024.0 * 1024.0 * 1024.0))) + "g";
        if (model != "p100") id += "-" + size;
    }
    const bool both_sockets = sold_in_sizes(model) || model == "h100" || model == "h200" || model == "h800";
    if (both_sockets && !socket.empty() && model != "p100" && !(model == "h200" && socket == "sxm")) id += "-" + socket;
    return id;
}

Device gpu_facts(const CudaProperties& properties) {
    Device device;
    device.id = gpu_id(properties.name, properties.memory_bytes);
    device.display_name = properties.name;
    device.kind = Device::Kind::gpu;
    device.units = properties.multiprocessors;
    if (properties.clock_khz > 0) device.max_clock_mhz = properties.clock_khz / 1e3;
    if (const auto architecture = architecture_of(properties.major, properties.minor)) {
        const double cycles_per_s = device.max_clock_mhz * 1e6 * properties.multiprocessors;
        // GeForce cards accumulate in 32 bits at half the rate of their siblings in servers.
        const bool halved = properties.name.find("GeForce") != std::string::npos && properties.major >= 8;
        device.peak_flop_per_s_fp32 = architecture->fp32 * cycles_per_s;
        const double bf16 = architecture->bf16 > 0.0 ? architecture->bf16 * (halved ? 0.5 : 1.0) : architecture->fp32;
        device.peak_flop_per_s_bf16 = bf16 * cycles_per_s;
    }
    if (properties.memory_clock_khz > 0 && properties.memory_bus_bits > 0) {
        // Two transfers a cycle of the clock that the runtime tells.
        device.bandwidth_bytes_per_s = 2.0 * properties.memory_clock_khz * 1e3 * properties.memory_bus_bits / 8.0;
    }
    if (properties.l2_bytes > 0.0) device.last_level_cache_bytes = properties.l2_bytes;
    if (properties.memory_bytes > 0.0) device.memory_bytes = properties.memory_bytes;
    device.source = "told by the CUDA runtime; peaks computed from multiprocessors, clock and compute capability " +
                    std::to_string(properties.major) + "." + std::to_string(properties.minor) + ", not measured";
    return device;
}

}  // namespace joulecast::torch_worker
