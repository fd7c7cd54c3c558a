#include "cli/price_options.h"

#include "cli/asked_numbers.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

double price_of(const std::string& text, const std::string& whole) {
    const double value = number_or_nan(text);
    if (!(value >= 0))
        throw UsageError(
            "--device-price takes a price per hour for all devices or one for each, as in 2.5 or "
            "h100=2.5,a30=0.8, not '" +
            whole + "'");
    return value;
}

}  // namespace

std::string above_zero(const std::string& text) {
    return number_or_nan(text) > 0 ? "" : "'" + text + "' is not a number above zero";
}
std::string not_negative(const std::string& text) {
    return number_or_nan(text) >= 0 ? "" : "'" + text + "' is not zero or a number above";
}

DevicePrices PriceOptions::of_devices() const {
    DevicePrices per_hour;
    for (const std::string& text : device_prices) {
        const std::size_t equals = text.find('=');
        const std::string device = equals == std::string::npos ? "" : text.substr(0, equals);
        const double price = price_of(equals == std::string::npos ? text : text.substr(equals + 1), text);
        if (!per_hour.emplace(device, price).second)
            throw UsageError("--device-price names " + (device.empty() ? std::string("all devices") : device) +
                             " twice");
    }
    return per_hour;
}

void PriceOptions::declare(CLI::App& command) {
    command.option_defaults()->group("Prices");
    command.add_option("--electricity-price,--kwh-price", prices.electricity_per_kwh, "price of a kWh")
        ->check(not_negative);
    command
        .add_option("--device-price,--hours-price", device_prices,
                    "price of a device for an hour: 2.5, or h100=2.5,a30=0.8")
        ->type_name("PRICE")
        ->delimiter(',');
    command.add_option("--carbon", prices.carbon_g_per_kwh, "grams of CO2 for a kWh")->check(not_negative);
}

}  // namespace joulecast::cli
