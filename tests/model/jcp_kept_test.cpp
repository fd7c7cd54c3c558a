#include "joulecast/model/jcp_kept.h"

#include <gtest/gtest.h>

#include <limits>

#include "joulecast/device/device_table.h"
#include "joulecast/error.h"
#include "joulecast/model/jcp.h"
#include "joulecast/units/scratch_folder.h"

namespace joulecast {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

KeptDevice sample() {
    KeptDevice kept;
    kept.device = find_device("h200");
    kept.point.device = "h200";
    kept.point.math = Math::tf32;
    kept.operations["aten::add.Tensor(self=f32[64], other=f32[64])"] = {
        {Seconds(3e-6), Seconds(2.9e-6), Seconds(3.1e-6)}, {Watts(200), Watts(190), Watts(210)}, {}, true};
    kept.operations["aten::relu(self=f32[64])"] = {{Seconds(2e-6), Seconds(2e-6), Seconds(2e-6)}, {}, {}, false};
    kept.telling = {"aten::relu(self=f32[64])"};
    kept.left_out.from_others = 0.2;
    kept.left_out.of_own = 0.4;
    return kept;
}

std::vector<std::byte> written(const KeptDevice& kept) {
    ByteWriter out;
    put_kept(out, kept);
    return out.bytes();
}

KeptDevice read(std::span<const std::byte> bytes) {
    ByteReader in(bytes, "test");
    return take_kept(in);
}

TEST(JcpKept, ComesBackAsItWasWritten) {
    const KeptDevice kept = read(written(sample()));
    EXPECT_EQ(kept.device.id, "h200");
    EXPECT_EQ(kept.device.units, find_device("h200").units);
    EXPECT_EQ(kept.device.boost_clock_mhz, find_device("h200").boost_clock_mhz);
    EXPECT_EQ(kept.point.math, Math::tf32);
    EXPECT_EQ(kept.telling, sample().telling);
    EXPECT_EQ(kept.left_out.from_others, 0.2);
    EXPECT_EQ(kept.left_out.of_own, 0.4);
    ASSERT_EQ(kept.operations.size(), 2U);
    const MeasuredOperation& add = kept.operations.begin()->second;
    EXPECT_EQ(add.time.value.value(), 3e-6);
    EXPECT_EQ(add.time.high.value(), 3.1e-6);
    EXPECT_EQ(add.power.low.value(), 190);
    EXPECT_TRUE(add.is_of_device);
    const MeasuredOperation& relu = kept.operations.rbegin()->second;
    EXPECT_FALSE(relu.power.known());
    EXPECT_FALSE(relu.is_of_device);
    EXPECT_EQ(written(kept), written(sample()));
}

KeptDevice sample_by_work() {
    KeptDevice kept = sample();
    kept.left_out_by_work = WaysLeftOut{0.3, 0.5};
    return kept;
}

TEST(JcpKept, ErrorsBySizeComeBackToo) {
    EXPECT_FALSE(read(written(sample())).left_out_by_work);
    EXPECT_EQ(read(written(sample_by_work())).left_out_by_work, (WaysLeftOut{0.3, 0.5}));
}

/// Where the errors of `sample()` end.
std::size_t end_of_errors(const std::vector<std::byte>& bytes) {
    ByteWriter errors;
    errors.real(0.2);
    errors.real(0.4);
    const auto found = std::ranges::search(bytes, errors.bytes());
    return static_cast<std::size_t>(found.end() - bytes.begin());
}

TEST(JcpKept, OfTheFirstVersionIsReadAndOfALaterOneNot) {
    auto bytes = written(sample());
    bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(end_of_errors(bytes)));
    bytes.front() = std::byte{1};
    const KeptDevice kept = read(bytes);
    EXPECT_EQ(kept.left_out, sample().left_out);
    EXPECT_EQ(kept.operations.size(), sample().operations.size());
    EXPECT_EQ(written(kept), written(sample()));
    for (const int version : {0, 3}) {
        auto other = written(sample());
        other.front() = static_cast<std::byte>(version);
        EXPECT_THROW(read(other), FormatError) << version;
    }
    auto neither = written(sample());
    neither[end_of_errors(neither)] = std::byte{2};
    EXPECT_THROW(read(neither), FormatError);
}

