#include "joulecast/meter/nvml.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <utility>

#include <dlfcn.h>

namespace joulecast {

namespace {

// NVML's C interface, written down here so that no vendor header is needed to build. Layouts and numbers are those of
// nvml.h since driver 384 and have to stay: NVML promises its binary interface.
using Handle = void*;
using UnsignedReader = int (*)(Handle, unsigned*);
using KindReader = int (*)(Handle, unsigned, unsigned*);
using CounterReader = int (*)(Handle, unsigned long long*);
using TextReader = int (*)(Handle, char*, unsigned);
using Action = int (*)(Handle);

struct PciPlace {
    std::array<char, 16> legacy_bus_id;
    unsigned domain;
    unsigned bus;
    unsigned device;
    // Device ids, reserved words and the long bus id, by version of the call; the four above never moved.
    std::array<unsigned, 32> rest;
};

struct Memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

union Value {
    double as_double;
    unsigned as_unsigned;
    unsigned long as_unsigned_long;
    unsigned long long as_unsigned_long_long;
    long long as_signed_long_long;
    int as_int;
    unsigned short as_unsigned_short;
};

struct FieldValue {
    unsigned field;
    unsigned scope;
    long long timestamp_us;
    long long latency_us;
    unsigned value_type;
    int code;
    Value value;
};

constexpr unsigned text_bytes = 96;       // NVML_DEVICE_NAME_V2_BUFFER_SIZE and NVML_DEVICE_UUID_V2_BUFFER_SIZE
constexpr unsigned most_gpus = 256;       // more is a wrong answer, not a machine
constexpr unsigned most_clocks = 4096;    // of one list
constexpr unsigned core_temperature = 0;  // NVML_TEMPERATURE_GPU
constexpr unsigned unknown_state = 32;    // NVML_PSTATE_UNKNOWN

double to_double(const FieldValue& field) {
    switch (field.value_type) {
        case 0:
            return field.value.as_double;
        case 1:
            return field.value.as_unsigned;
        case 2:
            return static_cast<double>(field.value.as_unsigned_long);
        case 3:
            return static_cast<double>(field.value.as_unsigned_long_long);
        case 4:
            return static_cast<double>(field.value.as_signed_long_long);
        case 5:
            return field.value.as_int;
        case 6:
            return field.value.as_unsigned_short;
        default:
            return std::numeric_limits<double>::quiet_NaN();
    }
}

/// A text that a library wrote: ended where it says or at the end of the buffer, and without control characters.
std::string clean(const std::array<char, text_bytes>& buffer) {
    std::string text;
    for (const char c : buffer) {
        if (c == '\0') break;
        text += std::isprint(static_cast<unsigned char>(c)) != 0 ? c : '?';
    }
    return text;
}

bool is_uuid(const std::string& text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-'; });
}

std::string hex(unsigned value, std::size_t digits) {
    std::array<char, 8> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, 16).ptr;
    std::string text(buffer.data(), end);
    if (text.size() < digits) text.insert(0, digits - text.size(), '0');
    return text;
}

/// Domain, bus and device of "0000:65:00.0"; leading zeros and case do not matter.
std::optional<std::array<unsigned, 3>> parse_pci(std::string_view text) {
    std::array<unsigned, 3> parts{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts.at(i), 16);
        if (error != std::errc()) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        const char separator = i < 2 ? ':' : '.';
        if (!text.starts_with(separator)) return std::nullopt;
        text.remove_prefix(1);
    }
    return parts;
}

NvmlReading scaled(int code, double value, double unit) {
    if (code != 0) return {std::numeric_limits<double>::quiet_NaN(), static_cast<NvmlCode>(code)};
    return {value * unit, NvmlCode::success};
}

/// Calls a function that may not be there and gives its answer in units of ours.
template <class Function, class... Arguments>
NvmlReading read(Function function, double unit, Arguments... arguments) {
    if (function == nullptr) return {};
    unsigned value = 0;
    const int code = function(arguments..., &value);
    return scaled(code, value, unit);
}

