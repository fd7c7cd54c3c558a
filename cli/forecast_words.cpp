#include "cli/forecast_words.h"

#include "joulecast/report/table.h"

namespace joulecast::cli {

std::string power_evidence_words(const NetworkForecast& network) {
    const auto physical = network.power_evidence_share.find(PowerEvidence::physical);
    if (physical == network.power_evidence_share.end() || physical->second < 0.005) return "";
    const std::string text(name(PowerEvidence::physical));
    return physical->second < 0.995 ? text + " " + show(physical->second, Show::percent) : text;
}

}  // namespace joulecast::cli
