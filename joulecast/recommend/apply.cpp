#include "joulecast/recommend/apply.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "joulecast/device/engine.h"
#include "joulecast/device/precision.h"

namespace joulecast {
namespace {

std::string whole(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", value);
    return text;
}

std::string chained(const std::vector<std::string>& commands) {
    std::string line;
    for (const std::string& command : commands) line += (line.empty() ? "" : " && ") + command;
    return line;
}

/// These know application clocks, but no locked ones.
bool is_before_volta(const Device& device) {
    constexpr std::array<std::string_view, 3> old{"kepler", "maxwell", "pascal"};
    for (const std::string_view architecture : old) {
        if (device.architecture.starts_with(architecture)) return true;
    }
    return false;
}

struct Commands {
    std::vector<std::string> set;
    std::vector<std::string> back;
};

Commands of_nvidia(const Candidate& candidate, const Device& device) {
    const OperatingPoint& asked = candidate.asked;
    const std::string program = "sudo nvidia-smi -i 0 ";
    Commands commands;
    const bool clock = candidate.sets_clock(), memory = std::isfinite(asked.memory_clock_mhz);
    if (is_before_volta(device) && (clock || memory)) {
        const double of_memory = memory ? asked.memory_clock_mhz : device.memory_clock_mhz;
        const double of_units = clock ? asked.sm_clock_mhz : highest_clock_mhz(device);
        commands.set.push_back(program + "-ac " + whole(of_memory) + "," + whole(of_units));
        commands.back.push_back(program + "-rac");
    } else {
        if (clock) {
            commands.set.push_back(program + "-lgc " + whole(asked.sm_clock_mhz) + "," + whole(asked.sm_clock_mhz));
            commands.back.push_back(program + "-rgc");
        }
        if (memory) {
            commands.set.push_back(program + "-lmc " + whole(asked.memory_clock_mhz) + "," +
                                   whole(asked.memory_clock_mhz));
            commands.back.push_back(program + "-rmc");
        }
    }
    if (std::isfinite(asked.power_limit_w)) {
        commands.set.push_back(program + "-pl " + whole(asked.power_limit_w));
        if (std::isfinite(device.tdp_w)) commands.back.push_back(program + "-pl " + whole(device.tdp_w));
    }
    return commands;
}

Commands of_amd(const Candidate& candidate) {
    const OperatingPoint& asked = candidate.asked;
    const std::string program = "sudo rocm-smi -d 0 ";
    Commands commands;
    if (candidate.sets_clock()) {
        commands.set.push_back(program + "--setperfdeterminism " + whole(asked.sm_clock_mhz));
        commands.back.push_back(program + "--resetperfdeterminism");
    }
    if (std::isfinite(asked.power_limit_w)) {
        commands.set.push_back(program + "--setpoweroverdrive " + whole(asked.power_limit_w));
        commands.back.push_back(program + "--resetpoweroverdrive");
    }
    return commands;
}

/// How PyTorch computes in that precision; empty where nobody has to ask for it.
std::string in_precision(Precision precision, const Device& device) {
    const std::string kind = device.kind == Device::Kind::gpu ? "cuda" : "cpu";
    switch (precision) {
        case Precision::torch_default:
            return "";
        case Precision::fp32:
            // Elsewhere the default is the same.
            return settled(Precision::torch_default, device) == precision ? ""
                                                                          : "torch.backends.cudnn.allow_tf32 = False";
        case Precision::tf32:
            return "torch.set_float32_matmul_precision(\"high\")";
        case Precision::bf16:
            return "model.to(torch.bfloat16)";
        case Precision::fp16:
            return "model.to(torch.float16)";
        case Precision::amp_bf16:
            return "torch.autocast(\"" + kind + "\", torch.bfloat16)";
        case Precision::amp_fp16:
            return "torch.autocast(\"" + kind + "\", torch.float16)";
        case Precision::fp8:
            return "model.to(torch.bfloat16), linear layers as products of torch.float8_e4m3fn (torchao)";
    }
    return "";
}

/// One that no worker is shipped for is named as it is.
std::string under_engine(const std::string& engine) {
    if (is_torch(engine)) return "";
    const ShippedEngine* const shipped = shipped_engine(engine);
    return shipped != nullptr ? std::string(shipped->call) : engine;
}

}  // namespace

std::string how_to_run(const Candidate& candidate, const Device& device) {
    const auto precision = parse_precision(candidate.precision);
    std::string text = precision ? in_precision(*precision, device) : "";
    const auto add = [&](const std::string& step) { text += (text.empty() || step.empty() ? "" : ", ") + step; };
    if (candidate.memory_format == MemoryFormat::channels_last)
        add("model and images .to(memory_format=torch.channels_last)");
    add(under_engine(candidate.asked.engine));
    return text;
}

Application how_to_apply(const Candidate& candidate, const Device& device) {
    const OperatingPoint& asked = candidate.asked;
    const bool sets =
        candidate.sets_clock() || std::isfinite(asked.memory_clock_mhz) || std::isfinite(asked.power_limit_w);
    if (!sets || candidate.is_default) return {"", "", "the device as it comes: no clock and no power limit to set"};
    const bool nvidia = device.vendor == "nvidia", amd = device.vendor == "amd" && device.kind == Device::Kind::gpu;
    if (!nvidia && !amd) return {"", "", "joulecast has no command to set the clock of " + device.display_name};
    if (nvidia && is_before_volta(device) && std::isnan(asked.memory_clock_mhz) && std::isnan(device.memory_clock_mhz))
        return {"", "",
                "application clocks need a memory clock, which the data sheet does not have: see nvidia-smi -q -d "
                "SUPPORTED_CLOCKS"};
    const Commands commands = nvidia ? of_nvidia(candidate, device) : of_amd(candidate);
    return {chained(commands.set), chained(commands.back), "0: the index of the GPU"};
}

}  // namespace joulecast
