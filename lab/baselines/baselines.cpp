#include "lab/baselines/baselines.h"

#include <algorithm>
#include <iterator>

#include "joulecast/evaluate/published_baselines.h"
#include "lab/baselines/fits.h"
#include "lab/baselines/lattuada.h"

namespace joulecast {
namespace {

using Energy = Baseline::Energy;

constexpr std::string_view no_sheet = "nothing for a device whose data sheet has no peak or no bandwidth";
constexpr std::string_view per_device =
    "fitted per device (and layer type): nothing for a device or type without three measured operations";
constexpr std::string_view no_type = "nothing for a layer type of which too few operations were measured";

constexpr Baseline list[] = {
    {"roofline", "Williams et al. 2009", no_sheet, false, Energy::none, fit_roofline},
    {"paleo", "Qi et al. 2017", no_sheet, false, Energy::none, fit_paleo},
    thesis_forest,
    thesis_xgboost,
    {"sponner_ert", "Sponner et al. 2022", per_device, true, Energy::time_times_power, fit_sponner_ert},
    {"sponner_knn", "Sponner et al. 2022", per_device, true, Energy::time_times_power, fit_sponner_knn},
    sponner_best,
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

constexpr NetworkBaseline of_networks[] = {{Lattuada::name, "Lattuada et al. 2022", Lattuada::gaps, fit_lattuada}};

}  // namespace

std::span<const Baseline> baselines() {
    return list;
}

const Baseline* find_baseline(std::string_view name) {
    const auto found =
        std::find_if(std::begin(list), std::end(list), [&](const Baseline& b) { return b.name == name; });
    return found == std::end(list) ? nullptr : found;
}

std::span<const NetworkBaseline> network_baselines() {
    return of_networks;
}

const NetworkBaseline* find_network_baseline(std::string_view name) {
    const auto found = std::ranges::find(of_networks, name, &NetworkBaseline::name);
    return found == std::end(of_networks) ? nullptr : found;
}

std::string baseline_names() {
    std::string names;
    for (const Baseline& baseline : list) {
        if (!names.empty()) names += ", ";
        names += baseline.name;
    }
    for (const NetworkBaseline& baseline : of_networks) names += ", " + std::string(baseline.name);
    return names;
}

}  // namespace joulecast
