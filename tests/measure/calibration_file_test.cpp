#include "joulecast/measure/calibration_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace joulecast {
namespace {

class CalibrationFile : public ::testing::Test {
  protected:
    CalibrationFile() {
        const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
        folder = std::filesystem::path(::testing::TempDir()) /
                 ("calibration-" + std::string(test->name()) + "-" + std::to_string(::getpid()));
        std::filesystem::remove_all(folder);
        path = calibration_path(folder.string(), key);
    }
    ~CalibrationFile() override { std::filesystem::remove_all(folder); }

    void write(const std::string& text) {
        std::filesystem::create_directories(folder);
        std::ofstream(path, std::ios::binary) << text;
    }
    std::string reason() const {
        const CachedCalibration cached = cached_calibration(path, key);
        EXPECT_FALSE(cached.calibration);
        return cached.ignored_reason;
    }

    std::filesystem::path folder;
    CalibrationKey key{"GPU-1234", "550.54.15", "1410 MHz", "nvml-counter"};
    std::string path;
};

Calibration found() {
    Calibration calibration;
    calibration.meter = "nvml-counter";
    calibration.period_s = 0.1;
    calibration.idle_power_w = 31.25;
    calibration.busy_disagreement = -0.01;
    calibration.duty = 0.25;
    return calibration;
}

TEST_F(CalibrationFile, KeepsEveryNumberAndWhatIsNotKnown) {
    EXPECT_EQ(store_calibration(path, key, found()), "");
    const CachedCalibration cached = cached_calibration(path, key);
    ASSERT_TRUE(cached.calibration) << cached.ignored_reason;
    EXPECT_EQ(cached.calibration->meter, "nvml-counter");
    EXPECT_EQ(cached.calibration->period_s, 0.1);
    EXPECT_EQ(cached.calibration->idle_power_w, 31.25);
    EXPECT_EQ(cached.calibration->busy_disagreement, -0.01);
    EXPECT_EQ(cached.calibration->duty, 0.25);
    EXPECT_TRUE(std::isnan(cached.calibration->lag_s));
}

TEST_F(CalibrationFile, LeavesNoHalfWrittenFilesBehind) {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(store_calibration(path, key, found()), "");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(CalibrationFile, IsOfOneDeviceDriverClockAndMeter) {
    EXPECT_EQ(store_calibration(path, key, found()), "");
    for (std::string CalibrationKey::* part :
         {&CalibrationKey::device, &CalibrationKey::driver, &CalibrationKey::clock, &CalibrationKey::meter}) {
        CalibrationKey other = key;
        other.*part = "another";
        EXPECT_NE(calibration_path(folder.string(), other), path);
        EXPECT_FALSE(cached_calibration(path, other).calibration);
    }
}

TEST_F(CalibrationFile, NamesThatWouldLeaveTheFolderDoNot) {
    key.device = "../../etc/passwd";
    const std::filesystem::path odd = calibration_path("/cache", key);
    EXPECT_EQ(odd.parent_path(), "/cache");
    key.device = std::string(5000, 'x');
    EXPECT_LT(calibration_path("/cache", key).size(), 255U);
}

TEST_F(CalibrationFile, DamageIsAReasonAndNeverAnEnd) {
    EXPECT_NE(reason().find("there is no"), std::string::npos);
    EXPECT_EQ(store_calibration(path, key, found()), "");
    std::ifstream file(path);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    for (std::size_t length = 0; length + 2 < whole.size(); length += 7) {
        write(whole.substr(0, length));
        EXPECT_NE(reason().find("damaged"), std::string::npos) << length;
    }
    write(std::string(1 << 17, ' ') + whole);
    EXPECT_NE(reason().find("64 KiB"), std::string::npos);
    write("{\"version\": 99}");
    EXPECT_NE(reason().find("version"), std::string::npos);
    write("[1, 2]");
    EXPECT_NE(reason().find("damaged"), std::string::npos);
}

TEST_F(CalibrationFile, NumbersThatNoMeterHasAreRefused) {
    Calibration wild = found();
    wild.period_s = 1e9;
    EXPECT_EQ(store_calibration(path, key, wild), "");
    EXPECT_NE(reason().find("out of bounds"), std::string::npos);
    wild = found();
    wild.duty = 0.0;
    EXPECT_EQ(store_calibration(path, key, wild), "");
    EXPECT_NE(reason().find("out of bounds"), std::string::npos);
}

TEST_F(CalibrationFile, AFolderThatCannotBeMadeIsSaid) {
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "file") << "in the way";
    const std::string under_a_file = (folder / "file" / "x.json").string();
    EXPECT_NE(store_calibration(under_a_file, key, found()).find("cannot keep"), std::string::npos);
}

}  // namespace
}  // namespace joulecast
