#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "joulecast/device/device_table.h"
#include "joulecast/device/figures.h"
#include "joulecast/error.h"

namespace {

/// Whatever was accepted has bounded figures with a source each, and is found by its own id.
void use(const joulecast::DataSheet& sheet) {
    for (const joulecast::Figure& figure : joulecast::figures()) {
        const double value = sheet.device.*figure.value;
        if (std::isnan(value)) continue;
        if (value < figure.low || value > figure.high || !sheet.sources.contains(figure.name)) std::abort();
    }
    static const joulecast::DeviceTable shipped;
    joulecast::DeviceTable table = shipped;
    table.add(sheet);
    const joulecast::DataSheet* found = table.find(sheet.device.id);
    if (found == nullptr || found->device.id != sheet.device.id) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    try {
        use(joulecast::parse_data_sheet(text, "fuzz"));
    } catch (const joulecast::Error&) {
        return 0;
    }
    return 0;
}
