#include "cli/device_argument.h"

#include <cmath>

#include "joulecast/device/figures.h"

namespace joulecast::cli {

DataSheet this_machine() {
    DataSheet sheet;
    sheet.device = this_cpu();
    sheet.sources.emplace("units", sheet.device.source);
    for (const Figure& figure : figures()) {
        if (!std::isnan(sheet.device.*figure.value)) sheet.sources.emplace(figure.name, sheet.device.source);
    }
    return sheet;
}

DataSheet device_argument(const std::string& text) {
    if (text == "cpu") return this_machine();
    if (text.ends_with(".json")) return read_data_sheet(text);
    if (DataSheet own = this_machine(); own.device.id == text) return own;
    return known_devices().named(text);
}

std::string meant_by(const std::string& text, const Device& device) {
    if (text == device.id || text == "cpu" || text.ends_with(".json")) return "";
    return text + " is " + device.id + ", " + device.display_name;
}

}  // namespace joulecast::cli
