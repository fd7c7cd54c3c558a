#include "joulecast/forecast/published/method.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "joulecast/forecast/published/attributes.h"

namespace joulecast {
namespace {

bool is_inside(std::span<const float> row, std::span<const TrainedRange> ranges) {
    for (std::size_t column = 0; column < ranges.size(); ++column) {
        if (row[column] < ranges[column].low || row[column] > ranges[column].high) return false;
    }
    return true;
}

}  // namespace

std::string regression_key(PublishedMethod method, const Subject& subject) {
    if (method == PublishedMethod::sponner) return layer_type_on_device(subject);
    // The thesis collects a data set per GPU, mode and tensor-core setting, and trains one predictor on each.
    const Operation& operation = subject.operation->operation;
    return subject.device->id + "|" + std::string(name(mode(operation))) + "|" +
           std::string(name(compute_dtype(operation)));
}

std::vector<float> regression_row(PublishedMethod method, const Subject& subject,
                                  const PublishedRegression& regression) {
    return method == PublishedMethod::sponner ? sponner_row(subject) : thesis_row(subject, regression.layers);
}

std::optional<PublishedForecast> forecast(const PublishedModel& model, Metric metric, const Subject& subject) {
    const std::string key = regression_key(model.method, subject);
    const auto found = std::ranges::find_if(model.regressions, [&](const PublishedRegression& regression) {
        return regression.metric == metric && regression.key == key;
    });
    if (found == model.regressions.end()) return std::nullopt;
    const bool is_one_hot = model.method == PublishedMethod::thesis;
    if (is_one_hot && !std::ranges::binary_search(found->layers, layer_name(subject.operation->operation)))
        return std::nullopt;
    const std::vector<float> row = regression_row(model.method, subject, *found);
    const double value = predict(found->model, row);
    // A line or a boosted tree may end below zero. A call may take no memory, but always time and power.
    const bool is_possible = metric == Metric::peak_memory ? value >= 0 : value > 0;
    if (!is_possible || !std::isfinite(value)) return std::nullopt;
    return PublishedForecast{value, found->half_width, is_inside(row, found->ranges)};
}

Subject subject_of(const DeviceModel& device, const PreparedOperation& operation) {
    const double highest_mhz = device.over_clocks ? device.clocks->highest_mhz : device.point.sm_clock_mhz;
    return {&operation, &device.device, operation.clocks.x * highest_mhz, device.point.math};
}

}  // namespace joulecast
