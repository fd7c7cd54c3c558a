#include "joulecast/model/jcp.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>

#include "joulecast/error.h"
#include "joulecast/learn/random.h"
#include "joulecast/model/bytes.h"
#include "tests/train/synthetic.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;

/// A small predictor with every kind of content.
const Predictor& sample() {
    static const Predictor predictor = [] {
        Predictor p = empty_predictor();
        const auto rows = testing::synthetic_rows({testing::synthetic_graph("resnet18", 2)});
        OperatingPoint setting;
        const auto training = training_rows(rows, testing::synthetic_cpu(), setting);
        const Graph graph = testing::synthetic_graph("resnet18", 2);
        const std::vector<TrainingNetwork> networks{{graph, testing::synthetic_network(graph).measurement}};
        TrainSettings settings;
        settings.trees = 3;
        settings.learner = Learner::extra_trees;
        p.devices.push_back(train_device(testing::synthetic_cpu(), setting, training, networks, settings));
        p.origin = origin_of(rows, "joulecast test", "2026-01-01T00:00:00Z");
        return p;
    }();
    return predictor;
}

std::string message(const std::function<void()>& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "(no error)";
}

TEST(Jcp, ComesBackAsItWasWritten) {
    const auto bytes = to_jcp(sample());
    const Predictor back = from_jcp(bytes, "sample.jcp");
    EXPECT_EQ(to_jcp(back), bytes);
    EXPECT_EQ(back.features, sample().features);
    ASSERT_EQ(back.devices.size(), 1U);
    const DeviceModel& device = back.devices[0];
    EXPECT_EQ(device.laws, sample().devices[0].laws);
    EXPECT_EQ(device.corrections, sample().devices[0].corrections);
    ASSERT_FALSE(device.models.empty());
    for (std::size_t i = 0; i < device.models.size(); ++i) {
        EXPECT_EQ(device.models[i].parts, sample().devices[0].models[i].parts);
        EXPECT_EQ(device.models[i].targets, sample().devices[0].models[i].targets);
        EXPECT_EQ(device.models[i].score_90, sample().devices[0].models[i].score_90);
    }
    EXPECT_TRUE(std::isnan(device.device.tdp_w));
    EXPECT_EQ(back.origin.measured_to, "2026-01-02T03:04:05Z");
}

TEST(Jcp, KeepsTheWholeDataSheetAndOpensFilesWithoutOne) {
    Predictor p = sample();
    p.devices[0].device.vendor = "amd";
    p.devices[0].device.architecture = "cdna3";
    p.devices[0].device.peak_flop_per_s_fp8 = 2.6e15;
    const auto bytes = to_jcp(p);
    const Device back = from_jcp(bytes, "sample.jcp").devices[0].device;
    EXPECT_EQ(back.vendor, "amd");
    EXPECT_EQ(back.architecture, "cdna3");
    EXPECT_EQ(back.peak_flop_per_s_fp8, 2.6e15);
    EXPECT_TRUE(std::isnan(back.peak_flop_per_s_fp4));
    EXPECT_EQ(back.peak_flop_per_s_fp32, p.devices[0].device.peak_flop_per_s_fp32);
    // The sample of version 1 was written before there was such a section.
    const Predictor old = read_jcp(std::string(JOULECAST_SOURCE_DIR) + "/tests/model/data/version_1.jcp");
    EXPECT_TRUE(old.devices[0].device.vendor.empty());
    EXPECT_TRUE(std::isnan(old.devices[0].device.vector_flop_per_s_fp32));
    EXPECT_GT(old.devices[0].device.peak_flop_per_s_fp32, 0);
}

