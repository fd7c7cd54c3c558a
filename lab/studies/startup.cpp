#include "lab/studies/startup.h"

#include <algorithm>
#include <cmath>

#include "joulecast/measure/load.h"
#include "joulecast/units/statistics.h"

namespace joulecast {

namespace {

constexpr double channel_sigmas = 3.0;

/// Runs (or rests) for that long, looking at the meter as often as the sampler wants.
PowerSpan trace_span(Load* load, PowerSampler& sampler, Clock& clock, const StartupPlan& plan) {
    PowerSpan span;
    span.running = load != nullptr;
    span.start_s = clock.now_s();
    const double end_s = span.start_s + (span.running ? plan.run_s : plan.rest_s);
    for (double now_s = span.start_s; now_s < end_s; now_s = clock.now_s()) {
        sampler.look();
        if (load != nullptr) {
            load->keep_on(plan.every_s / 4.0);
        } else {
            clock.sleep(std::min(plan.every_s, end_s - now_s));
        }
    }
    if (load != nullptr) load->drain();
    span.end_s = clock.now_s();
    return span;
}

}  // namespace

PowerTrace trace_startup(Workload& workload, Meter& meter, Clock& clock, const StartupPlan& plan) {
    PowerSampler sampler(meter, clock, plan.every_s);
    PowerTrace trace;
    for (std::size_t run = 0; run < plan.runs; ++run) {
        if (plan.rest_s > 0.0) trace.spans.push_back(trace_span(nullptr, sampler, clock, plan));
        Load load(workload, clock, plan.call_s);
        trace.spans.push_back(trace_span(&load, sampler, clock, plan));
    }
    if (plan.rest_s > 0.0) trace.spans.push_back(trace_span(nullptr, sampler, clock, plan));
    trace.samples = sampler.samples();
    return trace;
}

std::vector<std::vector<PowerSample>> overlaid_runs(const PowerTrace& trace) {
    std::vector<std::vector<PowerSample>> runs;
    for (const PowerSpan& span : trace.spans) {
        if (!span.running) continue;
        auto& run = runs.emplace_back();
        for (const PowerSample& sample : trace.samples) {
            if (sample.time_s < span.start_s || sample.time_s >= span.end_s) continue;
            run.push_back({sample.time_s - span.start_s, sample.power_w});
        }
    }
    return runs;
}

Startup summarise_startup(const PowerTrace& trace) {
    const auto runs = overlaid_runs(trace);
    std::vector<double> late_w;
    for (const auto& run : runs) {
        for (const PowerSample& sample : run) {
            if (sample.time_s > run.back().time_s / 2.0) late_w.push_back(sample.power_w);
        }
    }
    Startup startup;
    startup.steady_w = mean(late_w);
    startup.sigma_w = standard_deviation(late_w);
    for (const auto& run : runs) {
        double settled_s = std::numeric_limits<double>::quiet_NaN();
        for (auto sample = run.rbegin(); sample != run.rend(); ++sample) {
            if (!(std::abs(sample->power_w - startup.steady_w) <= channel_sigmas * startup.sigma_w)) break;
            settled_s = sample->time_s;
        }
        startup.settled_after_s.push_back(settled_s);
    }
    return startup;
}

}  // namespace joulecast
