#include "joulecast/meter/nvidia_smi.h"

#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "joulecast/error.h"
#include "joulecast/meter/line_stream.h"
#include "joulecast/meter/nvidia_sensor.h"
#include "joulecast/meter/smi_log.h"
#include "joulecast/process/shell_word.h"

namespace joulecast {

namespace {

constexpr std::chrono::milliseconds longest_start{10'000};  // a driver without persistence wakes the card first
constexpr int most_words = 100;                             // lines before the first sample
constexpr int most_lines_a_look = 10'000;                   // one that prints without end must not hold us for ever
constexpr double longest_silence_s = 5.0;                   // it prints every 10 ms

class NvidiaSmiMeter final : public Meter {
  public:
    /// Throws MeterLost when the program ends before its first number.
    NvidiaSmiMeter(const std::string& program, const std::string& gpu, const std::string& column, TimeSource now_s)
        : stream_("exec " + shell_word(program) + " --query-gpu=timestamp," + column +
                      " --format=csv,nounits -lms 10 -i " + shell_word(gpu),
                  program, longest_silence_s, now_s),
          now_s_(std::move(now_s)) {
        facts_.name = "nvidia-smi:" + column;
        facts_.covers = column == "power.draw" ? "the whole card (on Ampere and later as the mean of about a second)"
                                               : "the whole card";
        facts_.period_s = nvidia_sensor_period_s;
        facts_.gain_error = nvidia_sensor_gain_error;
        for (int i = 0; i < most_words && std::isnan(power_w_); ++i) {
            const auto line = stream_.next(longest_start);
            if (!line) throw MeterLost(program + " prints nothing");
            take(*line);
        }
        if (std::isnan(power_w_)) throw MeterLost(program + " prints no samples: " + lines_.first_skipped());
    }

    const MeterFacts& facts() const override { return facts_; }

    MeterReading read() override {
        for (int i = 0; i < most_lines_a_look; ++i) {
            const auto line = stream_.next();
            if (!line) break;
            take(*line);
        }
        MeterReading reading;
        reading.time_s = now_s_();
        reading.power_w = power_w_;
        return reading;
    }

  private:
    void take(const std::string& line) {
        const auto sample = lines_.take(line);
        if (!sample) return;
        if (std::isnan(sample->power_w)) throw MeterLost("nvidia-smi does not report this card's power: " + line);
        power_w_ = sample->power_w;
    }

    LineStream stream_;
    TimeSource now_s_;
    SmiLines lines_;
    MeterFacts facts_;
    double power_w_ = std::numeric_limits<double>::quiet_NaN();
};

bool is_gpu_id(const std::string& text) {
    return !text.empty() &&
           text.find_first_not_of("0123456789:.-_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") ==
               std::string::npos;
}

}  // namespace

FoundMeter open_nvidia_smi(const std::string& gpu, const std::string& program, TimeSource now_s) {
    if (!is_gpu_id(gpu))
        return {nullptr, "\"" + gpu.substr(0, 100) + "\" is not an index, UUID or PCI address of a GPU"};
    if (!now_s) now_s = steady_seconds;
    std::string reason;
    for (const char* column : {"power.draw.instant", "power.draw"}) {
        try {
            return {std::make_unique<NvidiaSmiMeter>(program, gpu, column, now_s), ""};
        } catch (const Error& error) {
            reason = error.what();
        }
        if (reason.find("exit status 127") != std::string::npos) {
            return {nullptr, program + " is not installed, or not on the PATH"};
        }
    }
    return {nullptr, reason};
}

}  // namespace joulecast
