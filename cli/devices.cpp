#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <vector>

#include "cli/json_tree.h"
#include "cli/known.h"
#include "cli/verb.h"
#include "joulecast/device/device_argument.h"
#include "joulecast/device/figures.h"
#include "joulecast/error.h"
#include "joulecast/units/replaced_file.h"

namespace joulecast::cli {
namespace {

std::string known_from(const DataSheet& sheet) {
    const bool is_read_here = sheet.file.empty() && known_devices().find(sheet.device.id) == nullptr;
    if (is_read_here) return "this machine (cpu)";
    return sheet.file.empty() ? "data sheet" : sheet.file;
}

Show shown_as(Figure::Unit unit) {
    switch (unit) {
        case Figure::Unit::flop_per_s:
            return Show::flop;
        case Figure::Unit::bytes_per_s:
        case Figure::Unit::bytes:
            return Show::bytes;
        case Figure::Unit::watts:
            return Show::watts;
        case Figure::Unit::mhz:
        case Figure::Unit::count:
        case Figure::Unit::nanometres:
        case Figure::Unit::year:
            break;
    }
    return Show::number;
}

Cell units_cell(const DataSheet& sheet) {
    return sheet.device.units > 0 ? Cell(std::int64_t{sheet.device.units}) : Cell();
}

/// Everything known, for JSON and CSV.
const std::vector<Column<DataSheet>>& sheet_columns() {
    using S = DataSheet;
    static const std::vector<Column<S>> list = [] {
        std::vector<Column<S>> made = {
            {"id", "id", Show::text, [](const S& s) { return s.device.id; }},
            {"name", "name", Show::text, [](const S& s) { return s.device.display_name; }},
            {"kind", "kind", Show::text, [](const S& s) { return std::string(name(s.device.kind)); }},
            {"vendor", "vendor", Show::text, [](const S& s) { return s.device.vendor; }},
            {"architecture", "architecture", Show::text, [](const S& s) { return s.device.architecture; }},
            {"units", "units", Show::count, units_cell},
        };
        for (const Figure& figure : figures()) {
            made.push_back({std::string(figure.name), std::string(figure.meaning), shown_as(figure.unit),
                            [value = figure.value](const S& s) { return known(s.device.*value); }});
        }
        made.push_back({"known_from", "known from", Show::text, known_from});
        made.push_back({"source", "figures from", Show::text, [](const S& s) { return s.device.source; }});
        return made;
    }();
    return list;
}

/// What a line of a terminal has room for.
const std::vector<Column<DataSheet>>& brief_columns() {
    using S = DataSheet;
    static const std::vector<Column<S>> list = {
        {"id", "id", Show::text, [](const S& s) { return s.device.id; }},
        {"architecture", "architecture", Show::text, [](const S& s) { return s.device.architecture; }},
        {"units", "units", Show::count, units_cell},
        {"clock", "MHz", Show::number, [](const S& s) { return known(highest_clock_mhz(s.device)); }},
        {"fp32", "fp32 /s", Show::flop, [](const S& s) { return known(s.device.peak_flop_per_s_fp32); }},
        {"tf32", "tf32 /s", Show::flop, [](const S& s) { return known(s.device.peak_flop_per_s_tf32); }},
        {"fp16", "fp16 /s", Show::flop, [](const S& s) { return known(s.device.peak_flop_per_s_fp16); }},
        {"bf16", "bf16 /s", Show::flop, [](const S& s) { return known(s.device.peak_flop_per_s_bf16); }},
        {"bandwidth", "memory /s", Show::bytes, [](const S& s) { return known(s.device.bandwidth_bytes_per_s); }},
        {"cache", "cache", Show::bytes, [](const S& s) { return known(s.device.last_level_cache_bytes); }},
        {"memory", "memory", Show::bytes, [](const S& s) { return known(s.device.memory_bytes); }},
        {"tdp", "TDP", Show::watts, [](const S& s) { return known(s.device.tdp_w); }},
        {"known_from", "known from", Show::text, known_from},
    };
    return list;
}

std::string source_of(const DataSheet& sheet, std::string_view figure) {
    const auto source = sheet.sources.find(figure);
    return source == sheet.sources.end() ? "" : source->second;
}

/// One device: a line for each fact, with where it is from.
Table facts(const DataSheet& sheet, bool for_people) {
    Table table{{{"fact", "fact"}, {"value", "value"}, {"unit", "unit"}, {"source", "from"}}, {}};
    const auto add = [&](std::string fact, Cell value, std::string unit, std::string source) {
        table.rows.push_back({std::move(fact), std::move(value), std::move(unit), std::move(source)});
    };
    const Device& device = sheet.device;
    add("id", device.id, "", known_from(sheet));
    add("name", device.display_name, "", "");
    add("kind", std::string(name(device.kind)), "", "");
    add("vendor", device.vendor, "", "");
    add("architecture", device.architecture, "", "");
    if (!sheet.host_cpu.empty()) add("host_cpu", sheet.host_cpu, "", "");
    add("units", units_cell(sheet), "", source_of(sheet, "units"));
    for (const Figure& figure : figures()) {
        Cell value = known(device.*figure.value);
        if (for_people) value = show(value, shown_as(figure.unit));
        add(std::string(for_people ? figure.meaning : figure.name), std::move(value),
            for_people && shown_as(figure.unit) != Show::number ? "" : std::string(name(figure.unit)),
            source_of(sheet, figure.name));
    }
    return table;
}

std::string as_json(const std::vector<DataSheet>& sheets) {
    nlohmann::ordered_json answer{{"schema", "joulecast.devices/1"}};
    answer["devices"] = rows_json(fill(sheet_columns(), sheets));
    for (std::size_t i = 0; i < sheets.size(); ++i) {
        auto& sheet = answer["devices"][i];
        sheet["aliases"] = sheets[i].aliases;
        sheet["host_cpu"] =
            sheets[i].host_cpu.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(sheets[i].host_cpu);
        sheet["sources"] = nlohmann::ordered_json::object();
        for (const auto& [figure, source] : sheets[i].sources) sheet["sources"][figure] = source;
    }
    return printed(answer);
}

std::string as_text(const std::vector<DataSheet>& sheets, bool is_single, const std::string& format) {
    if (format == "json") return as_json(sheets);
    if (format == "csv")
        return is_single ? to_csv(facts(sheets.front(), false)) : to_csv(fill(sheet_columns(), sheets));
    return to_text(is_single ? facts(sheets.front(), true) : fill(brief_columns(), sheets));
}

/// Checks the sheet as `devices FILE.json` would, and that none of its names is another device's, then keeps it where
/// every command looks: what was checked, whatever the file holds by then.
void add(const std::string& file) {
    const std::string text = data_sheet_text(file);
    const DataSheet sheet = parse_data_sheet(text, file);
    DeviceTable table = known_devices();
    table.add(sheet);
    const auto folder = user_device_folder();
    if (folder.empty()) throw Error("there is no folder for devices of your own: set JOULECAST_DEVICES or HOME.");
    const auto target = folder / (sheet.device.id + ".json");
    std::error_code failure;
    std::filesystem::create_directories(folder, failure);
    if (!failure) failure.assign(replace_file(target, text), std::generic_category());
    if (failure) throw Error("cannot write " + target.string() + ": " + failure.message() + ".");
    std::cerr << sheet.device.id << " is known from now on: " << target.string() << "\n";
}

/// This machine, GPUs, and the CPUs that issue to them.
std::vector<DataSheet> all_devices() {
    std::vector<DataSheet> sheets = {this_machine()};
    for (const DataSheet& sheet : known_devices().sheets()) sheets.push_back(sheet);
    std::stable_partition(sheets.begin() + 1, sheets.end(),
                          [](const DataSheet& sheet) { return sheet.device.kind == Device::Kind::gpu; });
    return sheets;
}

}  // namespace

Run declare_devices(CLI::App& command) {
    struct Options {
        std::string id;
        std::string add;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    auto* id = command.add_option("id", options->id, "one device, by id, name or file; cpu is this machine");
    command.add_option("--add", options->add, "keep this data sheet with your own devices")
        ->type_name("FILE.json")
        ->excludes(id);
    options->output.declare(command);
    return [options] {
        if (!options->add.empty()) {
            add(options->add);
            return static_cast<int>(done);
        }
        const bool is_single = !options->id.empty();
        const auto sheets = is_single ? std::vector{device_argument(options->id)} : all_devices();
        if (is_single && !meant_by(options->id, sheets.front().device).empty())
            std::cerr << meant_by(options->id, sheets.front().device) << "\n";
        options->output.write(as_text(sheets, is_single, options->output.format));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
