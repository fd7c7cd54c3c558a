#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "joulecast/device/device.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

/// A device and where we know it from.
struct Known {
    Device device;
    std::string known_from;
};

const std::vector<Column<Known>>& columns() {
    static const std::vector<Column<Known>> list = {
        {"id", "id", Show::text, [](const Known& k) { return k.device.id; }},
        {"name", "name", Show::text, [](const Known& k) { return k.device.display_name; }},
        {"kind", "kind", Show::text,
         [](const Known& k) { return std::string(k.device.kind == Device::Kind::cpu ? "cpu" : "gpu"); }},
        {"units", "units", Show::count,
         [](const Known& k) { return k.device.units > 0 ? Cell(std::int64_t{k.device.units}) : Cell(); }},
        {"max_clock_mhz", "clock MHz", Show::count, [](const Known& k) { return k.device.max_clock_mhz; }},
        {"peak_flop_per_s_fp32", "fp32 /s", Show::flop, [](const Known& k) { return k.device.peak_flop_per_s_fp32; }},
        {"peak_flop_per_s_bf16", "bf16 /s", Show::flop, [](const Known& k) { return k.device.peak_flop_per_s_bf16; }},
        {"bandwidth_bytes_per_s", "memory /s", Show::bytes,
         [](const Known& k) { return k.device.bandwidth_bytes_per_s; }},
        {"last_level_cache_bytes", "cache", Show::bytes,
         [](const Known& k) { return k.device.last_level_cache_bytes; }},
        {"memory_bytes", "memory", Show::bytes, [](const Known& k) { return k.device.memory_bytes; }},
        {"tdp_w", "TDP", Show::watts, [](const Known& k) { return k.device.tdp_w; }},
        {"known_from", "known from", Show::text, [](const Known& k) { return k.known_from; }},
        {"source", "figures from", Show::text, [](const Known& k) { return k.device.source; }},
    };
    return list;
}

std::vector<Known> known_devices() {
    return {{this_cpu(), "this machine (cpu)"}};
}

/// The named device alone, as lines of "header  value".
std::string one_device(const Table& table) {
    Table turned{{{"fact", "fact"}, {"value", "value"}}, {}};
    for (std::size_t c = 0; c < table.heads.size(); ++c) {
        turned.rows.push_back({table.heads[c].header, show(table.rows.front()[c], table.heads[c].show)});
    }
    return to_text(turned);
}

std::vector<Known> named(const std::vector<Known>& all, const std::string& id) {
    std::string ids;
    for (const Known& known : all) {
        const bool is_this_machine = id == "cpu" && &known == &all.front();
        if (known.device.id == id || is_this_machine) return {known};
        ids += (ids.empty() ? "" : ", ") + known.device.id;
    }
    throw UsageError("no device is called '" + id + "'. Known: cpu (this machine), " + ids);
}

}  // namespace

Run declare_devices(CLI::App& command) {
    struct Options {
        std::string id;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("id", options->id, "only this device; cpu is this machine");
    options->output.declare(command);
    return [options] {
        std::vector<Known> known = known_devices();
        if (!options->id.empty()) known = named(known, options->id);
        const Table table = fill(columns(), known);
        const std::string& format = options->output.format;
        if (format == "csv") {
            options->output.write(to_csv(table));
        } else if (format == "json") {
            nlohmann::ordered_json answer{{"schema", "joulecast.devices/1"}};
            answer["devices"] = nlohmann::ordered_json::parse(to_json(table));
            options->output.write(answer.dump(2) + '\n');
        } else if (options->id.empty()) {
            Table brief = table;
            // Where the figures come from is a sentence: shown with `devices ID`.
            brief.heads.pop_back();
            for (auto& row : brief.rows) row.pop_back();
            options->output.write(to_text(brief));
        } else {
            options->output.write(one_device(table));
        }
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
