#include "joulecast/report/chrome_trace.h"

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

namespace joulecast {
namespace {

using Json = nlohmann::ordered_json;

/// Viewers count nanoseconds, so times are cut to those: a span that ends where the next begins then never laps over
/// it, which would drop one of them. They read microseconds as a double and multiply by 1000 without rounding, so the
/// number written must not come out below.
double microseconds(double seconds) {
    const double nanoseconds = std::round(seconds * 1e9);
    double written = nanoseconds / 1000;
    while (written * 1000 < nanoseconds) written = std::nextafter(written, std::numeric_limits<double>::infinity());
    return written;
}

/// Of a span, between its cut ends.
double length_microseconds(const TraceSpan& span) {
    return microseconds((std::round(span.end_s * 1e9) - std::round(span.start_s * 1e9)) * 1e-9);
}

constexpr int process = 1;

Json value(const Cell& cell) {
    return std::visit(
        [](const auto& value) -> Json {
            using T = std::decay_t<decltype(value)>;
            if constexpr (std::is_same_v<T, std::monostate>) {
                return nullptr;
            } else if constexpr (std::is_same_v<T, double>) {
                return std::isfinite(value) ? Json(value) : Json(nullptr);
            } else {
                return value;
            }
        },
        cell);
}

Json object(const TraceDetails& details) {
    Json object = Json::object();
    for (const auto& [name, cell] : details) object[name] = value(cell);
    return object;
}

int thread(std::size_t track) {
    return static_cast<int>(track) + 1;
}

void name_tracks(const ChromeTrace& trace, Json& events) {
    const auto named = [&](const char* what, int track, const char* key, Json text) {
        events.push_back(
            {{"name", what}, {"ph", "M"}, {"pid", process}, {"tid", track}, {"args", {{key, std::move(text)}}}});
    };
    named("process_name", 0, "name", trace.process);
    for (std::size_t i = 0; i < trace.tracks.size(); ++i) {
        named("thread_name", thread(i), "name", trace.tracks[i]);
        named("thread_sort_index", thread(i), "sort_index", i);
    }
}

Json arrow_end(const TraceArrow& arrow, std::size_t number, const ChromeTrace& trace, bool is_start) {
    const TraceSpan& span = trace.spans.at(is_start ? arrow.from : arrow.to);
    // A viewer gives each end to the span that is open then: at its very end that is the next one.
    const double at_s = is_start ? (span.start_s + span.end_s) / 2 : span.start_s;
    Json event{{"name", "issue"},
               {"cat", "issue"},
               {"ph", is_start ? "s" : "f"},
               {"id", number},
               {"pid", process},
               {"tid", thread(span.track)},
               {"ts", microseconds(at_s)}};
    if (!is_start) event["bp"] = "e";
    return event;
}

}  // namespace

std::string to_chrome_json(const ChromeTrace& trace) {
    Json events = Json::array();
    name_tracks(trace, events);
    for (const TraceSpan& span : trace.spans) {
        events.push_back({{"name", span.name},
                          {"cat", span.category},
                          {"ph", "X"},
                          {"pid", process},
                          {"tid", thread(span.track)},
                          {"ts", microseconds(span.start_s)},
                          {"dur", length_microseconds(span)},
                          {"args", object(span.details)}});
    }
    for (std::size_t i = 0; i < trace.arrows.size(); ++i) {
        events.push_back(arrow_end(trace.arrows[i], i, trace, true));
        events.push_back(arrow_end(trace.arrows[i], i, trace, false));
    }
    for (const TraceCounter& counter : trace.counters) {
        for (const TraceSample& sample : counter.samples) {
            events.push_back({{"name", counter.name},
                              {"ph", "C"},
                              {"pid", process},
                              {"ts", microseconds(sample.at_s)},
                              {"args", {{counter.unit, sample.value}}}});
        }
    }
    Json whole{{"displayTimeUnit", "ms"}, {"otherData", object(trace.about)}};
    whole["traceEvents"] = std::move(events);
    return whole.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace joulecast
