#include "joulecast/device/device_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>

#include "joulecast/device/figures.h"
#include "joulecast/device/shipped_sheets.h"
#include "joulecast/error.h"
#include "joulecast/units/near_words.h"

namespace joulecast {
namespace {

constexpr std::size_t most_user_sheets = 1000;
constexpr std::size_t longest_name = 200;

bool is_digits(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Lower-case words of letters and digits.
std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words(1);
    for (const char c : name.substr(0, longest_name)) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0)
            words.back() += static_cast<char>(std::tolower(byte));
        else if (!words.back().empty())
            words.emplace_back();
    }
    if (words.back().empty()) words.pop_back();
    return words;
}

bool says_nothing(const std::string& word) {
    static const std::set<std::string, std::less<>> brands = {
        "nvidia", "tesla",  "geforce", "quadro", "graphics", "gpu",   "amd",    "instinct", "radeon", "intel",
        "card",   "gddr5x", "gddr6x",  "gddr5",  "gddr6",    "gddr7", "lpddr5", "hbm2",     "hbm2e",  "hbm3",
        "hbm3e",  "tensor", "core",    "the",    "module",   "r",     "tm",     "series"};
    return brands.contains(word);
}

/// "80gb", "80g" -> "80g"; empty for words that are no size.
std::string size_word(std::string_view word) {
    if (word.ends_with("gb") && is_digits(word.substr(0, word.size() - 2))) word.remove_suffix(1);
    return word.ends_with('g') && is_digits(word.substr(0, word.size() - 1)) ? std::string(word) : "";
}

/// "sxm4" -> "sxm"; empty for words that are no socket. "nvl" is part of the model: another card, not another socket.
std::string socket_word(std::string_view word) {
    if (word == "pcie" || word == "pci") return "pcie";
    const bool sxm = word.starts_with("sxm") && (word.size() == 3 || is_digits(word.substr(3)));
    return sxm ? "sxm" : "";
}

template <class Names>
std::set<std::string> keys_of(std::string_view id, const Names& names) {
    std::set<std::string> keys = {name_key(id)};
    for (const std::string_view name : names) keys.insert(name_key(name));
    keys.erase("");
    // The id as it is: one that consists of words that say nothing ("gpu") has no key, and must be found all the same.
    keys.emplace(id);
    return keys;
}

std::filesystem::path folder_in(const char* variable, const char* below) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') return {};
    return *below == '\0' ? std::filesystem::path(value) : std::filesystem::path(value) / below;
}

}  // namespace

std::string name_key(std::string_view name) {
    std::string model;
    std::set<std::string> sizes;
    std::set<std::string> sockets;
    const std::vector<std::string> words = words_of(name);
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (says_nothing(word)) continue;
        const bool apart = i + 1 < words.size() && (words[i + 1] == "gb" || words[i + 1] == "g") && is_digits(word);
        if (apart) {
            sizes.insert(word + "g");
            ++i;
        } else if (const std::string size = size_word(word); !size.empty()) {
            sizes.insert(size);
        } else if (const std::string socket = socket_word(word); !socket.empty()) {
            sockets.insert(socket);
        } else {
            model += word;
        }
    }
    for (const auto& parts : {sizes, sockets}) {
        for (const std::string& part : parts) model += "+" + part;
    }
    return model;
}

struct LazySheet::Reading {
    std::once_flag once;
    std::string_view json;
    DataSheet sheet;
};

LazySheet::LazySheet(DataSheet sheet) : id_(sheet.device.id), reading_(std::make_shared<Reading>()) {
    reading_->sheet = std::move(sheet);
}

LazySheet::LazySheet(const ShippedSheet& shipped) : id_(shipped.id), reading_(std::make_shared<Reading>()) {
    reading_->json = shipped.json;
}

const DataSheet& LazySheet::sheet() const {
    std::call_once(reading_->once, [this] {
        if (!reading_->json.empty()) reading_->sheet = parse_data_sheet(reading_->json, "devices/" + id_ + ".json");
    });
    return reading_->sheet;
}

DeviceTable::DeviceTable() {
    for (const ShippedSheet& shipped : shipped_sheets()) {
        add(LazySheet(shipped), keys_of(shipped.id, shipped.names), std::string(shipped.id));
    }
}

void DeviceTable::add(DataSheet sheet) {
    std::vector<std::string> names = sheet.aliases;
    names.push_back(sheet.device.display_name);
    const auto keys = keys_of(sheet.device.id, names);
    const std::string what = sheet.file.empty() ? sheet.device.id : sheet.file;
    add(LazySheet(std::move(sheet)), keys, what);
}

