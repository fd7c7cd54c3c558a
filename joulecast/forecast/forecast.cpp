#include "joulecast/forecast/forecast.h"

namespace joulecast {

std::string_view name(Bound bound) {
    switch (bound) {
        case Bound::device:
            return "device";
        case Bound::host:
            return "host";
        case Bound::power_cap:
            return "power_cap";
    }
    return "";
}

std::string_view name(Composition composition) {
    return composition == Composition::timeline ? "timeline" : "aggregate";
}

std::string_view name(Evidence evidence) {
    switch (evidence) {
        case Evidence::measured:
            return "measured";
        case Evidence::interpolated:
            return "interpolated";
        case Evidence::extrapolated:
            return "extrapolated";
        case Evidence::analytic:
            return "analytic";
        case Evidence::unknown:
            return "unknown";
    }
    return "";
}

std::string_view name(PowerEvidence evidence) {
    switch (evidence) {
        case PowerEvidence::none:
            return "unknown";
        case PowerEvidence::measured:
            return "measured";
        case PowerEvidence::learned:
            return "learned";
        case PowerEvidence::shared:
            return "between idle and busy";
        case PowerEvidence::physical:
            return "physical power model";
    }
    return "";
}

double memory_bytes(const NetworkForecast& network) {
    return network.resident_bytes + network.cost.peak_memory.value.value();
}

double tokens_of(const NetworkForecast& network) {
    const auto value = [&](const char* symbol, double otherwise) {
        const auto found = network.symbols.find(symbol);
        return found == network.symbols.end() ? otherwise : static_cast<double>(found->second);
    };
    const double sequences = value("batch", 1) * static_cast<double>(network.training.accumulation);
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    return sequences * (network.symbols.contains("past") ? 1 : value("sequence", unknown));
}

}  // namespace joulecast
