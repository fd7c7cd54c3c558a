#include "joulecast/evaluate/baselines/baseline.h"

#include <algorithm>
#include <iterator>

#include "joulecast/evaluate/baselines/fits.h"

namespace joulecast {
namespace {

using Energy = Baseline::Energy;

constexpr std::string_view per_device =
    "fitted per device (and layer type): nothing for a device or type without three measured operations";
constexpr std::string_view of_the_thesis =
    "fitted per device, mode and type: nothing where none was measured, for a layer whose name no training row has, "
    "and where a regression ends at zero or below";
constexpr std::string_view of_best =
    "fitted per device (and layer type): nothing for a device or type without three measured operations, and where a "
    "regression ends at zero or below";
constexpr std::string_view no_type = "nothing for a layer type of which too few operations were measured";

constexpr Baseline list[] = {
    {"roofline", "Williams et al. 2009", "", false, Energy::none, fit_roofline},
    {"paleo", "Qi et al. 2017", "", false, Energy::none, fit_paleo},
    {"thesis_forest", "Nicolai 2025", of_the_thesis, true, Energy::time_times_power, fit_thesis_forest},
    {"thesis_xgboost", "Nicolai 2025", of_the_thesis, true, Energy::time_times_power, fit_thesis_xgboost},
    {"sponner_ert", "Sponner et al. 2022", per_device, true, Energy::time_times_power, fit_sponner_ert},
    {"sponner_knn", "Sponner et al. 2022", per_device, true, Energy::time_times_power, fit_sponner_knn},
    {"sponner_best", "Sponner et al. 2022", of_best, true, Energy::time_times_power, fit_sponner_best},
    {"template_matching", "Nadeem and Fahringer 2009", per_device, true, Energy::time_times_power,
     fit_template_matching},
    {"gianniti", "Gianniti et al. 2018", per_device, false, Energy::none, fit_gianniti},
    {"neuralpower", "Cai et al. 2017",
     "the paper has convolution, fully connected and pooling layers only, fitted per device", true,
     Energy::time_times_power, fit_neuralpower},
    {"justus", "Justus et al. 2018", no_type, false, Energy::none, fit_justus},
    {"velasco", "Velasco-Montero et al. 2020", per_device, false, Energy::fitted, fit_velasco},
    {"li23", "Li et al. 2023", no_type, false, Energy::none, fit_li23},
    {"habitat", "Yu et al. 2021",
     "scales the time of the same operation on another device: there is none among the training rows", false,
     Energy::none, fit_habitat},
};

}  // namespace

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

std::span<const Baseline> baselines() {
    return list;
}

const Baseline* find_baseline(std::string_view name) {
    const auto found =
        std::find_if(std::begin(list), std::end(list), [&](const Baseline& b) { return b.name == name; });
    return found == std::end(list) ? nullptr : found;
}

std::string baseline_names() {
    std::string names;
    for (const Baseline& baseline : list) {
        if (!names.empty()) names += ", ";
        names += baseline.name;
    }
    return names;
}

}  // namespace joulecast
