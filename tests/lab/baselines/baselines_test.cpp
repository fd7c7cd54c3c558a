// Each published method recovers data made by its own law.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <list>
#include <map>
#include <string>

#include "joulecast/evaluate/baseline_networks.h"
#include "joulecast/evaluate/baseline_rows.h"
#include "joulecast/forecast/published/attributes.h"
#include "joulecast/learn/random.h"
#include "lab/baselines/baselines.h"
#include "lab/baselines/fits.h"
#include "lab/baselines/lattuada.h"

namespace joulecast {
namespace {

Device made_up(const std::string& id, double peak, double bandwidth, int units = 10, double clock_mhz = 1000) {
    Device device;
    device.id = id;
    device.kind = Device::Kind::gpu;
    device.peak_flop_per_s_fp32 = device.peak_flop_per_s_bf16 = peak;
    device.bandwidth_bytes_per_s = bandwidth;
    device.units = units;
    device.max_clock_mhz = clock_mhz;
    return device;
}

const Device& first_device() {
    static const Device device = made_up("first", 1e13, 1e12);
    return device;
}

std::string linear(std::int64_t m, std::int64_t k, std::int64_t n) {
    const auto text = [](std::int64_t x) { return std::to_string(x); };
    return "aten::linear(input=f32[" + text(m) + "," + text(k) + "], weight=f32[" + text(n) + "," + text(k) + "])";
}
std::string relu(std::int64_t n) {
    return "aten::relu(self=f32[" + std::to_string(n) + "])";
}

/// Measured rows of operations on devices, their values by a law.
class Rows {
  public:
    using LawOf = std::function<double(const Subject&)>;

    void add(const std::string& signature, const Device& device, const LawOf& law, double clock_mhz = NAN) {
        operations_.push_back(prepare(parse_operation(signature), device, Math::ieee));
        groups_.push_back(signature);
        const Subject subject{&operations_.back(), &device, clock_mhz, Math::ieee};
        rows_.push_back({subject, groups_.back(), law(subject)});
    }
    Observations get() const { return rows_; }