template <class Function, class... Arguments>
NvmlCode act(Function function, Arguments... arguments) {
    if (function == nullptr) return NvmlCode::function_not_found;
    return static_cast<NvmlCode>(function(arguments...));
}

constexpr double milli = 1e-3;
constexpr double nano = 1e-9;

}  // namespace

/// The functions of the loaded library; a null pointer is one that it does not have.
class NvmlLibrary {
  public:
    explicit NvmlLibrary(void* file) : file_(file) {
        find(init, {"nvmlInit_v2", "nvmlInit"});
        find(shutdown, {"nvmlShutdown"});
        find(driver_version, {"nvmlSystemGetDriverVersion"});
        find(count, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"});
        find(by_index, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"});
        find(name, {"nvmlDeviceGetName"});
        find(uuid, {"nvmlDeviceGetUUID"});
        find(pci, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"});
        find(memory, {"nvmlDeviceGetMemoryInfo"});
        find(total_energy, {"nvmlDeviceGetTotalEnergyConsumption"});
        find(power_usage, {"nvmlDeviceGetPowerUsage"});
        find(field_values, {"nvmlDeviceGetFieldValues"});
        find(clock, {"nvmlDeviceGetClockInfo"});
        find(max_clock, {"nvmlDeviceGetMaxClockInfo"});
        find(temperature, {"nvmlDeviceGetTemperature"});
        find(performance_state, {"nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState"});
        find(throttle_reasons, {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"});
        find(memory_clocks, {"nvmlDeviceGetSupportedMemoryClocks"});
        find(graphics_clocks, {"nvmlDeviceGetSupportedGraphicsClocks"});
        find(power_limit, {"nvmlDeviceGetPowerManagementLimit"});
        find(default_power_limit, {"nvmlDeviceGetPowerManagementDefaultLimit"});
        find(power_limits, {"nvmlDeviceGetPowerManagementLimitConstraints"});
        find(lock_graphics, {"nvmlDeviceSetGpuLockedClocks"});
        find(reset_graphics, {"nvmlDeviceResetGpuLockedClocks"});
        find(lock_memory, {"nvmlDeviceSetMemoryLockedClocks"});
        find(reset_memory, {"nvmlDeviceResetMemoryLockedClocks"});
        find(set_power_limit, {"nvmlDeviceSetPowerManagementLimit"});
    }
    // The library itself is never unloaded: drivers leave threads and exit handlers behind, and unloading it under a
    // running CUDA context crashes. A leak checker sees it as reachable.
    ~NvmlLibrary() {
        if (started_ && shutdown != nullptr) shutdown();
    }
    NvmlLibrary(const NvmlLibrary&) = delete;
    NvmlLibrary& operator=(const NvmlLibrary&) = delete;

    NvmlCode start() {
        const NvmlCode code = act(init);
        started_ = code == NvmlCode::success;
        return code;
    }

    int (*init)() = nullptr;
    int (*shutdown)() = nullptr;
    int (*driver_version)(char*, unsigned) = nullptr;
    int (*count)(unsigned*) = nullptr;
    int (*by_index)(unsigned, Handle*) = nullptr;
    TextReader name = nullptr;
    TextReader uuid = nullptr;
    int (*pci)(Handle, PciPlace*) = nullptr;
    int (*memory)(Handle, Memory*) = nullptr;
    CounterReader total_energy = nullptr;
    UnsignedReader power_usage = nullptr;
    int (*field_values)(Handle, int, FieldValue*) = nullptr;
    KindReader clock = nullptr;
    KindReader max_clock = nullptr;
    KindReader temperature = nullptr;
    UnsignedReader performance_state = nullptr;
    CounterReader throttle_reasons = nullptr;
    int (*memory_clocks)(Handle, unsigned*, unsigned*) = nullptr;
    int (*graphics_clocks)(Handle, unsigned, unsigned*, unsigned*) = nullptr;
    UnsignedReader power_limit = nullptr;
    UnsignedReader default_power_limit = nullptr;
    int (*power_limits)(Handle, unsigned*, unsigned*) = nullptr;
    int (*lock_graphics)(Handle, unsigned, unsigned) = nullptr;
    Action reset_graphics = nullptr;
    int (*lock_memory)(Handle, unsigned, unsigned) = nullptr;
    Action reset_memory = nullptr;
    int (*set_power_limit)(Handle, unsigned) = nullptr;

  private:
    /// The newest of its names that is there.
    template <class Function>
    void find(Function& function, std::initializer_list<const char*> names) {
        for (const char* symbol : names) {
            function = reinterpret_cast<Function>(::dlsym(file_, symbol));
            if (function != nullptr) return;
        }
    }

    void* file_;
    bool started_ = false;
};

NvmlGpu::NvmlGpu(std::shared_ptr<const NvmlLibrary> library, void* handle, unsigned index)
    : library_(std::move(library)), handle_(handle) {
    facts_.index = index;
    std::array<char, text_bytes> buffer{};
    if (act(library_->name, handle_, buffer.data(), text_bytes) == NvmlCode::success) facts_.name = clean(buffer);
    buffer = {};
    if (act(library_->uuid, handle_, buffer.data(), text_bytes) == NvmlCode::success) facts_.uuid = clean(buffer);
    if (!is_uuid(facts_.uuid)) facts_.uuid.clear();
    PciPlace place{};
    if (act(library_->pci, handle_, &place) == NvmlCode::success) {
        facts_.pci_bus_id = hex(place.domain, 8) + ':' + hex(place.bus, 2) + ':' + hex(place.device, 2) + ".0";
    }
    Memory memory{};
    if (act(library_->memory, handle_, &memory) == NvmlCode::success) {
        facts_.memory_bytes = static_cast<double>(memory.total);
    }
}

std::string NvmlGpu::label() const {
    return "GPU " + std::to_string(facts_.index) + " (" + (facts_.name.empty() ? "no name" : facts_.name) + ")";
}

NvmlReading NvmlGpu::total_energy_j() const {
    if (library_->total_energy == nullptr) return {};
    unsigned long long millijoules = 0;
    const int code = library_->total_energy(handle_, &millijoules);
    return scaled(code, static_cast<double>(millijoules), milli);
}

NvmlReading NvmlGpu::power_usage_w() const {
    return read(library_->power_usage, milli, handle_);
}

NvmlReading NvmlGpu::field(NvmlField field) const {
    if (library_->field_values == nullptr) return {};
    FieldValue value{};
    value.field = static_cast<unsigned>(field);
    // Drivers that do not know a field leave its own code alone.
    value.code = static_cast<int>(NvmlCode::not_supported);
    const int code = library_->field_values(handle_, 1, &value);
    const bool is_power = field == NvmlField::average_power_w || field == NvmlField::instant_power_w;
    return scaled(code != 0 ? code : value.code, to_double(value), is_power ? milli : nano);
}

NvmlReading NvmlGpu::clock_mhz(NvmlClock clock) const {
    return read(library_->clock, 1.0, handle_, static_cast<unsigned>(clock));
}

NvmlReading NvmlGpu::max_clock_mhz(NvmlClock clock) const {
    return read(library_->max_clock, 1.0, handle_, static_cast<unsigned>(clock));
}

NvmlReading NvmlGpu::temperature_c() const {
    return read(library_->temperature, 1.0, handle_, core_temperature);
}

NvmlReading NvmlGpu::performance_state() const {
    const NvmlReading state = read(library_->performance_state, 1.0, handle_);
    if (state.known() && state.value >= unknown_state) return {.code = NvmlCode::not_supported};
    return state;
}

std::optional<std::uint64_t> NvmlGpu::throttle_reasons() const {
    unsigned long long bits = 0;
    if (act(library_->throttle_reasons, handle_, &bits) != NvmlCode::success) return std::nullopt;
    return bits;
}

std::vector<unsigned> NvmlGpu::clocks_list(unsigned memory_clock_mhz, bool memory) const {
    std::vector<unsigned> clocks(most_clocks);
    unsigned count = most_clocks;
    const NvmlCode code = memory ? act(library_->memory_clocks, handle_, &count, clocks.data())
                                 : act(library_->graphics_clocks, handle_, memory_clock_mhz, &count, clocks.data());
    if (code != NvmlCode::success) return {};
    clocks.resize(std::min(count, most_clocks));
    std::sort(clocks.begin(), clocks.end(), std::greater<>());
    clocks.erase(std::unique(clocks.begin(), clocks.end()), clocks.end());
    return clocks;
}

std::vector<unsigned> NvmlGpu::memory_clocks_mhz() const {
    return clocks_list(0, true);
}

std::vector<unsigned> NvmlGpu::graphics_clocks_mhz(unsigned memory_clock_mhz) const {
    return clocks_list(memory_clock_mhz, false);
}

NvmlReading NvmlGpu::power_limit_w() const {
    return read(library_->power_limit, milli, handle_);
}

NvmlReading NvmlGpu::default_power_limit_w() const {
    return read(library_->default_power_limit, milli, handle_);
}

NvmlRange NvmlGpu::power_limits_w() const {
    unsigned lowest = 0;
    unsigned highest = 0;
    if (act(library_->power_limits, handle_, &lowest, &highest) != NvmlCode::success) return {};
    return {lowest * milli, highest * milli};
}

NvmlCode NvmlGpu::lock_graphics_clock(unsigned mhz) const {
    return act(library_->lock_graphics, handle_, mhz, mhz);
}

NvmlCode NvmlGpu::reset_graphics_clock() const {
    return act(library_->reset_graphics, handle_);
}

NvmlCode NvmlGpu::lock_memory_clock(unsigned mhz) const {
    return act(library_->lock_memory, handle_, mhz, mhz);
}

NvmlCode NvmlGpu::reset_memory_clock() const {
    return act(library_->reset_memory, handle_);
}

NvmlCode NvmlGpu::set_power_limit(unsigned milliwatts) const {
    return act(library_->set_power_limit, handle_, milliwatts);
}

std::string default_nvml_library() {
    const char* named = std::getenv("JOULECAST_NVML");
    return named != nullptr && *named != '\0' ? named : "libnvidia-ml.so.1";
}

Nvml::Nvml(std::shared_ptr<const NvmlLibrary> library) : library_(std::move(library)) {
    std::array<char, text_bytes> buffer{};
    if (act(library_->driver_version, buffer.data(), text_bytes) == NvmlCode::success) driver_ = clean(buffer);
}

std::optional<Nvml> Nvml::open(const std::string& library, std::string& missing_reason) {
    void* file = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (file == nullptr) {
        const char* reason = ::dlerror();
        missing_reason = "no NVIDIA driver on this machine: " + std::string(reason != nullptr ? reason : library);
        return std::nullopt;
    }
    auto loaded = std::make_shared<NvmlLibrary>(file);
    const NvmlCode code = loaded->start();
    if (code != NvmlCode::success) {
        missing_reason = "NVML (" + library + ") does not start: " + describe(code);
        return std::nullopt;
    }
    missing_reason.clear();
    return Nvml(std::move(loaded));
}

std::vector<NvmlGpu> Nvml::gpus() const {
    unsigned count = 0;
    if (act(library_->count, &count) != NvmlCode::success) return {};
    std::vector<NvmlGpu> found;
    for (unsigned index = 0; index < std::min(count, most_gpus); ++index) {
        void* handle = nullptr;
        if (act(library_->by_index, index, &handle) != NvmlCode::success) continue;
        NvmlGpu gpu(library_, handle, index);
        gpu.facts_.driver = driver_;
        found.push_back(std::move(gpu));
    }
    return found;
}

std::optional<NvmlGpu> Nvml::gpu(std::string_view id) const {
    const auto pci = parse_pci(id);
    for (const NvmlGpu& gpu : gpus()) {
        if (id == std::to_string(gpu.facts().index) || id == gpu.facts().uuid) return gpu;
        if (pci && pci == parse_pci(gpu.facts().pci_bus_id)) return gpu;
    }
    return std::nullopt;
}

}  // namespace joulecast
