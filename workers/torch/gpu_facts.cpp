#include "workers/torch/gpu_facts.h"

#include <array>
#include <cctype>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "joulecast/device/device_table.h"

namespace joulecast::torch_worker {

namespace {

/// FLOP per multiprocessor and cycle.
struct Architecture {
    int major;
    int minor;
    double fp32;    ///< two for each CUDA core
    double matrix;  ///< of dense tensor cores on 16-bit types, with 32-bit accumulation; 0: no tensor cores
};

constexpr std::array<Architecture, 14> architectures = {{
    {5, 2, 256, 0},
    {6, 0, 128, 0},
    {6, 1, 256, 0},
    {7, 0, 128, 1024},
    {7, 5, 128, 1024},
    {8, 0, 128, 2048},
    {8, 6, 256, 1024},
    {8, 7, 256, 2048},
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

namespace {

/// The data sheet of that card, if it is a whole one: a slice of it (MIG) has fewer multiprocessors and lower rates.
const DataSheet* data_sheet_of(const CudaProperties& properties) {
    static const DeviceTable sheets;
    const DataSheet* sheet = sheets.find(properties.name);
    if (sheet == nullptr) sheet = sheets.find(gpu_id(properties.name, properties.memory_bytes));
    return sheet != nullptr && sheet->device.units == properties.multiprocessors ? sheet : nullptr;
}

void add_peaks(Device& device, const CudaProperties& properties) {
    const auto architecture = architecture_of(properties.major, properties.minor);
    if (!architecture) return;
    const double cycles_per_s = device.max_clock_mhz * 1e6 * properties.multiprocessors;
    device.fp32_lanes_per_unit = architecture->fp32 / 2.0;
    device.peak_flop_per_s_fp32 = device.vector_flop_per_s_fp32 = architecture->fp32 * cycles_per_s;
    if (architecture->matrix <= 0.0) return;
    // GeForce cards accumulate in 32 bits at half the rate of their siblings in servers.
    const bool halved = properties.name.find("GeForce") != std::string::npos;
    const double matrix = architecture->matrix * (halved ? 0.5 : 1.0) * cycles_per_s;
    device.peak_flop_per_s_fp16 = matrix;
    if (properties.major < 8) return;  // bf16 and tf32 came with Ampere, fp8 with Ada and Hopper
    device.peak_flop_per_s_bf16 = matrix;
    device.peak_flop_per_s_tf32 = matrix / 2.0;
    if (properties.major > 8 || properties.minor >= 9) device.peak_flop_per_s_fp8 = 2.0 * matrix;
}

}  // namespace

Device gpu_facts(const CudaProperties& properties) {
    Device device;
    const DataSheet* sheet = data_sheet_of(properties);
    if (sheet != nullptr) device = sheet->device;
    if (sheet == nullptr) device.id = gpu_id(properties.name, properties.memory_bytes);
    device.display_name = properties.name;
    device.kind = Device::Kind::gpu;
    device.vendor = "nvidia";
    // What the runtime tells of this very card goes before what a data sheet says of all of its kind.
    device.units = properties.multiprocessors;
    if (properties.clock_khz > 0) device.max_clock_mhz = properties.clock_khz / 1e3;
    if (sheet == nullptr) add_peaks(device, properties);
    if (properties.memory_clock_khz > 0 && properties.memory_bus_bits > 0) {
        // Two transfers a cycle of the clock that the runtime tells.
        device.memory_clock_mhz = properties.memory_clock_khz / 1e3;
        device.memory_bus_bits = properties.memory_bus_bits;
        device.bandwidth_bytes_per_s = 2.0 * properties.memory_clock_khz * 1e3 * properties.memory_bus_bits / 8.0;
    }
    if (properties.l2_bytes > 0.0) device.last_level_cache_bytes = properties.l2_bytes;
    if (properties.memory_bytes > 0.0) device.memory_bytes = properties.memory_bytes;
    const std::string capability = std::to_string(properties.major) + "." + std::to_string(properties.minor);
    device.source =
        sheet != nullptr
            ? "data sheet of " + device.id + "; units, clocks and memory as the CUDA runtime tells them"
            : "told by the CUDA runtime; peaks computed from multiprocessors, clock and compute capability " +
                  capability + ", not measured";
    return device;
}

}  // namespace joulecast::torch_worker
