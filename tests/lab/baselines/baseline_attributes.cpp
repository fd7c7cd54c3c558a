// The oracle's helper. "make DB" writes measurements of a synthetic CPU, "dump DB" prints what the published methods
// see of each training row, one JSON object a line.
#include <cmath>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "joulecast/forecast/published/attributes.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

void make(const std::string& path) {
    Dataset dataset(path);
    dataset.insert(testing::synthetic_cpu());
    std::vector<Graph> graphs;
    for (const char* model : {"resnet50", "mobilenet_v2", "densenet121", "vit_b_16", "efficientnet_b0"}) {
        for (const std::int64_t batch : {1, 8}) {
            for (const Mode mode : {Mode::inference, Mode::training}) {
                graphs.push_back(testing::synthetic_graph(model, batch, mode));
            }
        }
    }
    for (const OperationRow& row : testing::synthetic_rows(graphs)) dataset.insert(row.measurement, row.provenance);
}

void dump(const Device& device, const OperatingPoint& setting, const std::vector<OperationRow>& rows) {
    const auto training = training_rows_at(rows, device, setting);
    std::set<std::string> names;
    for (const TrainingRow& row : training) names.insert(layer_name(row.operation.operation));
    for (const TrainingRow& row : training) {
        const double clock_mhz = row.sm_clock_mhz > 0 ? row.sm_clock_mhz : setting.sm_clock_mhz;
        const Subject subject{&row.operation, &device, clock_mhz, setting.math};
        nlohmann::json line{{"device", device.id}, {"group", row.group}, {"time_s", row.time_s}};
        if (std::isfinite(row.power_w)) line["power_w"] = row.power_w;
        line["math"] = name(setting.math);
        line["set"] = std::string(name(mode(row.operation.operation))) + "|" +
                      std::string(name(compute_dtype(row.operation.operation)));
        line["type"] = layer_type_on_device(subject);
        line["layer"] = layer_name(row.operation.operation);
        line["thesis"] = thesis_row(subject, {names.begin(), names.end()});
        line["sponner"] = sponner_row(subject);
        std::cout << line.dump() << '\n';
    }
}

void dump(const std::string& path) {
    const Dataset dataset(path, Dataset::Access::read_only);
    for (const Device& device : dataset.devices()) {
        const auto rows = dataset.operations(device.id);
        if (rows.empty()) continue;
        for (const OperatingPoint& setting : settings_of(rows)) dump(device, setting, rows);
    }
}

}  // namespace
}  // namespace joulecast

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    const std::string what = argv[1];
    if (what == "make") {
        joulecast::make(argv[2]);
    } else {
        joulecast::dump(argv[2]);
    }
    return 0;
}
