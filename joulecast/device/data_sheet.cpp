#include "joulecast/device/data_sheet.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <system_error>

#include <nlohmann/json.hpp>

#include "joulecast/device/figures.h"
#include "joulecast/error.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast {
namespace {

using Json = nlohmann::json;

constexpr std::string_view schema = "joulecast.device/1";
constexpr std::size_t longest_text = 1000;
constexpr std::size_t most_aliases = 64;
constexpr std::size_t most_sources = 64;
constexpr int most_units = 1'000'000;
/// Nothing in a data sheet is nested deeper; a hostile file may be.
constexpr std::size_t deepest = 4;

bool is_id(std::string_view text) {
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, allowed) && text.front() != '-' &&
           text.back() != '-';
}

/// Control characters would reach terminals and files of one line a record.
bool is_plain(std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F; });
}

/// Reads one data sheet; every fault names the file and the key.
class SheetReader {
  public:
    SheetReader(std::string_view text, const std::string& name) : name_(name), json_(parsed(text)) {
        if (!json_.is_object()) fail("it is not a JSON object");
    }

    DataSheet read() const {
        if (text("schema") != schema) fail("\"schema\" is not \"" + std::string(schema) + "\"");
        refuse_unknown_keys();
        DataSheet sheet;
        read_words(sheet.device);
        sheet.aliases = texts(json_, "aliases", most_aliases);
        sheet.host_cpu = text_or("host_cpu", "");
        if (!sheet.host_cpu.empty() && (sheet.device.kind != Device::Kind::gpu || !is_id(sheet.host_cpu)))
            fail("\"host_cpu\" is not, of a GPU, the id of the CPU in its module");
        for (const Figure& figure : figures()) read_figure(figure, sheet.device);
        read_sources(sheet);
        return sheet;
    }

  private:
    [[noreturn]] void fail(const std::string& why) const {
        throw FormatError("data sheet " + name_ + ": " + why + ".");
    }

    Json parsed(std::string_view text) const {
        try {
            return parse_bounded(text, {.depth = deepest});
        } catch (const FormatError& error) {
            fail(error.what());
        }
    }

    void refuse_unknown_keys() const {
        static const std::set<std::string, std::less<>> words = {"schema",   "id",           "name",  "kind",
                                                                 "vendor",   "architecture", "units", "aliases",
                                                                 "host_cpu", "sources",      "note"};
        for (const auto& [key, value] : json_.items()) {
            if (!words.contains(key) && find_figure(key) == nullptr)
                fail("\"" + key.substr(0, 80) + "\" is not a key of a data sheet. docs/devices.md lists them");
        }
    }

    std::string as_text(const Json& value, const std::string& key) const {
        if (!value.is_string()) fail("\"" + key + "\" is not a string");
        auto text = value.get<std::string>();
        if (text.size() > longest_text) fail("\"" + key + "\" is longer than 1000 bytes");
        if (!is_plain(text)) fail("\"" + key + "\" holds control characters");
        return text;
    }
    std::string text(const std::string& key) const {
        const auto found = json_.find(key);
        if (found == json_.end()) fail("\"" + key + "\" is missing");
        return as_text(*found, key);
    }
    std::string text_or(const std::string& key, std::string fallback) const {
        return json_.contains(key) ? text(key) : std::move(fallback);
    }
    std::vector<std::string> texts(const Json& object, const std::string& key, std::size_t most) const {
        std::vector<std::string> list;
        const auto found = object.find(key);
        if (found == object.end()) return list;
        if (!found->is_array() || found->size() > most)
            fail("\"" + key + "\" is not a list of at most " + std::to_string(most) + " texts");
        for (const Json& item : *found) list.push_back(as_text(item, key));
        return list;
    }

