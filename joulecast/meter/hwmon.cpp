#include "joulecast/meter/hwmon.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "joulecast/meter/sysfs.h"

namespace joulecast {

namespace {

namespace fs = std::filesystem;
using Kind = HwmonSensor::Kind;

constexpr int most_channels = 32;

// Shunt resistors of 1 % (NVIDIA Jetson AGX Xavier product design guide DG-09840, figure 5-14), and 0.25 % each for
// current and voltage (TI INA3221 datasheet SBOS576, electrical characteristics).
constexpr double ina3221_gain_error = 0.015;

/// A sensor's value in joules or watts.
std::optional<double> value_of(const HwmonSensor& sensor) {
    const auto number = sysfs_number(sensor.file);
    if (!number) return std::nullopt;
    switch (sensor.kind) {
        case Kind::energy:
        case Kind::power:
            return *number * 1e-6;
        case Kind::milliwatts:
            return *number * 1e-3;
        case Kind::volts_and_amperes:
            break;
    }
    const auto milliamperes = sysfs_number(sensor.amperes_file);
    if (!milliamperes) return std::nullopt;
    return *number * 1e-3 * *milliamperes * 1e-3;
}

void add_if_it_answers(std::vector<HwmonSensor>& sensors, HwmonSensor sensor) {
    if (value_of(sensor)) sensors.push_back(std::move(sensor));
}

/// Energy where it is counted, else power, else voltage times current: a chip shows one thing in several ways.
void add_chip(std::vector<HwmonSensor>& sensors, const fs::path& folder, const std::string& chip) {
    std::error_code none;
    const std::size_t before = sensors.size();
    const auto label = [&](const std::string& channel) {
        return sysfs_text(folder / (channel + "_label")).value_or(channel);
    };
    for (int i = 0; i <= most_channels; ++i) {
        const std::string channel = "energy" + std::to_string(i);
        const fs::path file = folder / (channel + "_input");
        if (fs::exists(file, none)) add_if_it_answers(sensors, {chip, label(channel), Kind::energy, file, {}});
    }
    if (sensors.size() > before) return;
    for (int i = 0; i <= most_channels; ++i) {
        const std::string channel = "power" + std::to_string(i);
        for (const char* suffix : {"_input", "_average"}) {
            HwmonSensor sensor{chip, label(channel), Kind::power, folder / (channel + suffix), {}};
            if (!value_of(sensor)) continue;
            const auto interval_ms = sysfs_number(folder / (channel + "_average_interval"));
            if (interval_ms && std::string(suffix) == "_average") sensor.averaged_over_s = *interval_ms * 1e-3;
            sensors.push_back(std::move(sensor));
            break;
        }
    }
    if (sensors.size() > before) return;
    for (int i = 0; i <= most_channels; ++i) {
        const std::string number = std::to_string(i);
        // in4 to in7 and curr4 of an INA3221 are shunt voltages and sums of the three channels.
        if (chip == "ina3221" && i > 3) break;
        const fs::path amperes = folder / ("curr" + number + "_input");
        if (!fs::exists(amperes, none)) continue;
        add_if_it_answers(sensors, {chip, label("in" + number), Kind::volts_and_amperes,
                                    folder / ("in" + number + "_input"), amperes});
    }
}

/// Jetson boards up to L4T 32: root/sys/bus/i2c/drivers/ina3221x/1-0040/iio:device0/rail_name_0, in_voltage0_input ...
void add_old_jetson(std::vector<HwmonSensor>& sensors, const fs::path& root) {
    for (const fs::path& chip : sysfs_entries(root / "sys" / "bus" / "i2c" / "drivers" / "ina3221x")) {
        for (const fs::path& device : sysfs_entries(chip)) {
            if (!device.filename().string().starts_with("iio")) continue;
            for (int i = 0; i < 3; ++i) {
                const std::string number = std::to_string(i);
                const auto rail = sysfs_text(device / ("rail_name_" + number));
                if (!rail) continue;
                const std::size_t before = sensors.size();
                add_if_it_answers(
                    sensors, {"ina3221", *rail, Kind::volts_and_amperes, device / ("in_voltage" + number + "_input"),
                              device / ("in_current" + number + "_input")});
                if (sensors.size() > before) continue;
                add_if_it_answers(sensors,
                                  {"ina3221", *rail, Kind::milliwatts, device / ("in_power" + number + "_input"), {}});
            }
        }
    }
}

class HwmonMeter final : public Meter {
  public:
    HwmonMeter(std::vector<HwmonSensor> sensors, MeterFacts facts, TimeSource now_s)
        : sensors_(std::move(sensors)), facts_(std::move(facts)), now_s_(std::move(now_s)) {}

