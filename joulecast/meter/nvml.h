#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// What NVML answers to a call; the numbers are nvmlReturn_t's.
enum class NvmlCode {
    success = 0,
    uninitialized = 1,
    invalid_argument = 2,
    not_supported = 3,
    no_permission = 4,
    not_found = 6,
    insufficient_size = 7,
    driver_not_loaded = 9,
    timeout = 10,
    library_not_found = 12,
    function_not_found = 13,  ///< by the driver; also when the library has no such symbol
    gpu_is_lost = 15,
    reset_required = 16,
    library_version_mismatch = 18,
    in_use = 19,
    no_data = 21,
    unknown = 999,
};

/// The code as the end of a sentence: "no permission", "not supported by this card or driver (code 3)".
std::string describe(NvmlCode code);

/// The card does not come back without a reset or a reboot.
bool is_lost(NvmlCode code);

/// One answer: a value in SI units (clocks: MHz), or NaN and the code that says why.
struct NvmlReading {
    double value = std::numeric_limits<double>::quiet_NaN();
    NvmlCode code = NvmlCode::function_not_found;
    bool known() const { return code == NvmlCode::success; }
};

/// Field ids of nvmlDeviceGetFieldValues. Only those whose number never changed between drivers: the thermal and power
/// brake counters of newer drivers were 269-271 in the headers of CUDA 12.8 and are 251-253 since, where 256-273 became
/// the power smoothing settings, so that neither number can be trusted to mean them. 75 counts what 251 does.
enum class NvmlField : unsigned {
    power_capped_s = 74,       ///< since the driver was loaded; NVML counts nanoseconds
    thermally_limited_s = 75,  ///< likewise
    voltage_limited_s = 79,    ///< likewise ("reliability")
    average_power_w = 185,     ///< over about 1 s
    instant_power_w = 186,
};

enum class NvmlClock : unsigned { graphics = 0, sm = 1, memory = 2 };

/// Bits of throttle_reasons() (clocks event reasons) that name a limit.
namespace throttle {
inline constexpr std::uint64_t idle = 0x1;
inline constexpr std::uint64_t clocks_setting = 0x2;
inline constexpr std::uint64_t power_cap = 0x4;
inline constexpr std::uint64_t hardware_slowdown = 0x8;
inline constexpr std::uint64_t software_thermal = 0x20;
inline constexpr std::uint64_t hardware_thermal = 0x40;
inline constexpr std::uint64_t power_brake = 0x80;
}  // namespace throttle
/// "power cap, idle"; bits without a name as "0x200". Empty: none.
std::string describe_throttle_reasons(std::uint64_t bits);

/// Lowest and highest that is allowed; NaN: not told.
struct NvmlRange {
    double lowest = std::numeric_limits<double>::quiet_NaN();
    double highest = std::numeric_limits<double>::quiet_NaN();
};

class NvmlLibrary;

/// One card. Copies share the library, which stays open while any of them lives. Every reading is tried each time and
/// tells its own code: no metric is believed in because of its name or the card's. Safe to read from several threads.
class NvmlGpu {
  public:
    struct Facts {
        unsigned index = 0;      ///< NVML's; CUDA may count in another order, so match cards by pci_bus_id
        std::string name;        ///< "NVIDIA A30"
        std::string uuid;        ///< "GPU-..."; names the card in lock and state files, checked to be [A-Za-z0-9-]
        std::string pci_bus_id;  ///< "00000000:65:00.0", lower case
        std::string driver;      ///< "550.54.15"
        double memory_bytes = std::numeric_limits<double>::quiet_NaN();
    };

    const Facts& facts() const { return facts_; }
    /// "GPU 0 (NVIDIA A30)".
    std::string label() const;

    NvmlReading total_energy_j() const;  ///< counter, Volta and later
    NvmlReading power_usage_w() const;   ///< on Ampere and later the mean of the last second
    NvmlReading field(NvmlField field) const;
    NvmlReading clock_mhz(NvmlClock clock) const;
    NvmlReading max_clock_mhz(NvmlClock clock) const;
    NvmlReading temperature_c() const;
    NvmlReading performance_state() const;  ///< 0 (fastest) to 15
    std::optional<std::uint64_t> throttle_reasons() const;
    std::vector<unsigned> memory_clocks_mhz() const;  ///< descending; empty: not told
    std::vector<unsigned> graphics_clocks_mhz(unsigned memory_clock_mhz) const;
    NvmlReading power_limit_w() const;
    NvmlReading default_power_limit_w() const;
    NvmlRange power_limits_w() const;

    // These change the card and need the right to. Only clock_lease.cpp calls them.
    NvmlCode lock_graphics_clock(unsigned mhz) const;
    NvmlCode reset_graphics_clock() const;
    NvmlCode lock_memory_clock(unsigned mhz) const;
    NvmlCode reset_memory_clock() const;
    NvmlCode set_power_limit(unsigned milliwatts) const;

  private:
    friend class Nvml;
    NvmlGpu(std::shared_ptr<const NvmlLibrary> library, void* handle, unsigned index);
    std::vector<unsigned> clocks_list(unsigned memory_clock_mhz, bool memory) const;

    std::shared_ptr<const NvmlLibrary> library_;
    void* handle_;
    Facts facts_;
};

/// $JOULECAST_NVML, or "libnvidia-ml.so.1", which the driver installs.
std::string default_nvml_library();

/// NVML, loaded at run time: joulecast needs no driver to be built or started.
class Nvml {
  public:
    /// Loads the library and starts it. Nothing and a sentence in `missing_reason` where that fails.
    static std::optional<Nvml> open(const std::string& library, std::string& missing_reason);

    const std::string& driver() const { return driver_; }
    /// Cards that answer; one that is lost is left out.
    std::vector<NvmlGpu> gpus() const;
    /// By index ("0"), UUID or PCI address ("0000:65:00.0", as CUDA writes it too).
    std::optional<NvmlGpu> gpu(std::string_view id) const;

  private:
    explicit Nvml(std::shared_ptr<const NvmlLibrary> library);

    std::shared_ptr<const NvmlLibrary> library_;
    std::string driver_;
};

}  // namespace joulecast
