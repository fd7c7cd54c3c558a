#include "joulecast/meter/open_meter.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/meter/external_command.h"
#include "joulecast/meter/hwmon.h"
#include "joulecast/meter/nvidia_smi.h"
#include "joulecast/meter/nvml_meter.h"
#include "joulecast/meter/rapl.h"
#include "joulecast/meter/replay.h"

namespace joulecast {

namespace {

FoundMeter open_auto(const MeterRequest& request, const std::string& argument);

FoundMeter open_none(const MeterRequest& /*request*/, const std::string& /*argument*/) {
    return {nullptr, "no energy was asked for (meter none)"};
}

FoundMeter open_rapl_by_name(const MeterRequest& request, const std::string& /*argument*/) {
    return open_rapl(request.root, request.now_s);
}

FoundMeter open_hwmon_by_name(const MeterRequest& request, const std::string& argument) {
    return open_hwmon(request.root, argument, request.now_s);
}

FoundMeter open_on_gpu(const MeterRequest& request, const std::string& argument,
                       FoundMeter (*open)(const NvmlGpu& gpu, TimeSource now_s)) {
    std::string reason;
    const auto nvml = Nvml::open(request.nvml_library, reason);
    if (!nvml) return {nullptr, reason};
    const std::string id = argument.empty() ? request.gpu : argument;
    const auto gpu = nvml->gpu(id);
    if (!gpu) return {nullptr, "NVML finds no GPU " + id + "; nvidia-smi -L lists them"};
    return open(*gpu, request.now_s);
}

FoundMeter open_nvml_by_name(const MeterRequest& request, const std::string& argument) {
    return open_on_gpu(request, argument, open_nvml_meter);
}

FoundMeter open_nvidia_smi_by_name(const MeterRequest& request, const std::string& argument) {
    return open_nvidia_smi(argument.empty() ? request.gpu : argument, request.nvidia_smi, request.now_s);
}

FoundMeter open_command_by_name(const MeterRequest& request, const std::string& argument) {
    return open_external_command(argument, request.now_s);
}

FoundMeter open_replay_by_name(const MeterRequest& request, const std::string& argument) {
    return open_replay(argument, {request.now_s, 0.0, true, "replay:" + argument});
}

enum class Argument { none, possible, needed };

/// A line for each meter that can be asked for by name.
struct Kind {
    const char* name;
    Argument argument;
    const char* form;  ///< as shown to the user
    FoundMeter (*open)(const MeterRequest& request, const std::string& argument);
};

constexpr std::array kinds{
    Kind{"auto", Argument::none, "auto", open_auto},
    Kind{"none", Argument::none, "none", open_none},
    Kind{"rapl", Argument::none, "rapl", open_rapl_by_name},
    Kind{"hwmon", Argument::possible, "hwmon[:CHIP]", open_hwmon_by_name},
    Kind{"nvml", Argument::possible, "nvml[:GPU]", open_nvml_by_name},
    Kind{"nvidia-smi", Argument::possible, "nvidia-smi[:GPU]", open_nvidia_smi_by_name},
    Kind{"command", Argument::needed, "command:CMD", open_command_by_name},
    Kind{"replay", Argument::needed, "replay:FILE", open_replay_by_name},
};

/// What `auto` tries, best first. An amdgpu sensor is not tried for a GPU: it may be another card than the measured
/// one.
constexpr std::array cpu_meters{"rapl", "hwmon"};
constexpr std::array gpu_meters{"nvml", "nvidia-smi"};
constexpr std::array surveyed_meters{"rapl", "hwmon", "nvml", "nvidia-smi"};

struct Choice {
    const Kind* kind;
    std::string argument;
};

Choice choose(std::string_view text) {
    const auto colon = text.find(':');
    const std::string_view name = text.substr(0, colon);
    const std::string argument(colon == std::string_view::npos ? "" : text.substr(colon + 1));
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == name; });
    const bool fits =
        kind != kinds.end() && (kind->argument == Argument::possible ||
                                (kind->argument == Argument::needed) == (colon != std::string_view::npos));
    if (!fits || (colon != std::string_view::npos && argument.empty())) {
        std::string forms;
        for (const Kind& k : kinds) forms += std::string(forms.empty() ? "" : ", ") + k.form;
        throw UsageError("there is no energy meter \"" + std::string(text.substr(0, 200)) + "\". Meters: " + forms);
    }
    return {&*kind, argument};
}

FoundMeter open_named(MeterRequest request, const std::string& name) {
    request.name = name;
    return open_meter(request);
}

FoundMeter open_auto(const MeterRequest& request, const std::string& /*argument*/) {
    FoundMeter nothing{nullptr, request.for_gpu ? "no energy meter for this GPU" : "no energy meter for this CPU"};
    for (const char* name : request.for_gpu ? std::span<const char* const>(gpu_meters) : cpu_meters) {
        FoundMeter found = open_named(request, name);
        if (found.meter) return found;
        nothing.missing_reason += "; " + std::string(name) + ": " + found.missing_reason;
        if (nothing.remedy.empty()) nothing.remedy = found.remedy;
    }
    nothing.missing_reason +=
        ". A wall meter can be read with --meter command:CMD; time and "
        "memory are still measured";
    return nothing;
}

}  // namespace

FoundMeter open_meter(const MeterRequest& request) {
    const Choice choice = choose(request.name);
    return choice.kind->open(request, choice.argument);
}

FoundMeter open_power_beside(const MeterRequest& request, const MeterFacts& counter) {
    if (counter.name != "nvml-counter") return {nullptr, counter.name + " has no power beside it to be compared with"};
    return open_on_gpu(request, choose(request.name).argument, open_nvml_power);
}

void check_meter_name(std::string_view name) {
    choose(name);
}

std::vector<SurveyedMeter> survey_meters(const MeterRequest& request) {
    std::vector<SurveyedMeter> survey;
    for (const char* name : surveyed_meters) survey.push_back({name, open_named(request, name)});
    return survey;
}

}  // namespace joulecast
