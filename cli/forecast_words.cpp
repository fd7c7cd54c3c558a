#include "cli/forecast_words.h"

#include "cli/settings.h"
#include "joulecast/report/table.h"

namespace joulecast::cli {

std::string power_evidence_words(const NetworkForecast& network) {
    const auto physical = network.power_evidence_share.find(PowerEvidence::physical);
    if (physical == network.power_evidence_share.end() || physical->second < 0.005) return "";
    const std::string text(name(PowerEvidence::physical));
    return physical->second < 0.995 ? text + " " + show(physical->second, Show::percent) : text;
}

std::string unknown_words(const std::vector<std::string>& operations, const std::string& method) {
    if (method == "joulecast")
        return "calls have no record (" + joined(operations) + "). They are estimated from the bytes of their inputs;";
    return "calls have no forecast by the method " + method + " (" + joined(operations) +
           "). They are estimated from the data sheet alone;";
}

}  // namespace joulecast::cli