TEST(JcpKept, RefusesEveryTruncation) {
    const auto bytes = written(sample_by_work());
    for (std::size_t size = 0; size < bytes.size(); ++size)
        EXPECT_THROW(read(std::span(bytes).first(size)), FormatError) << size;
}

TEST(JcpKept, RefusesWhatCannotBe) {
    const auto refuses = [](auto change) {
        KeptDevice kept = sample();
        change(kept.operations.begin()->second, kept);
        EXPECT_THROW(read(written(kept)), FormatError);
    };
    refuses([](MeasuredOperation& m, KeptDevice&) { m.time.value = Seconds(0); });
    refuses([](MeasuredOperation& m, KeptDevice&) { m.time.value = Seconds(unknown); });
    refuses([](MeasuredOperation& m, KeptDevice&) { m.time.low = Seconds(4e-6); });
    refuses([](MeasuredOperation& m, KeptDevice&) { m.time.low = Seconds(-1); });
    refuses([](MeasuredOperation& m, KeptDevice&) { m.time.high = Seconds(1e-6); });
    refuses([](MeasuredOperation& m, KeptDevice&) { m.time.high = Seconds(std::numeric_limits<double>::infinity()); });
    refuses([](MeasuredOperation& m, KeptDevice&) { m.power.value = Watts(-1); });
    refuses([](MeasuredOperation& m, KeptDevice&) { m.power.high = Watts(unknown); });
    refuses([](MeasuredOperation&, KeptDevice& kept) { kept.left_out.from_others = -0.1; });
    refuses([](MeasuredOperation&, KeptDevice& kept) { kept.left_out.of_own = unknown; });
    refuses([](MeasuredOperation&, KeptDevice& kept) { kept.left_out_by_work = WaysLeftOut{0.1, -0.1}; });
    refuses([](MeasuredOperation&, KeptDevice& kept) { kept.point.engine = "no engine!"; });
}

TEST(JcpKept, RefusesOperationsThatAreNotInOrderAndMarksThatNobodyKnows) {
    KeptDevice kept = sample();
    kept.operations.clear();
    kept.telling.clear();
    for (const char* text : {"b", "c"}) kept.operations[text] = {{Seconds(1), Seconds(1), Seconds(1)}, {}, {}, false};
    auto bytes = written(kept);
    bytes.back() = std::byte{4};
    EXPECT_THROW(read(bytes), FormatError);
    bytes.back() = std::byte{0};
    EXPECT_NO_THROW(read(bytes));
    // The second text stands before its six numbers and its marks.
    bytes[bytes.size() - 6 * 8 - 2] = std::byte{'b'};
    EXPECT_THROW(read(bytes), FormatError);
}

TEST(JcpKept, RefusesToLearnFromTooMany) {
    KeptDevice kept = sample();
    for (std::size_t i = 0; i <= most_telling_operations; ++i) {
        const std::string text = "x" + std::to_string(1000 + i);
        kept.operations[text] = kept.operations.begin()->second;
        kept.telling.push_back(text);
    }
    EXPECT_THROW(read(written(kept)), FormatError);
}

TEST(JcpKept, AFileNeedsTheModelThatItsDeviceStartsFrom) {
    Predictor predictor;
    predictor.features = {"log_flop"};
    predictor.pooled.emplace_back().kind = Device::Kind::gpu;
    predictor.kept = {sample()};
    const Predictor read = from_jcp(to_jcp(predictor), "test");
    ASSERT_EQ(read.kept.size(), 1U);
    EXPECT_EQ(read.kept[0].device.id, "h200");
    predictor.pooled[0].kind = Device::Kind::cpu;
    EXPECT_THROW(from_jcp(to_jcp(predictor), "test"), FormatError);
}

TEST(JcpKept, IsCoveredByItsFile) {
    Predictor predictor;
    predictor.features = {"log_flop"};
    predictor.pooled.emplace_back().kind = Device::Kind::gpu;
    predictor.kept = {sample()};
    const ScratchFolder folder("jcp-kept");
    write_jcp(predictor, folder.path() / "kept.jcp");
    const JcpCover cover = jcp_cover(folder.path() / "kept.jcp");
    EXPECT_TRUE(cover.devices.empty());
    ASSERT_EQ(cover.kept.size(), 1U);
    EXPECT_EQ(cover.kept[0].id, "h200");
    EXPECT_EQ(cover.kept[0].units, find_device("h200").units);
}

}  // namespace
}  // namespace joulecast
