#include "joulecast/report/chapters.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/device/engine.h"
#include "joulecast/graph/symbol_values.h"
#include "joulecast/report/figure_text.h"

namespace joulecast {
namespace {

/// What a forecast is of, part by part.
using Parts = std::array<std::string, 8>;

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

/// "amp-fp16, channels last".
std::string computing_text(const NetworkForecast& network) {
    return network.precision + (network.memory_format == MemoryFormat::channels_last ? ", channels last" : "");
}

Parts parts_of_label(const ReportedForecast& forecast) {
    const NetworkForecast& n = forecast.network;
    return {n.model,
            values_text(n.symbols),
            mode_text(n),
            computing_text(n),
            "host " + host_text(n.point),
            forecast.device.display_name,
            clock_text(n),
            forecast.run};
}

template <class Unit>
std::string with_interval(const Estimate<Unit>& value, Show how) {
    return show(value.value.value(), how) + " (90 %: " + show(value.low.value(), how) + " to " +
           show(value.high.value(), how) + ")";
}

std::string settings_of_one(const NetworkForecast& n) {
    const std::string sizes = values_text(n.symbols);
    return n.model + " (" + sizes + (sizes.empty() ? "" : ", ") + mode_text(n) + ", " + computing_text(n) +
           ", issued from " + host_text(n.point) + ")";
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
    const double memory = memory_bytes(n);
    if (std::isfinite(memory)) text += ". It needs " + show(memory, Show::bytes) + " of memory";
    return text + ". " + bound_text(n.limited_by);
}

/// Texts of the first `count` parts; of those behind the first, the ones that are not the same in all.
std::vector<std::string> joined_where_they_differ(const std::vector<Parts>& parts_of_each, std::size_t count) {
    std::vector<std::string> result(parts_of_each.size());
    for (std::size_t part = 0; part < count; ++part) {
        const bool differs = std::ranges::any_of(
            parts_of_each, [&](const Parts& own) { return own[part] != parts_of_each.front()[part]; });
        if (part > 0 && !differs) continue;
        for (std::size_t i = 0; i < parts_of_each.size(); ++i)
            result[i] += (result[i].empty() || parts_of_each[i][part].empty() ? "" : ", ") + parts_of_each[i][part];
    }
    return result;
}

/// Settings that have a sentence each; of more, the table tells.
constexpr std::size_t most_sentences = 6;

template <class Unit>
bool overlap(const Estimate<Unit>& a, const Estimate<Unit>& b) {
    return a.low <= b.high && b.low <= a.high;
}

/// "A is the fastest with 5 ms (...) and takes the least energy, 758 mJ (...)", and whether the intervals tell.
std::string compared_sentence(const std::vector<ReportedForecast>& forecasts, const ComparedSetting& setting,
                              const std::vector<std::string>& names) {
    std::size_t fastest = setting.forecasts.front();
    std::optional<std::size_t> thriftiest;
    for (const std::size_t i : setting.forecasts) {
        const NetworkForecast& n = forecasts[i].network;
        if (n.time.value < forecasts[fastest].network.time.value) fastest = i;
        if (n.energy.known() && (!thriftiest || n.energy.value < forecasts[*thriftiest].network.energy.value))
            thriftiest = i;
    }
    const bool is_alone = setting.forecasts.size() == 1;
    std::string text = names[fastest] + (is_alone ? " takes " : " is the fastest with ") +
                       with_interval(forecasts[fastest].network.time, Show::seconds);
    if (thriftiest && *thriftiest == fastest)
        text += std::string(is_alone ? " and " : " and takes the least energy, ");
    else if (thriftiest)
        text += "; " + names[*thriftiest] + " takes the least energy, ";
    if (thriftiest) text += with_interval(forecasts[*thriftiest].network.energy, Show::joules);
    text += '.';
    const auto is_close = [&](std::size_t best, auto value) {
        return std::ranges::any_of(setting.forecasts, [&](std::size_t i) {
            return i != best && overlap(forecasts[i].network.*value, forecasts[best].network.*value);
        });
    };
    std::string close = is_close(fastest, &NetworkForecast::time) ? "time" : "";
    if (thriftiest && is_close(*thriftiest, &NetworkForecast::energy))
        close += std::string(close.empty() ? "" : " and ") + "energy";
    if (!close.empty()) text += " The 90 % intervals of " + close + " overlap, so another may be the best.";
    return text;
}

/// In the order of the forecasts, each once.
template <class Text>
std::vector<std::string> different(const std::vector<ReportedForecast>& forecasts, Text text) {
    std::vector<std::string> texts;
    for (const ReportedForecast& forecast : forecasts) {
        std::string own = text(forecast);
        if (!own.empty() && std::ranges::find(texts, own) == texts.end()) texts.push_back(std::move(own));
    }
    return texts;
}

/// "a", "a and b", "a, b and 3 others".
std::string joined_words(const std::vector<std::string>& words) {
    constexpr std::size_t most_words = 4;
    std::string text;
    const std::size_t shown = words.size() > most_words ? most_words - 1 : words.size();
    for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    return shown < words.size() ? text + " and " + std::to_string(words.size() - shown) + " others" : text;
}

std::string listed(const std::vector<std::string>& texts) {
    std::string text;
    for (const std::string& own : texts) text += (text.empty() ? "" : "; ") + own;
    return text;
}

std::vector<std::pair<std::string, std::string>> asked_of(const std::vector<ReportedForecast>& forecasts) {
    using F = ReportedForecast;
    const auto sized = [](const F& f) {
        return f.network.symbols.empty() ? f.network.model
                                         : f.network.model + " (" + values_text(f.network.symbols) + ")";
    };
    std::vector<std::pair<std::string, std::string>> asked;
    const auto add = [&](const char* singular, const char* plural, const auto& text) {
        const auto texts = different(forecasts, text);
        if (!texts.empty()) asked.emplace_back(texts.size() == 1 ? singular : plural, listed(texts));
    };
    add("network", "networks", sized);
    add("mode", "modes", [](const F& f) { return mode_text(f.network); });
    add("precision", "precisions", [](const F& f) {
        return f.network.precision == "default" ? "default (PyTorch's: float32, convolutions with TF32 where there is)"
                                                : f.network.precision;
    });
    const auto is_contiguous = [](const F& f) { return f.network.memory_format == MemoryFormat::contiguous; };
    if (!std::ranges::all_of(forecasts, is_contiguous)) {
        add("images", "images", [](const F& f) { return std::string(name(f.network.memory_format)); });
    }
    add("issued from", "issued from", [](const F& f) { return host_text(f.network.point); });
    add("device", "devices", [](const F& f) { return device_label(f); });
    return asked;
}

}  // namespace

std::vector<std::string> labels(const std::vector<ReportedForecast>& forecasts) {
    std::vector<Parts> parts_of_each;
    for (const ReportedForecast& forecast : forecasts) parts_of_each.push_back(parts_of_label(forecast));
    return joined_where_they_differ(parts_of_each, Parts().size());
}

std::string device_label(const ReportedForecast& forecast) {
    const std::string clock = clock_text(forecast.network);
    return forecast.device.display_name + (clock.empty() ? "" : " at " + clock) +
           (forecast.run.empty() ? "" : " (" + forecast.run + ")");
}

std::vector<ComparedSetting> compared_settings(const std::vector<ReportedForecast>& forecasts) {
    std::vector<Parts> parts_of_each;
    for (const ReportedForecast& forecast : forecasts) parts_of_each.push_back(parts_of_label(forecast));
    constexpr std::size_t parts_of_setting = 5;  // device, clock and run stand behind
    const auto names = joined_where_they_differ(parts_of_each, parts_of_setting);
    std::vector<ComparedSetting> settings;
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto found = std::ranges::find(settings, names[i], &ComparedSetting::name);
        if (found == settings.end()) found = settings.insert(found, {names[i], {}});
        found->forecasts.push_back(i);
    }
    if (settings.size() > 1 && settings.size() == forecasts.size()) {
        ComparedSetting everything;
        for (std::size_t i = 0; i < forecasts.size(); ++i) everything.forecasts.push_back(i);
        return {everything};
    }
    return settings;
}