TEST(Jcp, KeepsWhatHostsAddAndOpensFilesThatKnowNone) {
    Predictor p = sample();
    p.devices[0].hosts = {{Host::python, Mode::inference, 7.5e-6, 0.25, 11}, {Host::cpp, Mode::training, -1e-6, 0, 3}};
    EXPECT_EQ(from_jcp(to_jcp(p), "sample.jcp").devices[0].hosts, p.devices[0].hosts);
    p.devices[0].hosts[0].sigma = -0.25;
    EXPECT_THAT(message([&] { from_jcp(to_jcp(p), "odd.jcp"); }), HasSubstr("negative number"));
    // The sample of version 1 has no such section: its answer for Python is carried over from other machines.
    const Predictor old = read_jcp(std::string(JOULECAST_SOURCE_DIR) + "/tests/model/data/version_1.jcp");
    EXPECT_TRUE(old.devices[0].hosts.empty());
    const Graph graph = testing::synthetic_graph("resnet18", 2);
    const auto from = [&](Host host) {
        return forecast_network(graph, "fp32", old.devices[0], columns(old), {}, host);
    };
    EXPECT_EQ(from(Host::python).host_evidence, Evidence::analytic);
    EXPECT_GT(from(Host::python).time.value.value(), from(Host::cpp).time.value.value());
}

TEST(Jcp, ForecastsTheSameAfterReading) {
    const Predictor back = from_jcp(to_jcp(sample()), "sample.jcp");
    const Graph graph = testing::synthetic_graph("resnet18", 5);
    const auto time = [&](const Predictor& p) {
        return forecast_network(graph, "fp32", p.devices[0], columns(p), {}).time.value.value();
    };
    EXPECT_EQ(time(back), time(sample()));
}

// "p.jcp.part" was opened whatever it was: a link planted there chose what was overwritten.
TEST(Jcp, IsWrittenThroughNoPlantedLink) {
    const std::filesystem::path folder = ::testing::TempDir();
    const auto path = folder / "planted.jcp";
    std::ofstream(folder / "victim") << "precious";
    std::filesystem::remove(folder / "planted.jcp.part");
    std::filesystem::create_symlink(folder / "victim", folder / "planted.jcp.part");
    write_jcp(sample(), path);
    std::ifstream victim(folder / "victim");
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(victim), {}), "precious");
    std::filesystem::remove(folder / "planted.jcp.part");
}

TEST(Jcp, TellsWhatItCoversWithoutReadingModels) {
    const auto path = std::filesystem::path(::testing::TempDir()) / "cover.jcp";
    write_jcp(sample(), path);
    const JcpCover cover = jcp_cover(path);
    ASSERT_EQ(cover.devices.size(), 1U);
    EXPECT_EQ(cover.devices[0].id, "cpu-synthetic");
    EXPECT_EQ(cover.devices[0].kind, Device::Kind::cpu);
    EXPECT_TRUE(cover.pooled.empty());
    EXPECT_EQ(cover.engines, std::vector<std::string>{"torch"});
    Predictor two = sample();
    two.devices.push_back(two.devices.front());
    two.devices.back().point.engine = "onnxruntime";
    write_jcp(two, path);
    EXPECT_EQ(jcp_cover(path).engines, (std::vector<std::string>{"torch", "onnxruntime"}));
    write_jcp(sample(), path);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
    EXPECT_THAT(message([&] { jcp_cover(path); }), HasSubstr("it ends too early"));
    std::filesystem::remove(path);
}

TEST(Jcp, RefusesEveryTruncation) {
    const auto bytes = to_jcp(sample());
    for (std::size_t size = 0; size < bytes.size(); size += 1 + bytes.size() / 300) {
        EXPECT_THROW(from_jcp(std::span(bytes).first(size), "cut.jcp"), FormatError) << size;
    }
}

/// Where each section begins, from the format: 16 bytes of frame, then tag, length, checksum and payload.
std::vector<std::size_t> sections(const std::vector<std::byte>& file) {
    std::vector<std::size_t> starts;
    for (std::size_t at = 16; at < file.size();) {
        starts.push_back(at);
        ByteReader length{std::span(file).subspan(at + 4, 8), "section"};
        at += 16 + length.number<std::uint64_t>();
    }
    return starts;
}

TEST(Jcp, RefusesEveryFlippedBitOfAPayload) {
    const auto bytes = to_jcp(sample());
    auto starts = sections(bytes);
    starts.push_back(bytes.size());
    Random random(1);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
        for (int trial = 0; trial < 20; ++trial) {
            auto damaged = bytes;
            const std::size_t payload = starts[i] + 16;
            damaged[payload + random.below(starts[i + 1] - payload)] ^= static_cast<std::byte>(1U << random.below(8));
            EXPECT_THROW(from_jcp(damaged, "flipped.jcp"), FormatError) << "section " << i;
        }
    }
}

