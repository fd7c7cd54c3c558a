#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/forecast/forecast.h"
#include "joulecast/forecast/relative_cost.h"
#include "joulecast/graph/graph.h"
#include "joulecast/report/html.h"

namespace joulecast {

/// A network's cost at one clock of its device.
struct ClockCost {
    double clock_mhz = 0;       ///< asked for
    double real_clock_mhz = 0;  ///< what the power limit leaves of it
    Estimate<Seconds> time;
    Estimate<Joules> energy;  ///< unknown() where no power is known of the device
    Bound limited_by = Bound::device;
    RelativeCost relative = {};  ///< to what the device takes at its default clock, with the intervals of ratios
};

/// Bytes alive while a call runs, above what is there before the first.
struct AliveBytes {
    std::string pass;  ///< "forward", "backward", ...
    std::string call;  ///< the operation and its module
    double bytes = 0;
};

/// What the memory plan of a forecast says of each call of its graph; empty without a plan.
std::vector<AliveBytes> alive_bytes(const NetworkForecast& forecast, const Graph& graph);

/// The same network where somebody measured it.
struct MeasuredCost {
    double time_s = std::numeric_limits<double>::quiet_NaN();
    double energy_j = std::numeric_limits<double>::quiet_NaN();
    std::string source;
};

/// A forecast with all that a page tells of it.
struct ReportedForecast {
    NetworkForecast network;
    Graph graph;  ///< that the forecast is of: at its symbols, precision and mode
    Device device;
    std::string run = {};  ///< the file that it was read from; empty: made for this page
    std::string origin;    ///< what the predictor was trained on
    std::string note;      ///< what the user must know of the predictor; may be empty
    std::optional<MeasuredCost> measured;
    std::vector<ClockCost> clocks;  ///< rising; empty: clocks_missing_reason says why
    std::string clocks_missing_reason;
    double default_clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< that the device runs at by itself
    std::vector<AliveBytes> alive;  ///< in the order of the calls; empty: the forecast's reason holds
};

/// Names for forecasts that stand side by side: the model, and what else is not the same in all of them (sizes, mode,
/// precision, host, device, clock).
std::vector<std::string> labels(const std::vector<ReportedForecast>& forecasts);

/// The device's name, and its clock where one was asked for.
std::string device_label(const ReportedForecast& forecast);

/// Forecasts that differ in nothing but the device or its clock: what one compares.
struct ComparedSetting {
    std::string name;                    ///< the model, and what else differs between settings
    std::vector<std::size_t> forecasts;  ///< places
};

/// In the order of their first forecasts. Where each would have one forecast, all are of one setting, whose name is
/// empty: then settings are what one compares.
std::vector<ComparedSetting> compared_settings(const std::vector<ReportedForecast>& forecasts);

/// The colour of a forecast in every figure of its page.
const char* colour_of_forecast(std::size_t place);

/// The forecasts by setting, those of one setting behind each other, with names of two lines for the bars of a figure.
struct NamedBar {
    std::size_t forecast = 0;  ///< place
    std::string name;
};
std::vector<NamedBar> named_bars(const std::vector<ReportedForecast>& forecasts);

/// "resnet50 (batch=32, inference, fp32) takes 12.3 ms (90 %: 11.0 to 13.8 ms) on NVIDIA A30, ..."; of several, which
/// is fastest and which takes the least energy, in a line for each setting that devices are compared at.
std::string summary_sentence(const std::vector<ReportedForecast>& forecasts);

// Chapters of a page about forecasts; a chapter says what it cannot show, and why.
Chapter cost_chapter(const std::vector<ReportedForecast>& forecasts);
Chapter shares_chapter(const std::vector<ReportedForecast>& forecasts);
Chapter roofline_chapter(const std::vector<ReportedForecast>& forecasts);
Chapter devices_chapter(const std::vector<ReportedForecast>& forecasts);
Chapter clocks_chapter(const std::vector<ReportedForecast>& forecasts);
Chapter memory_chapter(const std::vector<ReportedForecast>& forecasts);
Chapter evidence_chapter(const std::vector<ReportedForecast>& forecasts);

/// The page of forecasts: what was asked, the answer in words, all their chapters. At least one.
Page forecast_page(const std::vector<ReportedForecast>& forecasts);

/// Forecasts of more networks than this have no figures of their own; the page says so.
inline constexpr std::size_t most_detailed_forecasts = 8;

}  // namespace joulecast