std::vector<NamedBar> named_bars(const std::vector<ReportedForecast>& forecasts) {
    const auto names = labels(forecasts);
    std::vector<NamedBar> bars;
    for (const ComparedSetting& setting : compared_settings(forecasts)) {
        for (const std::size_t i : setting.forecasts)
            bars.push_back({i, setting.name.empty() ? names[i] : setting.name + "\n" + device_label(forecasts[i])});
    }
    return bars;
}

const char* colour_of_forecast(std::size_t place) {
    return compared_colours[place % compared_colours.size()];
}

std::string summary_sentence(const std::vector<ReportedForecast>& forecasts) {
    if (forecasts.size() == 1) return sentence_of_one(forecasts.front());
    const auto settings = compared_settings(forecasts);
    if (settings.size() == 1)
        return "Of " + std::to_string(forecasts.size()) + " forecasts, " +
               compared_sentence(forecasts, settings.front(), labels(forecasts));
    std::vector<std::string> devices;
    for (const ReportedForecast& forecast : forecasts) devices.push_back(device_label(forecast));
    std::string text;
    for (std::size_t i = 0; i < std::min(settings.size(), most_sentences); ++i)
        text += (i == 0 ? "" : "\n") + settings[i].name + ": " + compared_sentence(forecasts, settings[i], devices);
    if (settings.size() > most_sentences)
        text += "\nThe table has the other " + std::to_string(settings.size() - most_sentences) + " settings.";
    return text;
}

Page forecast_page(const std::vector<ReportedForecast>& forecasts) {
    Page page;
    page.title = joined_words(different(forecasts, [](const ReportedForecast& f) { return f.network.model; })) +
                 " on " +
                 joined_words(different(forecasts, [](const ReportedForecast& f) { return f.device.display_name; }));
    page.asked = asked_of(forecasts);
    page.summary = summary_sentence(forecasts);
    page.chapters = {devices_chapter(forecasts), cost_chapter(forecasts),     clocks_chapter(forecasts),
                     shares_chapter(forecasts),  roofline_chapter(forecasts), memory_chapter(forecasts),
                     evidence_chapter(forecasts)};
    std::erase_if(page.chapters, [](const Chapter& chapter) { return chapter.blocks.empty(); });
    return page;
}

}  // namespace joulecast