void DeviceTable::add(LazySheet sheet, const std::set<std::string>& keys, const std::string& what) {
    const std::string& id = sheet.id();
    for (const std::string& key : keys) {
        const auto taken = ids_.find(key);
        if (taken == ids_.end() || taken->second == id) continue;
        throw Error("data sheet " + what + ": its name or alias that reads as \"" + key + "\" is device " +
                    taken->second + "'s. Give it another, or the id " + taken->second + " to replace that device.");
    }
    std::erase_if(sheets_, [&](const LazySheet& other) { return other.id() == id; });
    std::erase_if(ids_, [&](const auto& key_and_id) { return key_and_id.second == id; });
    for (const std::string& key : keys) ids_.emplace(key, id);
    const auto place = std::ranges::upper_bound(sheets_, id, {}, &LazySheet::id);
    sheets_.insert(place, std::move(sheet));
}

std::vector<DataSheet> DeviceTable::sheets() const {
    std::vector<DataSheet> sheets;
    for (const LazySheet& sheet : sheets_) sheets.push_back(sheet.sheet());
    return sheets;
}

void DeviceTable::add_folder(const std::filesystem::path& folder) {
    std::error_code failure;
    std::set<std::filesystem::path> files;
    if (!std::filesystem::is_directory(folder, failure)) return;
    const std::filesystem::directory_iterator entries(folder, failure);
    if (failure) throw Error("cannot read the devices in " + folder.string() + ": " + failure.message() + ".");
    for (const auto& entry : entries) {
        if (entry.path().extension() != ".json") continue;
        if (files.size() == most_user_sheets)
            throw Error("folder " + folder.string() + " holds more than 1000 data sheets of devices.");
        files.insert(entry.path());
    }
    for (const auto& file : files) add(read_data_sheet(file));
}

const DataSheet* DeviceTable::find(std::string_view text) const {
    if (text.size() > longest_name) return nullptr;
    auto named = ids_.find(text);
    if (named == ids_.end()) named = ids_.find(name_key(text));
    if (named == ids_.end()) return nullptr;
    return &std::ranges::lower_bound(sheets_, named->second, {}, &LazySheet::id)->sheet();
}

std::vector<std::string> DeviceTable::names_like(std::string_view text, std::size_t most) const {
    const std::string key = name_key(text);
    std::map<std::string, std::size_t> nearest;
    for (const auto& [own, id] : ids_) {
        // What begins with all that was written comes first: "a100+80g" lists its two cards.
        const std::size_t far = !key.empty() && own.starts_with(key) ? 0 : edit_distance(key, own);
        const auto [place, is_new] = nearest.emplace(id, far);
        if (!is_new) place->second = std::min(place->second, far);
    }
    std::vector<std::pair<std::size_t, std::string>> near;
    for (const auto& [id, far] : nearest) {
        if (far <= std::max<std::size_t>(2, key.size() / 2)) near.emplace_back(far, id);
    }
    std::ranges::sort(near);
    near.resize(std::min(near.size(), most));
    std::vector<std::string> ids;
    for (auto& [far, id] : near) ids.push_back(std::move(id));
    return ids;
}

const DataSheet& DeviceTable::named(std::string_view text) const {
    if (const DataSheet* sheet = find(text)) return *sheet;
    std::string near;
    for (const std::string& id : names_like(text)) near += (near.empty() ? "" : ", ") + id;
    throw UsageError("no device is called '" + std::string(text.substr(0, longest_name)) + "'." +
                     (near.empty() ? "" : " Near it: " + near + ".") +
                     " joulecast devices lists all; docs/devices.md says how to add one.");
}

std::filesystem::path user_device_folder() {
    if (auto folder = folder_in("JOULECAST_DEVICES", ""); !folder.empty()) return folder;
    if (auto folder = folder_in("XDG_CONFIG_HOME", "joulecast/devices"); !folder.empty()) return folder;
    return folder_in("HOME", ".config/joulecast/devices");
}

const DeviceTable& known_devices() {
    static const DeviceTable table = [] {
        DeviceTable shipped;
        if (const auto folder = user_device_folder(); !folder.empty()) shipped.add_folder(folder);
        return shipped;
    }();
    return table;
}

Device with_known_figures(Device device) {
    const DataSheet* sheet = known_devices().find(device.id);
    if (sheet == nullptr || sheet->device.kind != device.kind) return device;
    const Device& known = sheet->device;
    bool is_filled = false;
    for (const Figure& figure : figures()) {
        if (!std::isnan(device.*figure.value) || std::isnan(known.*figure.value)) continue;
        device.*figure.value = known.*figure.value;
        is_filled = true;
    }
    if (device.vendor.empty()) device.vendor = known.vendor;
    if (device.architecture.empty()) device.architecture = known.architecture;
    if (device.units == 0) device.units = known.units;
    const std::string from = "the data sheet of " + known.id;
    if (is_filled && device.source.find(from) == std::string::npos)
        device.source += (device.source.empty() ? "" : "; what that leaves open: ") + from;
    return device;
}

Device find_device(std::string_view text) {
    if (text == "cpu") return this_cpu();
    return known_devices().named(text).device;
}

}  // namespace joulecast
