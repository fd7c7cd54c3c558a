#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/json_tree.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/meter/clock_guard.h"
#include "joulecast/meter/clock_lease.h"
#include "joulecast/meter/nvml_state.h"

namespace joulecast::cli {
namespace {

/// A card as it is now.
struct Card {
    NvmlGpu gpu;
    DeviceState state;
    std::vector<unsigned> clocks_mhz;  ///< supported at the highest memory clock, ascending
    std::string held;
};

/// Whether joulecast has changed the card, as far as this user may know.
std::string held(const NvmlGpu& gpu) {
    const auto folder = default_clock_state_folder();
    try {
        if (is_leased(folder, gpu)) return "by a measurement";
        return left_behind(folder, gpu) ? "left behind" : "no";
    } catch (const Error&) {
        return "";
    }
}

Card look_at(const NvmlGpu& gpu) {
    const auto memory_clocks = gpu.memory_clocks_mhz();
    std::vector<unsigned> clocks;
    if (!memory_clocks.empty()) clocks = gpu.graphics_clocks_mhz(memory_clocks.front());
    std::reverse(clocks.begin(), clocks.end());
    return {gpu, NvmlStateProbe(gpu).read(), std::move(clocks), held(gpu)};
}

Cell text_or_none(std::string text) {
    return text.empty() ? Cell() : Cell(std::move(text));
}
Cell lowest(const Card& card) {
    return card.clocks_mhz.empty() ? Cell() : Cell(std::int64_t{card.clocks_mhz.front()});
}
Cell highest(const Card& card) {
    return card.clocks_mhz.empty() ? Cell() : Cell(std::int64_t{card.clocks_mhz.back()});
}

const std::vector<Column<Card>>& card_columns() {
    static const std::vector<Column<Card>> list = {
        {"index", "GPU", Show::count, [](const Card& c) { return Cell(std::int64_t{c.gpu.facts().index}); }},
        {"name", "name", Show::text, [](const Card& c) { return text_or_none(c.gpu.facts().name); }},
        {"sm_clock_mhz", "MHz", Show::count, [](const Card& c) { return c.state.sm_clock_mhz; }},
        {"lowest_sm_clock_mhz", "from", Show::count, lowest},
        {"highest_sm_clock_mhz", "to", Show::count, highest},
        {"sm_clocks", "steps", Show::count,
         [](const Card& c) { return Cell(static_cast<std::int64_t>(c.clocks_mhz.size())); }},
        {"memory_clock_mhz", "memory MHz", Show::count, [](const Card& c) { return c.state.memory_clock_mhz; }},
        {"power_limit_w", "limit", Show::watts, [](const Card& c) { return c.state.power_limit_w; }},
        {"lowest_power_limit_w", "from", Show::watts, [](const Card& c) { return c.gpu.power_limits_w().lowest; }},
        {"highest_power_limit_w", "to", Show::watts, [](const Card& c) { return c.gpu.power_limits_w().highest; }},
        {"temperature_c", "°C", Show::count, [](const Card& c) { return c.state.temperature_c; }},
        {"performance_state", "state", Show::text,
         [](const Card& c) { return text_or_none(c.state.performance_state); }},
        {"throttle_reasons", "limited by", Show::text,
         [](const Card& c) { return text_or_none(describe_throttle_reasons(c.state.throttle_reasons)); }},
        {"held", "held", Show::text, [](const Card& c) { return text_or_none(c.held); }},
    };
    return list;
}

/// What a row of the table has no room for.
nlohmann::ordered_json details(const NvmlGpu& gpu) {
    nlohmann::ordered_json json = {{"uuid", gpu.facts().uuid}, {"pci_bus_id", gpu.facts().pci_bus_id}};
    const NvmlReading usual = gpu.default_power_limit_w();
    json["default_power_limit_w"] = usual.known() ? nlohmann::ordered_json(usual.value) : nullptr;
    json["supported"] = nlohmann::ordered_json::array();
    for (const unsigned memory : gpu.memory_clocks_mhz()) {
        json["supported"].push_back({{"memory_clock_mhz", memory}, {"sm_clocks_mhz", gpu.graphics_clocks_mhz(memory)}});
    }
    return json;
}

std::string in_format(const std::string& format, const std::string& driver, const std::vector<NvmlGpu>& gpus) {
    std::vector<Card> cards;
    for (const NvmlGpu& gpu : gpus) cards.push_back(look_at(gpu));
    const Table table = fill(card_columns(), cards);
    if (format == "csv") return to_csv(table);
    if (format == "table") return to_text(table);
    nlohmann::ordered_json answer{{"schema", "joulecast.clocks/1"}, {"driver", driver}};
    answer["devices"] = rows_json(table);
    for (std::size_t i = 0; i < gpus.size(); ++i) answer["devices"][i].update(details(gpus[i]));
    return printed(answer);
}

/// Frees the clocks of every card, also if one of them cannot be freed; that is the error in the end.
void reset(const std::vector<NvmlGpu>& gpus) {
    std::string problems;
    for (const NvmlGpu& gpu : gpus) {
        try {
            ClockGuard(gpu).reset();
        } catch (const Error& error) {
            problems += (problems.empty() ? "" : "\n") + std::string(error.what());
        }
    }
    if (!problems.empty()) throw Error(problems);
}

std::vector<NvmlGpu> chosen(const Nvml& nvml, const std::string& device) {
    std::vector<NvmlGpu> gpus = nvml.gpus();
    if (gpus.empty()) throw Error("the NVIDIA driver " + nvml.driver() + " runs, but no GPU answers");
    if (device.empty()) return gpus;
    const std::string id = device.starts_with("cuda:") ? device.substr(5) : device;
    if (const auto gpu = nvml.gpu(id)) return {*gpu};
    std::string known;
    for (const NvmlGpu& gpu : gpus) known += (known.empty() ? "" : ", ") + gpu.label();
    throw UsageError("no GPU is called '" + device + "'. Known: " + known);
}

}  // namespace

Run declare_clocks(CLI::App& command) {
    struct Options {
        std::string action;
        std::string device;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("action", options->action, "show or reset")->required()->check(CLI::IsMember({"show", "reset"}));
    command.add_option("--device", options->device, "only this GPU: index, UUID or PCI address")->type_name("GPU");
    options->output.declare(command);
    return [options] {
        std::string reason;
        const auto nvml = Nvml::open(default_nvml_library(), reason);
        if (!nvml) throw Error("no clocks to " + options->action + ": " + reason);
        const std::vector<NvmlGpu> gpus = chosen(*nvml, options->device);
        if (options->action == "reset") reset(gpus);
        options->output.write(in_format(options->output.format, nvml->driver(), gpus));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
