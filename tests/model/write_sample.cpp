// Writes the samples of predictor files that every later version must open and forecast alike: `model_write_sample
// STEM` writes STEM.jcp, by every learner that the format has a model for, on a device whose every number is made up,
// and `model_write_sample STEM.jcp` writes what this program makes of such a file to STEM.csv. When the format gets a
// new version, the commit before it writes tests/model/data/version_N once; no file there is ever written again.
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>

#include "joulecast/dataset/csv.h"
#include "joulecast/model/jcp.h"
#include "tests/model/sample_forecasts.h"
#include "tests/train/synthetic.h"

namespace {

using namespace joulecast;
using joulecast::testing::SampleForecast;

/// 20 W at rest, and more the longer a call is.
double synthetic_watts(double seconds) {
    return 20 + 100 / (1 + 2e-5 / seconds);
}

template <class Measurement>
void add_energy(Measurement& m, double idle_w) {
    m.energy.emplace();
    m.energy->power_w = synthetic_watts(m.time.median_s);
    m.energy->energy_j = m.energy->power_w * m.time.median_s;
    m.energy->idle_power_w = idle_w;
}

Predictor trained() {
    std::vector<Graph> graphs;
    for (const std::int64_t batch : {2, 5}) graphs.push_back(testing::synthetic_graph("resnet18", batch));
    auto rows = testing::synthetic_rows(graphs);
    for (OperationRow& row : rows) add_energy(row.measurement, 20);
    OperatingPoint setting;
    const auto training = training_rows(rows, testing::synthetic_cpu(), setting);
    std::vector<TrainingNetwork> networks;
    for (const Graph& graph : graphs) {
        networks.push_back({graph, testing::synthetic_network(graph).measurement});
        add_energy(networks.back().measurement, 20);
    }
    const std::map<std::pair<Family, Metric>, Learner> learners{
        {{Family::convolution, Metric::time}, Learner::extra_trees},
        {{Family::convolution, Metric::power}, Learner::xgboost},
        {{Family::convolution, Metric::peak_memory}, Learner::polynomial},
        {{Family::elementwise, Metric::time}, Learner::knn},
        {{Family::elementwise, Metric::power}, Learner::svr},
        {{Family::elementwise, Metric::peak_memory}, Learner::mlp},
    };
    Predictor predictor = empty_predictor();
    for (const auto& [part, learner] : learners) {
        TrainSettings settings;
        settings.trees = 3;
        settings.learner = learner;
        auto device = train_device(testing::synthetic_cpu(), setting, training, networks, settings);
        std::erase_if(device.models,
                      [&](const FamilyModel& model) { return std::pair(model.family, model.metric) != part; });
        if (predictor.devices.empty()) {
            predictor.devices.push_back(std::move(device));
        } else {
            for (FamilyModel& model : device.models) predictor.devices[0].models.push_back(std::move(model));
        }
    }
    predictor.origin = origin_of(rows, "joulecast sample", "2026-01-01T00:00:00Z");
    return predictor;
}

void write_forecasts(const std::filesystem::path& file) {
    const Predictor predictor = read_jcp(file);
    auto beside = file;
    std::ofstream out(beside.replace_extension(".csv"));
    out << "name,time_s,time_low_s,time_high_s,energy_j,energy_high_j,peak_memory_bytes\n";
    for (const SampleForecast& one : testing::sample_forecasts(predictor)) {
        out << csv_field(one.name);
        for (const double number :
             {one.time_s, one.time_low_s, one.time_high_s, one.energy_j, one.energy_high_j, one.peak_memory_bytes}) {
            std::array<char, 40> text{};
            if (!std::isnan(number)) std::snprintf(text.data(), text.size(), "%.17g", number);
            out << ',' << text.data();
        }
        out << '\n';
    }
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fputs("usage: model_write_sample STEM | STEM.jcp\n", stderr);
        return 2;
    }
    try {
        const std::filesystem::path path = argv[1];
        if (path.extension() == ".jcp") {
            write_forecasts(path);
        } else {
            write_jcp(trained(), path.string() + ".jcp");
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "model_write_sample: %s\n", error.what());
        return 1;
    }
}
