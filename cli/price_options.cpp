#include "cli/price_options.h"

#include <charconv>
#include <cmath>

#include "joulecast/error.h"
#include "joulecast/recommend/candidate.h"

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

double number_or_nan(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc() && read.ptr == end && std::isfinite(value) ? value : Candidate::unknown;
}

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
