#include "joulecast/device/device_argument.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "joulecast/device/figures.h"

namespace joulecast {

namespace {

/// All figures from where the device's own text says.
DataSheet sheet_of(Device device) {
    DataSheet sheet;
    sheet.device = std::move(device);
    sheet.sources.emplace("units", sheet.device.source);
    for (const Figure& figure : figures()) {
        if (!std::isnan(sheet.device.*figure.value)) sheet.sources.emplace(figure.name, sheet.device.source);
    }
    return sheet;
}

}  // namespace

DataSheet this_machine() {
    return sheet_of(this_cpu());
}

DataSheet device_argument(const std::string& text, std::span<const Device> stored) {
    if (text == "cpu") return this_machine();
    if (text.ends_with(".json")) return read_data_sheet(text);
    if (DataSheet own = this_machine(); own.device.id == text) return own;
    const auto own = std::ranges::find(stored, text, &Device::id);
    if (own != stored.end() && known_devices().find(text) == nullptr) return sheet_of(*own);
    return known_devices().named(text);
}

std::string meant_by(const std::string& text, const Device& device) {
    if (text == device.id || text == "cpu" || text.ends_with(".json")) return "";
    return text + " is " + device.id + ", " + device.display_name;
}

}  // namespace joulecast