/// The sample with one forest changed, written with checksums that are right.
std::vector<std::byte> with_forest(const std::function<void(Forest&)>& change) {
    Predictor p = sample();
    change(std::get<Forest>(p.devices[0].models[0].parts[0].model));
    return to_jcp(p);
}

TEST(Jcp, RefusesForestsThatNobodyCanWalk) {
    const auto refused = [](const char* what, const std::function<void(Forest&)>& change) {
        const auto bytes = with_forest(change);
        EXPECT_THAT(message([&] { from_jcp(bytes, "odd.jcp"); }), HasSubstr("odd.jcp is damaged: a forest")) << what;
    };
    const auto last_column = static_cast<std::int32_t>(sample().features.size()) - 1;
    refused("column", [&](Forest& f) { f.nodes[0].feature = last_column + 1; });
    refused("infinite threshold", [](Forest& f) { f.nodes[0].value = std::numeric_limits<float>::infinity(); });
    refused("leaf is not a number", [](Forest& f) { f.nodes.back().value = std::nanf(""); });
    refused("no nodes", [](Forest& f) { f.nodes.clear(); });
    refused("last leaf gone", [](Forest& f) { f.nodes.pop_back(); });
    refused("a leaf too many", [](Forest& f) { f.nodes.push_back({-1, 1, 0}); });
    refused("fewer trees than it says", [](Forest& f) { f.roots.push_back(0); });
    refused("no trees", [](Forest& f) { f.roots.clear(); });
}

TEST(Jcp, ReadsTreesOfAnyDepth) {
    // A chain: every inner node has a leaf on its right. 3000 splits deep.
    Forest chain;
    chain.roots = {0};
    for (std::int32_t i = 0; i < 3000; ++i) chain.nodes.push_back({0, static_cast<float>(-i), 6000 - i});
    for (std::int32_t i = 0; i < 3001; ++i) chain.nodes.push_back({-1, static_cast<float>(i), 0});
    ASSERT_NO_THROW(check(chain, 1));
    const Predictor back = from_jcp(with_forest([&](Forest& forest) { forest = chain; }), "deep.jcp");
    EXPECT_EQ(std::get<Forest>(back.devices[0].models[0].parts[0].model), chain);
}

TEST(Jcp, ReadsForestsThatPassTheCheckOfTheWalker) {
    const Predictor back = from_jcp(to_jcp(sample()), "sample.jcp");
    for (const FamilyModel& model : back.devices[0].models) {
        for (const ModelPart& part : model.parts) EXPECT_NO_THROW(check(part.model, back.features.size()));
    }
}

TEST(Jcp, KeepsTheEngineAndTakesFilesWithoutOneForTorch) {
    Predictor other = sample();
    EXPECT_EQ(from_jcp(to_jcp(other), "torch.jcp").devices[0].point.engine, "torch");
    other.devices[0].point.engine = "onnxruntime";
    EXPECT_EQ(from_jcp(to_jcp(other), "other.jcp").devices[0].point.engine, "onnxruntime");
    other.devices[0].point.engine = "no name";
    EXPECT_THROW(from_jcp(to_jcp(other), "wrong.jcp"), FormatError);
}

TEST(Jcp, KeepsTheClocksThatTheDriverLists) {
    Predictor p = sample();
    EXPECT_TRUE(from_jcp(to_jcp(p), "sample.jcp").devices[0].device.core_clocks_mhz.empty());
    p.devices[0].device.core_clocks_mhz = {600, 607.5, 1410};
    EXPECT_EQ(from_jcp(to_jcp(p), "sample.jcp").devices[0].device.core_clocks_mhz, p.devices[0].device.core_clocks_mhz);
    p.devices[0].device.core_clocks_mhz = {600, 600};
    EXPECT_THAT(message([&] { from_jcp(to_jcp(p), "odd.jcp"); }), HasSubstr("do not ascend"));
}

