#include "joulecast/evaluate/baseline.h"

#include <algorithm>

namespace joulecast {

std::string_view name(BaselineMetric metric) {
    switch (metric) {
        case BaselineMetric::time:
            return "time_s";
        case BaselineMetric::power:
            return "power_w";
        case BaselineMetric::energy:
            return "energy_j";
    }
    return "";
}

bool forecasts(const Baseline& baseline, BaselineMetric metric) {
    switch (metric) {
        case BaselineMetric::time:
            return true;
        case BaselineMetric::power:
            return baseline.power;
        case BaselineMetric::energy:
            return baseline.energy != Baseline::Energy::none;
    }
    return false;
}

std::string no_forecast_reason(const Baseline& baseline, std::string_view metric) {
    for (const BaselineMetric known : {BaselineMetric::time, BaselineMetric::power, BaselineMetric::energy}) {
        if (name(known) == metric && forecasts(baseline, known)) return std::string(baseline.gaps);
    }
    return "the paper forecasts no such thing";
}

}  // namespace joulecast