    void read_words(Device& device) const {
        device.id = text("id");
        if (!is_id(device.id)) fail("\"id\" must be of a-z, 0-9 and - (at most 64), and neither begin nor end with -");
        device.display_name = text_or("name", device.id);
        const std::string kind = text("kind");
        const auto parsed = parse_device_kind(kind);
        if (!parsed) fail("\"kind\" is neither \"cpu\" nor \"gpu\"");
        device.kind = *parsed;
        device.vendor = text_or("vendor", "");
        device.architecture = text_or("architecture", "");
        text_or("note", "");
        if (const auto units = json_.find("units"); units != json_.end()) {
            if (!units->is_number_unsigned() || units->get<std::uint64_t>() == 0 ||
                units->get<std::uint64_t>() > std::uint64_t{most_units})
                fail("\"units\" is not a whole number between 1 and 1000000");
            device.units = units->get<int>();
        }
    }

    void read_figure(const Figure& figure, Device& device) const {
        const auto found = json_.find(figure.name);
        if (found == json_.end() || found->is_null()) return;
        const std::string key(figure.name);
        if (!found->is_number()) fail("\"" + key + "\" is not a number (leave out what is not known)");
        const auto value = found->get<double>();
        if (!(value >= figure.low && value <= figure.high))
            fail("\"" + key + "\" must lie between " + Json(figure.low).dump() + " and " + Json(figure.high).dump() +
                 (name(figure.unit).empty() ? "" : " " + std::string(name(figure.unit))));
        device.*figure.value = value;
    }

    static bool is_known(const Device& device, std::string_view key) {
        if (key == "units") return device.units > 0;
        const Figure* figure = find_figure(key);
        const double value = figure == nullptr ? Device::unknown : device.*figure->value;
        return value == value;
    }

    /// "sources": [{"text": "...", "figures": ["units", ...]}, {"text": "..."}]; one without figures is for the rest.
    void read_sources(DataSheet& sheet) const {
        const auto list = json_.find("sources");
        if (list == json_.end() || !list->is_array() || list->empty() || list->size() > most_sources)
            fail("\"sources\" must list, at most 64 of them, where the figures come from");
        std::string rest;
        for (const Json& item : *list) {
            if (!item.is_object() || !item.contains("text")) fail("an item of \"sources\" has no \"text\"");
            const std::string source = as_text(item.at("text"), "text");
            if (source.empty()) fail("an item of \"sources\" has an empty \"text\"");
            if (!item.contains("figures")) {
                if (!rest.empty()) fail("two items of \"sources\" name no \"figures\"");
                rest = source;
            }
            for (const std::string& key : texts(item, "figures", figures().size() + 1)) {
                if (!is_known(sheet.device, key))
                    fail("\"sources\" names \"" + key.substr(0, 80) + "\", which is not a figure of this sheet");
                if (!sheet.sources.emplace(key, source).second) fail("\"" + key + "\" has two sources");
            }
        }
        add_rest(sheet, rest);
        sheet.device.source = rest.empty() ? list->front().at("text").get<std::string>() : rest;
    }

    void add_rest(DataSheet& sheet, const std::string& rest) const {
        std::vector<std::string> keys = {"units"};
        for (const Figure& figure : figures()) keys.emplace_back(figure.name);
        for (const std::string& key : keys) {
            if (!is_known(sheet.device, key) || sheet.sources.contains(key)) continue;
            if (rest.empty()) fail("\"" + key + "\" has no source");
            sheet.sources.emplace(key, rest);
        }
    }

    const std::string& name_;
    Json json_;
};

}  // namespace

DataSheet parse_data_sheet(std::string_view json, const std::string& name) {
    return SheetReader(json, name).read();
}

std::string data_sheet_text(const std::filesystem::path& path) {
    // Asked before it is opened: opening a pipe waits for whoever writes into it.
    std::error_code failure;
    std::ifstream file;
    if (std::filesystem::is_regular_file(path, failure)) file.open(path, std::ios::binary);
    std::string text(largest_data_sheet_bytes + 1, '\0');
    if (!file.is_open())
        throw Error("cannot read data sheet " + path.string() + ": check that it is a file and may be read.");
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > largest_data_sheet_bytes)
        throw FormatError("data sheet " + path.string() + " is larger than 256 KiB.");
    return text;
}

DataSheet read_data_sheet(const std::filesystem::path& path) {
    DataSheet sheet = parse_data_sheet(data_sheet_text(path), path.string());
    sheet.file = path.string();
    return sheet;
}

}  // namespace joulecast