TEST(Jcp, KeepsWhatThePaceIsToldBy) {
    Predictor p = sample();
    EXPECT_FALSE(from_jcp(to_jcp(p), "sample.jcp").devices[0].pace_reference);
    p.devices[0].pace_reference = PaceReference{"aten::mm(self=f32[8,8], mat2=f32[8,8])", 0.0025};
    EXPECT_EQ(from_jcp(to_jcp(p), "sample.jcp").devices[0].pace_reference, p.devices[0].pace_reference);
    p.devices[0].pace_reference->usual_s = 0;
    EXPECT_THAT(message([&] { from_jcp(to_jcp(p), "odd.jcp"); }), HasSubstr("not positive"));
}

TEST(Jcp, OpensPredictorsOfHostsThatCannotBeAskedForAnyMore) {
    Predictor other = sample();
    other.devices[0].point.host = Host::compiled;
    EXPECT_EQ(from_jcp(to_jcp(other), "compiled.jcp").devices[0].point.host, Host::compiled);
}

TEST(Jcp, PassesOverSectionsItDoesNotKnow) {
    auto bytes = to_jcp(sample());
    const std::size_t last = sections(bytes).back();  // POWR
    ASSERT_EQ(bytes[last], std::byte{'P'});
    bytes[last] = std::byte{'X'};
    const Predictor back = from_jcp(bytes, "later.jcp");
    EXPECT_FALSE(back.devices[0].power.known());
    EXPECT_EQ(back.devices[0].laws, sample().devices[0].laws);
}

TEST(Jcp, NamesANewerVersion) {
    auto bytes = to_jcp(sample());
    bytes[8] = std::byte{7};  // the version follows the eight magic bytes
    EXPECT_THAT(message([&] { from_jcp(bytes, "new.jcp"); }), HasSubstr("new.jcp has format version 7"));
}

TEST(Jcp, TellsAForeignFile) {
    const std::string text = "import pickle";
    EXPECT_THAT(message([&] { from_jcp(std::as_bytes(std::span(text)), "model.pkl"); }),
                HasSubstr("model.pkl is not a predictor"));
}

TEST(Jcp, RefusesAFeatureItDoesNotKnow) {
    Predictor p = sample();
    p.features[0] = "phase_of_the_moon";
    EXPECT_THAT(message([&] { columns(from_jcp(to_jcp(p), "p")); }), HasSubstr("phase_of_the_moon"));
}

TEST(Jcp, SaysWhereItCannotWrite) {
    EXPECT_THAT(message([] { write_jcp(sample(), "/nowhere/at/all/p.jcp"); }), HasSubstr("/nowhere/at/all/p.jcp"));
    EXPECT_THAT(message([] { read_jcp("/nowhere/p.jcp"); }), HasSubstr("/nowhere/p.jcp"));
}

TEST(Jcp, OpensTheFirstReleasedVersion) {
    // Written by joulecast 0.1.0 from the synthetic CPU of these tests; must open for ever.
    const Predictor old = read_jcp(std::string(JOULECAST_SOURCE_DIR) + "/tests/model/data/version_1.jcp");
    const DeviceModel& device = device_model(old, "cpu-synthetic");
    const Graph graph = testing::synthetic_graph("resnet18", 2);
    const auto forecast = forecast_network(graph, "fp32", device, columns(old), {});
    const double truth = testing::synthetic_network(graph).measurement.time.median_s;
    EXPECT_NEAR(forecast.time.value.value() / truth, 1, 0.15);
}

TEST(Crc32, IsThatOfZip) {
    const std::string check = "123456789";  // the check value every CRC catalogue gives
    EXPECT_EQ(checksum(std::as_bytes(std::span(check))), 0xCBF43926U);
}

TEST(Crc32, TakesBytesInBlocksAsItTakesThemAlone) {
    // The definition bit by bit, for lengths around the sixteen bytes that are taken in at once.
    const auto slow = [](std::span<const std::byte> bytes) {
        std::uint32_t crc = 0xFFFFFFFFU;
        for (const std::byte byte : bytes) {
            crc ^= static_cast<std::uint32_t>(byte);
            for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
        }
        return crc ^ 0xFFFFFFFFU;
    };
    Random random(5);
    std::vector<std::byte> bytes(100);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    for (const std::size_t size : {0U, 1U, 15U, 16U, 17U, 31U, 32U, 33U, 100U}) {
        const auto part = std::span(bytes).first(size);
        EXPECT_EQ(checksum(part), slow(part)) << size;
    }
}

}  // namespace
}  // namespace joulecast
