#include "joulecast/report/chapters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/graph/symbol_values.h"

namespace joulecast {
namespace {

/// What a forecast is of, part by part.
using Parts = std::array<std::string, 7>;

std::string clock_text(const NetworkForecast& network) {
    const double clock = network.point.sm_clock_mhz;
    return std::isfinite(clock) ? std::to_string(std::llround(clock)) + " MHz" : "";
}

/// "training, adamw, 4 passes, checkpointed": what time and energy are of.
std::string mode_text(const NetworkForecast& network) {
    std::string text(name(network.mode));
    const TrainingSetup& training = network.training;
    if (training.optimizer != Optimizer::none) text += ", " + std::string(name(training.optimizer));
    if (training.accumulation > 1) text += ", " + std::to_string(training.accumulation) + " passes";
    if (network.checkpointed_blocks > 0) text += ", checkpointed";
    return text;
}

Parts parts_of_label(const ReportedForecast& forecast) {
    const NetworkForecast& n = forecast.network;
    return {n.model,
            values_text(n.symbols),
            mode_text(n),
            n.precision,
            "host " + std::string(name(n.point.host)),
            forecast.device.display_name,
            clock_text(n)};
}

template <class Unit>
std::string with_interval(const Estimate<Unit>& value, Show how) {
    return show(value.value.value(), how) + " (90 %: " + show(value.low.value(), how) + " to " +
           show(value.high.value(), how) + ")";
}

std::string settings_of_one(const NetworkForecast& n) {
    const std::string sizes = values_text(n.symbols);
    return n.model + " (" + sizes + (sizes.empty() ? "" : ", ") + mode_text(n) + ", " + n.precision + ", issued from " +
           std::string(name(n.point.host)) + ")";
}

std::string bound_text(Bound bound) {
    switch (bound) {
        case Bound::device:
            return "Computing decides its time.";
        case Bound::host:
            return "Its time is limited by issuing the calls, not by computing.";
        case Bound::power_cap:
            return "The device's power limit decides its power.";
    }
    return "";
}

std::string sentence_of_one(const ReportedForecast& forecast) {
    const NetworkForecast& n = forecast.network;
    const std::string clock = clock_text(n);
    std::string text = settings_of_one(n) + " takes " + (n.lower_bound ? "at least " : "") +
                       with_interval(n.time, Show::seconds) + " on " + forecast.device.display_name +
                       (clock.empty() ? "" : " at " + clock);
    text += n.energy.known() ? ", and " + with_interval(n.energy, Show::joules) + " of energy at " +
                                   show(n.power.value.value(), Show::watts)
                             : "; its energy is not known: " + n.energy_missing_reason;
    const double memory = n.resident_bytes + n.cost.peak_memory.value.value();
    if (std::isfinite(memory)) text += ". It needs " + show(memory, Show::bytes) + " of memory";
    return text + ". " + bound_text(n.limited_by);
}

}  // namespace

std::vector<std::string> labels(const std::vector<ReportedForecast>& forecasts) {
    std::vector<Parts> parts_of_each;
    for (const ReportedForecast& forecast : forecasts) parts_of_each.push_back(parts_of_label(forecast));
    std::vector<std::string> result(parts_of_each.size());
    for (std::size_t part = 0; part < Parts().size(); ++part) {
        const bool differs = std::ranges::any_of(
            parts_of_each, [&](const Parts& own) { return own[part] != parts_of_each.front()[part]; });
        if (part > 0 && !differs) continue;
        for (std::size_t i = 0; i < parts_of_each.size(); ++i)
            result[i] += (result[i].empty() || parts_of_each[i][part].empty() ? "" : ", ") + parts_of_each[i][part];
    }
    return result;
}

std::string summary_sentence(const std::vector<ReportedForecast>& forecasts) {
    if (forecasts.size() == 1) return sentence_of_one(forecasts.front());
    const auto names = labels(forecasts);
    std::size_t fastest = 0;
    std::optional<std::size_t> thriftiest;
    for (std::size_t i = 0; i < forecasts.size(); ++i) {
        const NetworkForecast& n = forecasts[i].network;
        if (n.time.value < forecasts[fastest].network.time.value) fastest = i;
        if (n.energy.known() && (!thriftiest || n.energy.value < forecasts[*thriftiest].network.energy.value))
            thriftiest = i;
    }
    std::string text = "Of " + std::to_string(forecasts.size()) + " forecasts, " + names[fastest] +
                       " is the fastest with " + with_interval(forecasts[fastest].network.time, Show::seconds);
    if (thriftiest)
        text += "; " + names[*thriftiest] + " takes the least energy, " +
                with_interval(forecasts[*thriftiest].network.energy, Show::joules);
    return text + ".";
}

Page forecast_page(const std::vector<ReportedForecast>& forecasts) {
    Page page;
    page.title = forecasts.size() == 1
                     ? forecasts.front().network.model + " on " + forecasts.front().device.display_name
                     : "Forecasts of " + std::to_string(forecasts.size()) + " settings";
    page.summary = summary_sentence(forecasts);
    page.chapters = {cost_chapter(forecasts),    shares_chapter(forecasts),   clocks_chapter(forecasts),
                     devices_chapter(forecasts), roofline_chapter(forecasts), memory_chapter(forecasts),
                     evidence_chapter(forecasts)};
    std::erase_if(page.chapters, [](const Chapter& chapter) { return chapter.blocks.empty(); });
    return page;
}

}  // namespace joulecast