    const MeterFacts& facts() const override { return facts_; }

    MeterReading read() override {
        const double before_s = now_s_();
        double sum = 0.0;
        for (const HwmonSensor& sensor : sensors_) {
            const auto value = value_of(sensor);
            if (!value) throw MeterLost("the power sensor " + sensor.file.string() + " can no longer be read");
            sum += *value;
        }
        const double after_s = now_s_();
        if (facts_.counts_energy && sum < last_j_) {
            throw MeterLost("the energy counter " + sensors_.front().file.string() + " was set back. Measure again");
        }
        MeterReading reading;
        reading.time_s = before_s + (after_s - before_s) / 2;
        if (facts_.counts_energy) last_j_ = sum;
        (facts_.counts_energy ? reading.energy_j : reading.power_w) = sum;
        return reading;
    }

  private:
    std::vector<HwmonSensor> sensors_;
    MeterFacts facts_;
    TimeSource now_s_;
    double last_j_ = 0.0;
};

/// What is measured, and in which words it is told.
struct Selection {
    std::vector<HwmonSensor> sensors;
    std::string covers;
};

template <class Wanted>
std::vector<HwmonSensor> those(const std::vector<HwmonSensor>& sensors, Wanted wanted) {
    std::vector<HwmonSensor> found;
    std::copy_if(sensors.begin(), sensors.end(), std::back_inserter(found), wanted);
    return found;
}

/// Sums may only be made of sensors of one kind: joules with joules.
std::vector<HwmonSensor> like_the_first(const std::vector<HwmonSensor>& sensors) {
    return those(sensors, [&](const HwmonSensor& sensor) {
        return (sensor.kind == Kind::energy) == (sensors.front().kind == Kind::energy);
    });
}

std::string labels_of(const std::vector<HwmonSensor>& sensors) {
    std::string text;
    for (const HwmonSensor& sensor : sensors) text += (text.empty() ? "" : "+") + sensor.label;
    return text;
}

/// The input of the whole board, as boards name it: Jetson TX2, Xavier NX and Orin NX; Jetson Nano; a server's own.
Selection whole_board(const std::vector<HwmonSensor>& sensors) {
    for (const std::string label : {"VDD_IN", "POM_5V_IN", "VIN", "power total"}) {
        const auto found = those(sensors, [&](const HwmonSensor& sensor) { return sensor.label == label; });
        if (!found.empty()) return {{found.front()}, "the whole board (" + label + ")"};
    }
    const auto acpi = those(sensors, [](const HwmonSensor& sensor) { return sensor.chip == "power_meter"; });
    if (!acpi.empty()) return {{acpi.front()}, "the whole machine (ACPI power meter)"};
    return {};
}

/// Rails of a board without a sensor at its input. They are disjoint but for one: on AGX Orin the memory's
/// VDDQ_VDD2_1V8AO is fed from VIN_SYS_5V0 and would be counted twice.
Selection board_rails(const std::vector<HwmonSensor>& sensors) {
    const bool has_5v = std::any_of(sensors.begin(), sensors.end(),
                                    [](const HwmonSensor& sensor) { return sensor.label == "VIN_SYS_5V0"; });
    const auto rails = those(sensors, [&](const HwmonSensor& sensor) {
        const bool rail = sensor.chip.starts_with("ina2") || sensor.chip.starts_with("ina3");
        const bool connected = sensor.label != "NC";
        return rail && connected && !(has_5v && sensor.label == "VDDQ_VDD2_1V8AO");
    });
    if (rails.empty()) return {};
    const auto summed = like_the_first(rails);
    return {summed, "the board's rails " + labels_of(summed) + ", without what the board's own regulators lose"};
}

/// Drivers of which it is known what they tell of the processor.
Selection processor(const std::vector<HwmonSensor>& sensors) {
    struct Known {
        const char* chip;
        const char* label;  ///< how the label begins
        const char* covers;
    };
    static constexpr std::array list{
        Known{"amd_energy", "Esocket", "CPU packages, without memory"},
        Known{"fam15h_power", "", "the CPU package, without memory"},
        Known{"apm_xgene", "CPU power", "the CPU, without memory"},
    };
    for (const Known& known : list) {
        const auto found = those(sensors, [&](const HwmonSensor& sensor) {
            return sensor.chip == known.chip && sensor.label.starts_with(known.label);
        });
        if (!found.empty()) return {like_the_first(found), known.covers};
    }
    return {};
}

/// "amdgpu", the second one as "amdgpu#1", or a label. The first sensor of a chip stands for it, all of its rails if it
/// watches rails.
Selection asked_for(const std::vector<HwmonSensor>& sensors, std::string_view text) {
    const auto hash = text.rfind('#');
    const std::string name(text.substr(0, hash));
    const std::string number(hash == std::string_view::npos ? "0" : text.substr(hash + 1));
    if (name.starts_with("ina")) {
        const Selection rails = board_rails(those(sensors, [&](const auto& sensor) { return sensor.chip == name; }));
        if (!rails.sensors.empty()) return rails;
    }
    std::set<fs::path> chips;
    for (const HwmonSensor& sensor : sensors) {
        if (sensor.label == name) return {{sensor}, sensor.label + " of " + sensor.chip};
        if (sensor.chip != name) continue;
        const bool is_new = chips.insert(sensor.file.parent_path()).second;
        if (is_new && std::to_string(chips.size() - 1) == number) {
            return {{sensor}, name == "amdgpu" ? "the whole card" : sensor.label + " of " + sensor.chip};
        }
    }
    return {};
}

std::string list_of(const std::vector<HwmonSensor>& sensors) {
    std::string text;
    std::set<std::string> named;
    for (const HwmonSensor& sensor : sensors) {
        if (named.insert(sensor.chip).second) text += (text.empty() ? "" : ", ") + sensor.chip;
    }
    return text;
}

FoundMeter nothing_found(const std::vector<HwmonSensor>& sensors, const fs::path& root, std::string_view chip) {
    const std::string place = (root / "sys" / "class" / "hwmon").string();
    if (sensors.empty()) return {nullptr, "no power sensor below " + place};
    if (!chip.empty()) {
        return {nullptr, "no power sensor \"" + std::string(chip.substr(0, 100)) + "\" below " + place +
                             ". There are: " + list_of(sensors)};
    }
    return {nullptr, "of the power sensors below " + place + " (" + list_of(sensors) +
                         ") none is known to feed the processor or the board; one can be named: --meter hwmon:" +
                         sensors.front().chip};
}

MeterFacts facts_of(const Selection& selection) {
    const auto& sensors = selection.sensors;
    MeterFacts facts;
    facts.name = "hwmon:" + sensors.front().chip + ":" + labels_of(sensors);
    facts.covers = selection.covers;
    facts.counts_energy = sensors.front().kind == Kind::energy;
    facts.period_s = sensors.front().averaged_over_s;
    if (sensors.front().chip == "ina3221") facts.gain_error = ina3221_gain_error;
    return facts;
}

}  // namespace

std::vector<HwmonSensor> hwmon_sensors(const fs::path& root) {
    std::vector<HwmonSensor> sensors;
    for (const fs::path& folder : sysfs_entries(root / "sys" / "class" / "hwmon")) {
        add_chip(sensors, folder, sysfs_text(folder / "name").value_or(folder.filename().string()));
    }
    add_old_jetson(sensors, root);
    return sensors;
}

FoundMeter open_hwmon(const fs::path& root, std::string_view chip, TimeSource now_s) {
    const std::vector<HwmonSensor> sensors = hwmon_sensors(root);
    Selection selection;
    if (!chip.empty()) {
        selection = asked_for(sensors, chip);
    } else {
        selection = whole_board(sensors);
        if (selection.sensors.empty()) selection = board_rails(sensors);
        if (selection.sensors.empty()) selection = processor(sensors);
    }
    if (selection.sensors.empty()) return nothing_found(sensors, root, chip);
    if (!now_s) now_s = steady_seconds;
    MeterFacts facts = facts_of(selection);
    return {std::make_unique<HwmonMeter>(std::move(selection.sensors), std::move(facts), std::move(now_s)), ""};
}

}  // namespace joulecast