  private:
    std::list<PreparedOperation> operations_;
    std::list<std::string> groups_;
    std::vector<Observation> rows_;
};

/// Linear layers of sizes drawn at random.
Rows linear_layers(std::size_t count, const Device& device, const Rows::LawOf& law, std::uint64_t seed = 1) {
    Rows rows;
    Random random(seed);
    const auto size = [&] { return static_cast<std::int64_t>(8 + random.below(500)); };
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t m = size(), k = size(), n = size();
        rows.add(linear(m, k, n), device, law);
    }
    return rows;
}

std::unique_ptr<FittedBaseline> fitted(const char* name, const Rows& rows,
                                       BaselineMetric metric = BaselineMetric::time) {
    BaselineSettings settings;
    settings.metric = metric;
    settings.threads = 1;
    return find_baseline(name)->fit(rows.get(), settings);
}

/// What a fitted method says of fresh linear layers, over what the law says: the largest relative error.
double worst(const FittedBaseline& method, const Device& device, const Rows::LawOf& law) {
    const Rows fresh = linear_layers(40, device, law, 99);
    double largest = 0;
    for (const Observation& row : fresh.get()) {
        const double error = std::abs(method.forecast(row.subject) / row.value - 1);
        largest = std::isnan(error) ? INFINITY : std::max(largest, error);
    }
    return largest;
}

double all_flop(const Subject& s) {
    return static_cast<double>(s.operation->dimensions.forward.flop + s.operation->dimensions.forward.other_flop);
}

TEST(Gianniti, IsALineOverTheComplexity) {
    const auto law = [](const Subject& s) { return 3e-6 + 2e-12 * all_flop(s); };
    EXPECT_LT(worst(*fitted("gianniti", linear_layers(30, first_device(), law)), first_device(), law), 1e-6);
}

TEST(Velasco, IsLinearInOperationsTensorsAndWeights) {
    const auto law = [](const Subject& s) {
        const Dimensions& d = s.operation->dimensions;
        return 5e-6 + 1e-12 * all_flop(s) + 2e-11 * d.input_bytes + 3e-11 * d.output_bytes + 4e-11 * d.weight_bytes;
    };
    const Rows rows = linear_layers(40, first_device(), law);
    EXPECT_LT(worst(*fitted("velasco", rows), first_device(), law), 1e-6);
    EXPECT_LT(worst(*fitted("velasco", rows, BaselineMetric::energy), first_device(), law), 1e-6);
}

TEST(NeuralPower, RecoversASparsePolynomial) {
    const auto law = [](const Subject& s) {
        const Dimensions& d = s.operation->dimensions;
        return 1e-6 + 2e-10 * d.gemm_m * d.gemm_n + 3e-13 * d.gemm_m * d.gemm_k * d.gemm_k;
    };
    EXPECT_LT(worst(*fitted("neuralpower", linear_layers(80, first_device(), law)), first_device(), law), 1e-6);
}

TEST(NeuralPower, HasOnlyTheLayersOfThePaper) {
    Rows rows;
    for (std::int64_t n = 1; n < 30; ++n) rows.add(relu(1000 * n), first_device(), [](const Subject&) { return 1e-6; });
    EXPECT_TRUE(std::isnan(fitted("neuralpower", rows)->forecast(rows.get().front().subject)));
}

TEST(Li, TakesTheDriverThatFitsAndScalesItsRateByBandwidth) {
    const Device slow = made_up("slow", 1e13, 5e11);
    const Device fast = made_up("fast", 1e13, 2e12);
    const Device unseen = made_up("unseen", 1e13, 1e12);
    // Time over output elements; elements per second are bandwidth / 16.
    const auto law = [](const Subject& s) {
        return 4e-6 + s.operation->dimensions.elements_out * 16 / s.device->bandwidth_bytes_per_s;
    };
    Rows rows;
    Random random(3);
    for (int i = 0; i < 30; ++i) {
        const auto m = static_cast<std::int64_t>(1 + random.below(300));
        const auto n = static_cast<std::int64_t>(1 + random.below(300));
        for (const Device* device : {&slow, &fast}) rows.add(linear(m, 64 + i, n), *device, law);
    }
    const auto method = fitted("li23", rows);
    EXPECT_LT(worst(*method, slow, law), 1e-6);
    EXPECT_LT(worst(*method, unseen, law), 1e-6);
}

TEST(Paleo, FindsTheShareOfPeak) {
    const auto law = [](const Subject& s) { return s.operation->roofline.flop_s / 0.4 + s.operation->roofline.byte_s; };
    EXPECT_LT(worst(*fitted("paleo", linear_layers(20, first_device(), law)), first_device(), law), 1e-6);
}

TEST(Roofline, IsTheLargerOfTheTwoTimes) {
    const auto law = [](const Subject& s) {
        return std::max(s.operation->roofline.flop_s, s.operation->roofline.byte_s);
    };
    EXPECT_LT(worst(*fitted("roofline", {}), first_device(), law), 1e-12);
}

TEST(Habitat, ScalesATimeByBandwidthUnitsAndClock) {
    const Device from = made_up("from", 1e13, 1e12, 10, 1000);
    const Device to = made_up("to", 4e13, 2e12, 40, 1500);
    Rows rows;
    rows.add(relu(1 << 20), from, [](const Subject&) { return 1e-4; });
    const PreparedOperation there = prepare(parse_operation(relu(1 << 20)), to, Math::ieee);
    // relu: one operation per element, 4 bytes read and 4 written: intensity 1/8; ridge 4e13 / 2e12 = 20;
    // gamma = 1 - 0.5 (1/8) / 20 = 0.996875. Bandwidth 1/2, units 1/4, clocks 2/3.
    const double expected = std::pow(0.5, 0.996875) * std::pow(0.25 / 1.5, 1 - 0.996875) * 1e-4;
    const auto method = fitted("habitat", rows);
    EXPECT_NEAR(method->forecast({&there, &to, NAN, Math::ieee}) / expected, 1, 1e-12);
    EXPECT_TRUE(std::isnan(method->forecast(rows.get().front().subject)));  // the origin itself
    const PreparedOperation other = prepare(parse_operation(relu(7)), to, Math::ieee);
    EXPECT_TRUE(std::isnan(method->forecast({&other, &to, NAN, Math::ieee})));
}

TEST(Habitat, OfSeveralOriginsTakesThatOfTheMostSimilarBandwidth) {
    const Device near = made_up("near", 1e13, 1.9e12);
    const Device far = made_up("far", 1e13, 2e11);
    const Device to = made_up("to", 1e13, 2e12);
    Rows rows;
    rows.add(relu(1 << 20), far, [](const Subject&) { return 1.0; });
    rows.add(relu(1 << 20), near, [](const Subject&) { return 1e-4; });
    const PreparedOperation there = prepare(parse_operation(relu(1 << 20)), to, Math::ieee);
    EXPECT_NEAR(fitted("habitat", rows)->forecast({&there, &to, NAN, Math::ieee}), 0.95e-4, 1e-6);
}

TEST(ThesisRow, EncodesAsTheThesisSays) {
    // Section 4.2: (32, 128) is (32,1,128,1,-1,0,-1,0); (32,16,256,256) is (32,1,16,1,256,1,256,1).
    const auto sizes = [](const std::string& signature) {
        const PreparedOperation operation = prepare(parse_operation(signature), first_device(), Math::ieee);
        auto row = thesis_row({&operation, &first_device(), 900, Math::ieee}, {"conv2d", "linear"});
        EXPECT_EQ(row.back(), 900);
        EXPECT_EQ(row[row.size() - 3] + row[row.size() - 2], 1);
        return std::vector(row.end() - 11, row.end() - 3);
    };
    EXPECT_EQ(sizes(linear(32, 128, 10)), (std::vector<float>{32, 1, 128, 1, -1, 0, -1, 0}));
    EXPECT_EQ(sizes("aten::conv2d(input=f32[32,16,256,256], weight=f32[8,16,3,3])"),
              (std::vector<float>{32, 1, 16, 1, 256, 1, 256, 1}));
}

double attribute(const std::string& signature, const std::string& name) {
    const auto& names = thesis_attribute_names();
    const auto place = std::find(names.begin(), names.end(), name) - names.begin();
    return thesis_attributes(parse_operation(signature)).at(static_cast<std::size_t>(place));
}

TEST(ThesisAttributes, AreThoseOfTheLayers) {
    const std::string conv =
        "aten::conv2d(input=f32[2,8,16,16], weight=f32[4,8,5,3], bias=f32[4], stride=[2,1], padding=[1,0])";
    EXPECT_EQ(attribute(conv, "bias"), 1);
    EXPECT_EQ(attribute(conv, "in_channels"), 8);
    EXPECT_EQ(attribute(conv, "out_channels"), 4);
    EXPECT_EQ(attribute(conv, "kernel_size_0"), 5);
    EXPECT_EQ(attribute(conv, "kernel_size_1"), 3);
    EXPECT_EQ(attribute(conv, "stride_0"), 2);
    EXPECT_EQ(attribute(conv, "stride_1"), 1);
    EXPECT_EQ(attribute(conv, "padding_1"), 0);
    EXPECT_TRUE(std::isnan(attribute(conv, "in_features")));
    EXPECT_EQ(attribute(linear(4, 6, 8), "bias"), 0);
    EXPECT_EQ(attribute(linear(4, 6, 8), "in_features"), 6);
    EXPECT_EQ(attribute(linear(4, 6, 8), "out_features"), 8);
    EXPECT_TRUE(std::isnan(attribute(linear(4, 6, 8), "stride_0")));
    EXPECT_EQ(attribute(relu(5), "inplace"), 0);
    EXPECT_EQ(attribute("aten::relu_(self=f32[5])", "inplace"), 1);
    EXPECT_TRUE(std::isnan(attribute(linear(4, 6, 8), "inplace")));
    const std::string pool = "aten::max_pool2d(self=f32[1,2,8,8], kernel_size=[2,2])";
    EXPECT_EQ(attribute(pool, "stride_0"), 2);  // its window
    EXPECT_EQ(layer_name(parse_operation("aten::relu_(self=f32[5])")), "relu");
}

TEST(ThesisForest, TellsClocksApart) {
    Rows rows;
    for (std::int64_t n = 1; n <= 20; ++n) {
        for (const double clock : {600.0, 1200.0}) {
            rows.add(relu(100 * n), first_device(), [](const Subject& s) { return 1.0 / s.clock_mhz; }, clock);
        }
    }
    const auto method = fitted("thesis_forest", rows);
    for (const Observation& row : rows.get()) EXPECT_NEAR(method->forecast(row.subject) / row.value, 1, 1e-6);
}

TEST(Thesis, KeepsModesApart) {
    Rows rows;
    for (std::int64_t n = 1; n <= 9; ++n) {
        rows.add(relu(n), first_device(), [](const Subject&) { return 1.0; });
        rows.add("aten::relu(self=f32[" + std::to_string(n) + "]~)", first_device(),
                 [](const Subject&) { return 3.0; });
    }
    for (const char* name : {"thesis_forest", "thesis_xgboost"}) {
        const auto method = fitted(name, rows);
        EXPECT_NEAR(method->forecast(rows.get()[0].subject), 1, 1e-4) << name;
        EXPECT_NEAR(method->forecast(rows.get()[1].subject), 3, 1e-4) << name;
    }
}

TEST(SponnerKnn, IsTheMeanOfTheThreeNearest) {
    Rows rows;
    for (const std::int64_t n : {1000, 1100, 1200, 5000, 9000}) {
        rows.add(relu(n), first_device(), [&](const Subject&) { return static_cast<double>(n); });
    }
    const PreparedOperation one = prepare(parse_operation(relu(1090)), first_device(), Math::ieee);
    EXPECT_NEAR(fitted("sponner_knn", rows)->forecast({&one, &first_device(), NAN, Math::ieee}), 1100, 1e-9);
    EXPECT_NEAR(fitted("template_matching", rows)->forecast({&one, &first_device(), NAN, Math::ieee}), 1100, 1e-9);
    const PreparedOperation big = prepare(parse_operation(relu(8000)), first_device(), Math::ieee);
    EXPECT_NEAR(fitted("template_matching", rows)->forecast({&big, &first_device(), NAN, Math::ieee}), 9000, 1e-9);
}

TEST(SponnerErt, RepeatsWhatItWasTrainedOn) {
    // Extra trees see every row and end in leaves of one.
    const auto law = [](const Subject& s) { return s.operation->dimensions.elements_out; };
    const Rows rows = linear_layers(25, first_device(), law);
    const auto method = fitted("sponner_ert", rows);
    for (const Observation& row : rows.get()) EXPECT_NEAR(method->forecast(row.subject) / row.value, 1, 1e-6);
}

TEST(SponnerBest, TakesTheRegressorThatFits) {
    // Linear in the sizes: only linear regression gets it exactly.
    const auto law = [](const Subject& s) { return 1e-3 + 2e-9 * s.operation->dimensions.weight_bytes; };
    EXPECT_LT(worst(*fitted("sponner_best", linear_layers(40, first_device(), law)), first_device(), law), 1e-4);
}

TEST(Justus, SeesTheDevice) {
    const Device other = made_up("other", 1e12, 1e11, 20, 2000);
    const auto law = [](const Subject& s) { return s.device->id == "other" ? 0.1 : 0.001; };
    Rows rows;
    for (std::int64_t n = 1; n < 40; ++n) {
        rows.add(relu(10 * n), first_device(), law);
        rows.add(relu(10 * n), other, law);
    }
    const auto method = fitted("justus", rows);
    EXPECT_NEAR(method->forecast(rows.get()[10].subject), 0.001, 0.0003);
    EXPECT_NEAR(method->forecast(rows.get()[11].subject), 0.1, 0.03);
}

TEST(Baselines, AreSilentWhereTheyHaveNothingToGoBy) {
    const auto law = [](const Subject&) { return 1.0; };
    const Rows rows = linear_layers(20, first_device(), law);
    const Device other = made_up("other", 1e12, 1e11);
    const PreparedOperation elsewhere = prepare(parse_operation(linear(9, 9, 9)), other, Math::ieee);
    const PreparedOperation unknown = prepare(parse_operation(relu(5)), first_device(), Math::ieee);
    for (const Baseline& baseline : baselines()) {
        const std::string name(baseline.name);
        if (name == "roofline" || name == "paleo") continue;  // need no measured row of a kind
        const auto method = baseline.fit(rows.get(), {});
        if (name != "justus" && name != "li23" && name != "habitat") {
            EXPECT_TRUE(std::isnan(method->forecast({&elsewhere, &other, NAN, Math::ieee}))) << name;
        }
        if (!name.starts_with("thesis")) {
            EXPECT_TRUE(std::isnan(method->forecast({&unknown, &first_device(), NAN, Math::ieee}))) << name;
        }
        EXPECT_FALSE(baseline.gaps.empty()) << name;
    }
}

TEST(Baselines, AreFoundByName) {
    EXPECT_EQ(find_baseline("velasco")->name, "velasco");
    EXPECT_EQ(find_baseline("nothing"), nullptr);
    EXPECT_EQ(baselines().size(), 14U);
    EXPECT_EQ(find_network_baseline("lattuada")->name, "lattuada");
    EXPECT_EQ(find_network_baseline("velasco"), nullptr);
    EXPECT_TRUE(baseline_names().ends_with("habitat, lattuada"));
}

/// Networks of linear layers of which the time is known.
TrainingNetwork network(std::int64_t layers, std::int64_t width) {
    TrainingNetwork result;
    result.graph.has_edges = false;
    result.graph.name = std::to_string(layers) + "x" + std::to_string(width);
    Node node;
    node.operation = parse_operation(linear(32, width, width));
    node.count = layers;
    result.graph.nodes.push_back(node);
    result.measurement.model = result.graph.name;
    return result;
}

TEST(Lattuada, RecoversATimeLinearInTheNetwork) {
    std::vector<TrainingNetwork> networks;
    Random random(5);
    for (int i = 0; i < 12; ++i) {
        networks.push_back(network(1 + static_cast<std::int64_t>(random.below(40)), 64 + 64 * i % 700));
        const auto f = network_features(networks.back().graph);
        // 1 ms, 2 FLOP per ps, 10 us a call
        networks.back().measurement.time.median_s = 1e-3 + 5e-13 * f[0] + 1e-5 * f[3];
    }
    const TrainingNetwork fresh = network(17, 200);
    const auto f = network_features(fresh.graph);
    const double expected = 1e-3 + 5e-13 * f[0] + 1e-5 * f[3];
    EXPECT_NEAR(fit_lattuada(networks, first_device())(fresh) / expected, 1, 1e-6);
    const std::vector<const NetworkBaseline*> methods{find_network_baseline("lattuada")};
    std::vector<BaselineNetwork> out;
    append_networks(fit_network_baselines(methods, networks, first_device()), fresh, first_device(), out);
    EXPECT_NEAR(out.at(0).predicted_time_s / expected, 1, 1e-6);
    EXPECT_TRUE(out.at(0).reason.empty());
    const auto few = std::span(networks).first(4);
    append_networks(fit_network_baselines(methods, few, first_device()), fresh, first_device(), out);
    EXPECT_TRUE(std::isnan(out.at(1).predicted_time_s));
    EXPECT_EQ(out.at(1).reason, Lattuada::gaps);
}

TEST(BaselineNetworks, AreSumsOverCallsAndSayWhatTheyLack) {
    const auto law = [](const Subject& s) { return 3e-6 + 2e-12 * all_flop(s); };
    const Rows layers = linear_layers(30, first_device(), law);
    std::list<TrainingRow> training;
    std::vector<RowOnDevice> rows;
    const OperatingPoint point;
    for (const Observation& row : layers.get()) {
        TrainingRow& one = training.emplace_back();
        one.operation = *row.subject.operation;
        one.group = row.group;
        one.time_s = row.value;
        rows.push_back({&one, &first_device(), &point});
    }
    const std::vector<const Baseline*> chosen{find_baseline("gianniti"), find_baseline("habitat")};
    const FittedBaselines published(chosen, rows, 1, 1);
    TrainingNetwork all = network(3, 100);
    Node other;
    other.operation = parse_operation(relu(100));
    other.count = 2;
    all.graph.nodes.push_back(other);
    std::vector<BaselineNetwork> out;
    append_networks(published, all, first_device(), point, out);
    ASSERT_EQ(out.size(), 2U);
    // Three layers of 2 * 32 * 100 * 100 operations.
    EXPECT_NEAR(out[0].predicted_time_s, 3 * (3e-6 + 2e-12 * 640000), 1e-11);
    EXPECT_EQ(out[0].calls, 5);
    EXPECT_EQ(out[0].calls_without_forecast, 2);
    EXPECT_FALSE(out[0].reason.empty());
    EXPECT_TRUE(std::isnan(out[1].predicted_time_s));
    EXPECT_EQ(out[1].calls_without_forecast, 5);
}

TEST(FittedBaselines, ComposeEnergyAsThePaperDoes) {
    const OperatingPoint point;
    std::list<TrainingRow> training;
    std::vector<RowOnDevice> rows;
    for (std::int64_t n = 1; n <= 12; ++n) {
        TrainingRow& one = training.emplace_back();
        one.operation = prepare(parse_operation(relu(1000 * n)), first_device(), Math::ieee);
        one.group = one.operation.signature;
        one.time_s = 2e-6;
        one.power_w = 50;
        rows.push_back({&one, &first_device(), &point});
    }
    const std::vector<const Baseline*> chosen{find_baseline("sponner_knn"), find_baseline("velasco"),
                                              find_baseline("gianniti")};
    std::vector<OutOfFoldRow> out;
    FittedBaselines(chosen, rows, 1, 1).append_forecasts(rows.front(), 0, out);
    std::map<std::pair<std::string, std::string>, double> of;
    for (const OutOfFoldRow& row : out) of[{row.model, row.metric}] = row.predicted;
    EXPECT_EQ(of.size(), 9U);  // three metrics were measured
    EXPECT_NEAR(of.at({"sponner_knn", "power_w"}), 50, 1e-9);
    EXPECT_NEAR(of.at({"sponner_knn", "energy_j"}), 1e-4, 1e-12);  // time times power
    EXPECT_NEAR(of.at({"velasco", "energy_j"}), 1e-4, 1e-12);      // fitted to energy
    EXPECT_TRUE(std::isnan(of.at({"velasco", "power_w"})));
    EXPECT_TRUE(std::isnan(of.at({"gianniti", "energy_j"})));
}

// All rows had the clock of the model's setting, so those measured at several were told apart by nothing.
TEST(FittedBaselines, SeeTheClockOfEachRowAndOfEachNetwork) {
    const OperatingPoint point;  // asked for no clock
    std::list<TrainingRow> training;
    std::vector<RowOnDevice> rows;
    for (std::int64_t n = 1; n <= 20; ++n) {
        for (const double clock_mhz : {600.0, 1200.0}) {
            TrainingRow& one = training.emplace_back();
            one.operation = prepare(parse_operation(relu(100 * n)), first_device(), Math::ieee);
            one.group = one.operation.signature;
            one.time_s = 1 / clock_mhz;
            one.sm_clock_mhz = clock_mhz;
            rows.push_back({&one, &first_device(), &point});
        }
    }
    const std::vector<const Baseline*> chosen{find_baseline("thesis_forest")};
    const FittedBaselines published(chosen, rows, 1, 1);
    for (const RowOnDevice& row : rows) {
        std::vector<OutOfFoldRow> out;
        published.append_forecasts(row, 0, out);
        EXPECT_NEAR(out.front().predicted * row.row->sm_clock_mhz, 1, 1e-6);
    }
    TrainingNetwork one_call;
    one_call.graph.has_edges = false;
    one_call.graph.nodes.emplace_back().operation = parse_operation(relu(100));
    one_call.measurement.asked.sm_clock_mhz = 1500;
    std::vector<BaselineNetwork> out;
    for (const double clock_mhz : {600.0, 1200.0}) {
        one_call.measurement.real.sm_clock_mhz = clock_mhz;  // not what was asked for
        append_networks(published, one_call, first_device(), point, out);
        EXPECT_NEAR(out.back().predicted_time_s * clock_mhz, 1, 1e-6);
    }
}

TEST(BaselineGaps, NameMethodMetricAndReason) {
    const OperatingPoint point;
    TrainingRow row;
    row.operation = prepare(parse_operation(relu(1000)), first_device(), Math::ieee);
    row.group = row.operation.signature;
    row.time_s = 2e-6;
    row.power_w = 50;
    const std::vector<RowOnDevice> rows{{&row, &first_device(), &point}};
    const std::vector<const Baseline*> chosen{find_baseline("habitat"), find_baseline("roofline")};
    std::vector<OutOfFoldRow> out;
    FittedBaselines(chosen, rows, 1, 1).append_forecasts(rows.front(), 0, out);
    ASSERT_EQ(out.size(), 6U);   // three metrics were measured
    out.push_back(out.front());  // and a row of time that it can forecast
    out.back().predicted = 1;
    out.back().no_forecast_reason.clear();
    const auto gaps = baseline_gaps(out);
    ASSERT_EQ(gaps.size(), 5U) << "roofline forecasts time";
    EXPECT_EQ(gaps[0].model, "habitat");
    EXPECT_EQ(gaps[0].metric, "time_s");
    EXPECT_EQ(gaps[0].rows, 1);
    EXPECT_EQ(gaps[0].rows_in_all, 2);
    EXPECT_NE(gaps[0].reason.find("another device"), std::string::npos);
    EXPECT_EQ(gaps[1].metric, "power_w");
    EXPECT_NE(gaps[1].reason.find("no such thing"), std::string::npos);
    EXPECT_EQ(gaps[3].model, "roofline");
}

}  // namespace
}  // namespace joulecast
