// Fits the physical power model (joulecast/physics/physical_power.h) to published tables and prints how it does on
// each device left out, then the lines of joulecast/physics/shipped_physical_power.cpp. docs/energy.md tells the
// sources and their licences.
//
//     fit_physical_power FOLDER CHECKOUT
//
// FOLDER has the prepared tables ($JOULECAST_DATA); of CHECKOUT, this source tree, zoo/, datasets/ and
// predictors/nvidia.jcp are read.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "joulecast/dataset/csv.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/dataset/table_reader.h"
#include "joulecast/dataset/unpack.h"
#include "joulecast/device/device_table.h"
#include "joulecast/device/precision.h"
#include "joulecast/error.h"
#include "joulecast/forecast/device_power.h"
#include "joulecast/forecast/unseen_device.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/model/jcp.h"
#include "joulecast/physics/fit_physical_power.h"
#include "joulecast/train/physical_samples.h"
#include "joulecast/units/statistics.h"
#include "lab/published/import_aiconfigurator.h"
#include "lab/published/import_energaizer.h"

namespace {

using namespace joulecast;
namespace fs = std::filesystem;

using Samples = std::vector<KernelPowerSample>;
using Importer = Import (*)(Dataset&, std::istream&, const std::string&);

std::ifstream open(const fs::path& path) {
    std::ifstream input(path, std::ios::binary);
    if (!input) throw Error("cannot read '" + path.string() + "'. Name the folder of prepared tables.");
    return input;
}

std::istringstream unpacked(const fs::path& path) {
    auto input = open(path);
    return std::istringstream(read_unpacked(input, path.filename().string()));
}

/// The models of GPUs by their data sheets alone, which tell how long a network's kernels run.
class SheetModels {
  public:
    explicit SheetModels(const fs::path& predictor) : predictor_(read_jcp(predictor)) {}

    std::optional<KernelPowerSample> sample(const Device& device, const TrainingNetwork& network) {
        const auto [found, is_new] = models_.try_emplace(device.id);
        if (is_new) found->second = instantiate_all(predictor_.pooled, device);
        const Math math = network.measurement.real.math;
        const auto same =
            std::ranges::find_if(found->second, [&](const DeviceModel& m) { return m.point.math == math; });
        const DeviceModel& model = same == found->second.end() ? found->second.front() : *same;
        return power_sample(model, columns(predictor_), network);
    }

