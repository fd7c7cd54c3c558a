#include "joulecast/measure/calibration_file.h"

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "joulecast/units/replaced_file.h"

namespace joulecast {

namespace {

using Json = nlohmann::json;

constexpr int version = 1;
constexpr std::size_t longest_file = std::size_t{64} << 10;
constexpr std::size_t longest_name = 200;

struct Number {
    const char* name;
    double Calibration::* field;
};

constexpr std::array<Number, 10> numbers = {{{"period_s", &Calibration::period_s},
                                             {"quantum", &Calibration::quantum},
                                             {"read_cost_s", &Calibration::read_cost_s},
                                             {"lag_s", &Calibration::lag_s},
                                             {"rise_s", &Calibration::rise_s},
                                             {"idle_power_w", &Calibration::idle_power_w},
                                             {"busy_power_w", &Calibration::busy_power_w},
                                             {"idle_disagreement", &Calibration::idle_disagreement},
                                             {"busy_disagreement", &Calibration::busy_disagreement},
                                             {"duty", &Calibration::duty}}};

Json json_of(const CalibrationKey& key) {
    return {{"device", key.device}, {"driver", key.driver}, {"clock", key.clock}, {"meter", key.meter}};
}

CachedCalibration ignored(const std::string& path, const std::string& why) {
    return {std::nullopt, "ignoring the calibration in " + path + ": " + why};
}

/// Bounds of what any meter can be; the file may be anybody's.
bool plausible(const Calibration& calibration) {
    const auto within = [](double value, double low, double high) {
        return std::isnan(value) || (value >= low && value <= high);
    };
    return within(calibration.period_s, 0.0, 60.0) && within(calibration.read_cost_s, 0.0, 60.0) &&
           within(calibration.lag_s, 0.0, 60.0) && within(calibration.rise_s, 0.0, 60.0) &&
           within(calibration.idle_power_w, 0.0, 1e6) && calibration.duty > 0.0 && calibration.duty <= 1.0;
}

}  // namespace

std::string calibration_folder() {
    const char* cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/') return std::string(cache) + "/joulecast/calibration";
    const char* home = std::getenv("HOME");
    if (home != nullptr && *home == '/') return std::string(home) + "/.cache/joulecast/calibration";
    return "";
}

std::string calibration_path(const std::string& folder, const CalibrationKey& key) {
    std::string name = key.device + "-" + key.driver + "-" + key.clock + "-" + key.meter;
    for (char& c : name) {
        const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_';
        if (!safe) c = '_';
    }
    return folder + "/" + name.substr(0, longest_name) + ".json";
}

CachedCalibration cached_calibration(const std::string& path, const CalibrationKey& key) {
    std::error_code error;
    // A pipe or a device in its place would block or never end.
    if (!std::filesystem::is_regular_file(path, error)) return {std::nullopt, "there is no calibration in " + path};
    std::ifstream file(path, std::ios::binary);
    std::string text(longest_file + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > longest_file) return ignored(path, "it is longer than 64 KiB");
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) return ignored(path, "it is damaged");
    const auto found_version = json.find("version");
    if (found_version == json.end() || *found_version != Json(version)) return ignored(path, "it has another version");
    const auto found_key = json.find("key");
    if (found_key == json.end() || *found_key != json_of(key)) {
        return ignored(path, "it is of another device, driver, clock or meter");
    }
    Calibration calibration;
    calibration.meter = key.meter;
    for (const auto& [name, field] : numbers) {
        const auto number = json.find(name);
        if (number == json.end() || !(number->is_number() || number->is_null())) {
            return ignored(path, std::string("field ") + name + " is missing or no number");
        }
        calibration.*field = number->is_null() ? std::numeric_limits<double>::quiet_NaN() : number->get<double>();
    }
    if (!plausible(calibration)) return ignored(path, "its numbers are out of bounds");
    return {calibration, ""};
}

std::string store_calibration(const std::string& path, const CalibrationKey& key, const Calibration& calibration) {
    Json json = {{"version", version}, {"key", json_of(key)}};
    for (const auto& [name, field] : numbers) {
        const double value = calibration.*field;
        json[name] = std::isfinite(value) ? Json(value) : Json(nullptr);
    }
    const std::filesystem::path target(path);
    std::error_code error;
    std::filesystem::create_directories(target.parent_path(), error);
    if (replace_file(target, json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n') == 0) return "";
    return "cannot keep the calibration in " + path + ": it will be taken again next time";
}

}  // namespace joulecast
