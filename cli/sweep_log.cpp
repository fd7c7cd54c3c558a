#include "cli/sweep_log.h"

#include <iostream>
#include <optional>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/meter/cpu_state.h"
#include "joulecast/meter/nvml_state.h"
#include "joulecast/meter/open_meter.h"
#include "joulecast/worker/serve.h"

namespace joulecast::cli {
namespace {

/// "cuda:1" is NVML's 1 unless CUDA was told to count otherwise.
std::string gpu_of(const std::string& device) {
    const std::size_t colon = device.find(':');
    return colon == std::string::npos ? "0" : device.substr(colon + 1);
}

std::unique_ptr<DeviceStateProbe> probe_of(bool is_gpu, const std::string& gpu) {
    if (!is_gpu) return std::make_unique<CpuStateProbe>();
    std::string why;
    const auto nvml = Nvml::open(default_nvml_library(), why);
    const auto card = nvml ? nvml->gpu(gpu) : std::nullopt;
    if (!card) return nullptr;
    return std::make_unique<NvmlStateProbe>(*card);
}

}  // namespace

std::unique_ptr<PowerLog> start_power_log(const std::string& file, const std::string& meter, const std::string& device,
                                          const protocol::Capabilities& worker) {
    if (worker.boot_id.empty() || worker.boot_id != protocol::this_boot_id())
        throw Error("cannot log power into '" + file + "': the worker runs on another machine" +
                    (worker.boot_id.empty() ? " or does not say on which" : "") +
                    ", whose meters cannot be read from here. Run joulecast there, or leave --power-log out.");
    MeterRequest request;
    request.name = meter == "none" ? "auto" : meter;
    request.for_gpu = worker.device.kind == Device::Kind::gpu;
    request.gpu = gpu_of(device);
    FoundMeter found = open_meter(request);
    if (!found.meter) std::cerr << "the power log has no power: " << found.missing_reason << '\n';
    PowerLogSettings settings;
    settings.file = file;
    return std::make_unique<PowerLog>(std::move(settings), std::move(found.meter),
                                      probe_of(request.for_gpu, request.gpu));
}

}  // namespace joulecast::cli