  private:
    Predictor predictor_;
    std::map<std::string, std::vector<DeviceModel>> models_;
};

void import_into(Dataset& dataset, Importer importer, const fs::path& path) {
    auto input = open(path);
    const Import counts = importer(dataset, input, path.filename().string());
    std::cerr << path.filename().string() << ": " << counts.used << " of " << counts.rows << " rows\n";
}

/// A kernel that ran again and again for all of the row's time, where its power was metered.
void add_kernel(const Device& device, const Measurement& m, Samples& samples) {
    if (!m.energy || m.energy->suspect || !(measured_watts(m) > 0)) return;
    const double time = measured_seconds(m);
    samples.push_back({device, activity(prepare(m.operation, device, m.real.math), device, m.real.math, time, time), 1,
                       m.real.power_limit_w, measured_watts(m)});
}

/// Products and attention of serving engines. From 10 ms on products look like zeros (little power, fast): left out.
void add_serving_engines(const fs::path& folder, Samples& samples) {
    constexpr double longest_s = 0.01;
    Dataset dataset(":memory:");
    for (const char* table : {"gemm_with_power.csv.gz", "encoder_attention_with_power.csv.gz"})
        import_into(dataset, import_aiconfigurator, folder / table);
    for (const Device& device : dataset.devices()) {
        for (const OperationRow& row : dataset.operations(device.id)) {
            if (measured_seconds(row.measurement) < longest_s) add_kernel(device, row.measurement, samples);
        }
    }
}

/// Networks at locked clocks, by the lists of their kernels.
void add_clock_sweeps(const fs::path& folder, SheetModels& models, Samples& samples) {
    Dataset dataset(":memory:");
    for (const char* table : {"workload_ops.csv", "networks_measured.csv"})
        import_into(dataset, import_energaizer, folder / table);
    // Not their idle power: what a card draws idle at its highest clock is on the sheets that have it.
    for (const Device& stored : dataset.devices()) {
        const Device device = find_device(stored.id);
        for (const NetworkRow& row : dataset.networks(device.id)) {
            const auto graph = dataset.listed_network(row.measurement);
            if (!graph) continue;
            if (const auto sample = models.sample(device, {*graph, row.measurement})) samples.push_back(*sample);
        }
    }
}

/// A training of which the table tells the seconds of an epoch.
struct Epoch {
    const char* dataset;
    const char* network;
    const char* graph;
    const char* symbol;  ///< beside batch; nullptr: none
    std::int64_t value;
    double examples;
};

// ImageNet has 1281167 training images, taken at 224 x 224. SQuAD 1.1 makes 88524 sequences of 384 tokens at a stride
// of 128. The others either are not of our graphs or wait for their data.
constexpr Epoch epochs[] = {
    {"imagenet", "resnet50", "resnet50", nullptr, 0, 1281167},
    {"squad", "bert_base_uncased", "bert-base", "sequence", 384, 88524},
};

/// Trainings at their card's highest limit, where the clock is as high as it gets.
void add_trainings(const fs::path& table_path, const fs::path& zoo, SheetModels& models, Samples& samples) {
    std::istringstream text = unpacked(table_path);
    TableReader table(text, table_path.filename().string());
    std::map<std::pair<std::string, std::int64_t>, Graph> graphs;
    while (table.next()) {
        const Device device = find_device(table.text("gpu"));
        const double limit = table.positive("power_limit_w");
        if (limit < device.tdp_w) continue;
        for (const Epoch& epoch : epochs) {
            if (table.text("dataset") != epoch.dataset || table.text("network") != epoch.network) continue;
            const std::int64_t batch = table.whole("batch_size");
            const auto [found, is_new] = graphs.try_emplace({epoch.graph, batch});
            if (is_new) {
                SymbolValues symbols{{"batch", batch}};
                if (epoch.symbol) symbols[epoch.symbol] = epoch.value;
                found->second = at_precision(open_model(epoch.graph, zoo, symbols, Mode::training), Precision::fp32,
                                             Mode::training, device.kind);
            }
            const double step_s = table.positive("time_per_epoch_s") * static_cast<double>(batch) / epoch.examples;
            NetworkMeasurement trained;
            trained.mode = Mode::training;
            trained.real.math = Math::ieee;
            trained.real.power_limit_w = limit;
            trained.time.median_s = step_s;
            trained.energy.emplace();
            trained.energy->energy_j = table.positive("avg_power_w") * step_s;
            if (const auto sample = models.sample(device, {found->second, trained})) samples.push_back(*sample);
        }
    }
}

/// Measured by joulecast-torch: the operations of H200s and the networks of H100s and H200s.
void add_own(const fs::path& csv, const fs::path& zoo, SheetModels& models, Samples& samples) {
    Dataset dataset(":memory:");
    auto input = open(csv);
    import_csv(dataset, input, csv.filename().string());
    for (const Device& stored : dataset.devices()) {
        const Device device = find_device(stored.id);
        for (const OperationRow& row : dataset.operations(device.id)) add_kernel(device, row.measurement, samples);
        for (const NetworkRow& row : dataset.networks(device.id)) {
            const NetworkMeasurement& m = row.measurement;
            const Graph graph = at_precision(open_model(m.model, zoo, m.symbols, m.mode), precision_named(m.precision),
                                             m.mode, device.kind);
            if (const auto sample = models.sample(device, {graph, m})) samples.push_back(*sample);
        }
    }
}

double sum_of(const TableReader& table, std::initializer_list<const char*> columns) {
    double sum = 0;
    for (const char* column : columns) {
        const double share = table.number(column);
        if (std::isfinite(share)) sum += share;
    }
    return std::min(1.0, sum);
}

/// Micro-benchmarks by how much of each unit they use, at the highest core clock and the sheet's memory clock.
void add_utilisations(const fs::path& table_path, Samples& samples) {
    struct Row {
        double core = 0, memory = 0;
        KernelPowerSample sample;
    };
    std::istringstream text = unpacked(table_path);
    TableReader table(text, table_path.filename().string());
    std::map<std::string, std::vector<Row>> devices;
    while (table.next()) {
        Row row;
        row.core = table.positive("core_mhz");
        row.memory = table.positive("mem_mhz");
        row.sample.device = find_device(table.text("gpu"));
        row.sample.activity.flop_share = sum_of(table, {"util_fp32_add", "util_fp32_mul", "util_fp32_fma"});
        row.sample.activity.byte_share = sum_of(table, {"util_dram"});
        row.sample.activity.other_share = 1;
        row.sample.watts = table.positive("power_w");
        devices[row.sample.device.id].push_back(row);
    }
    for (const auto& [id, rows] : devices) {
        double core = 0, memory = 0;
        for (const Row& row : rows) {
            const double sheet = row.sample.device.memory_clock_mhz;
            core = std::max(core, row.core);
            if (memory == 0 || std::abs(row.memory - sheet) < std::abs(memory - sheet)) memory = row.memory;
        }
        for (const Row& row : rows)
            if (row.core == core && row.memory == memory) samples.push_back(row.sample);
    }
}

/// By device: the model without its chip.
using LeftOut = std::map<std::string, PhysicalPower>;

LeftOut left_out(const Samples& samples) {
    LeftOut models;
    for (const KernelPowerSample& sample : samples) {
        if (!models.contains(sample.device.id))
            models[sample.device.id] = fit_physical_power(without_chip_of(sample.device, samples));
    }
    return models;
}

/// How the model does on chips that it has not seen.
void print_left_out(const Samples& samples, const LeftOut& models) {
    std::map<std::string, std::vector<double>> errors;
    for (const KernelPowerSample& s : samples) {
        const double said = watts(models.at(s.device.id), s.device, s.activity, s.limit_w, s.relative_clock);
        errors[s.device.id].push_back(std::log(said / s.watts));
    }
    std::printf("%-18s %6s %7s %7s %7s %9s %9s\n", "device left out", "rows", "MAPE", "median", "bias", "in 90 %",
                "width +-");
    for (const auto& [id, log_errors] : errors) {
        const double half = models.at(id).half_width;
        std::vector<double> absolute;
        double inside = 0;
        for (const double error : log_errors) {
            absolute.push_back(std::abs(std::exp(error) - 1));
            inside += std::abs(error) <= half ? 1 : 0;
        }
        std::printf("%-18s %6zu %6.1f%% %6.1f%% %+6.1f%% %8.1f%% %8.0f%%\n", id.c_str(), absolute.size(),
                    100 * mean(absolute), 100 * median(absolute), 100 * std::expm1(mean(log_errors)),
                    100 * inside / static_cast<double>(absolute.size()), 100 * std::expm1(half));
    }
}

void print_line(const std::string& without, const PhysicalPower& m) {
    std::printf("    Shipped{\"%s\", {%.4f, %.4f, %.4f, %.4f, %.4f, %.4f, %.4f, %lld, %lld}},\n", without.c_str(),
                m.still, m.flop, m.byte, m.matrix, m.other, m.tensor, m.half_width, static_cast<long long>(m.devices),
                static_cast<long long>(m.rows));
}

void print_lines(const Samples& samples, const LeftOut& models) {
    print_line("", fit_physical_power(samples));
    for (const auto& [id, model] : models) print_line(id, model);
}

int run(const fs::path& tables, const fs::path& checkout) {
    const fs::path zoo = checkout / "zoo";
    SheetModels models(checkout / "predictors" / "nvidia.jcp");
    Samples samples;
    add_serving_engines(tables / "aiconfigurator", samples);
    add_clock_sweeps(tables / "energaizer_dvfs_networks", models, samples);
    add_trainings(tables / "zeus_powerlimit" / "training_power_limit_sweep.csv", zoo, models, samples);
    add_utilisations(tables / "ulisboa_gpu_dvfs" / "microbench_power_vs_utilisation.csv", samples);
    for (const char* own : {"h100-sxm.csv", "h200.csv", "h200-families.csv"})
        add_own(checkout / "datasets" / own, zoo, models, samples);
    const LeftOut models_left_out = left_out(samples);
    print_left_out(samples, models_left_out);
    std::printf("\n");
    print_lines(samples, models_left_out);
    return 0;
}

}  // namespace

int main(int count, char** words) {
    if (count != 3) {
        std::cerr << "usage: fit_physical_power FOLDER_OF_TABLES CHECKOUT\n";
        return 2;
    }
    try {
        return run(words[1], words[2]);
    } catch (const std::exception& error) {
        std::cerr << "fit_physical_power: " << error.what() << '\n';
        return 1;
    }
}
