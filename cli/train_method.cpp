#include "cli/train_method.h"

#include <algorithm>
#include <iostream>
#include <iterator>

#include "cli/verb.h"
#include "joulecast/forecast/published/method.h"
#include "joulecast/train/published/train_published.h"
#include "joulecast/units/time_stamp.h"

namespace joulecast::cli {

Predictor train_method(PublishedMethod method, const std::vector<MeasuredRows>& measured,
                       const TrainSettings& settings) {
    Predictor predictor = empty_predictor();
    std::vector<OperationRow> sources;
    for (const MeasuredRows& rows : measured) {
        std::cerr << "training the method " << description(method) << " for " << rows.device.id << " ("
                  << name(rows.setting.math) << "): " << rows.operations.size() << " operations, "
                  << rows.networks.size() << " networks\n";
        predictor.devices.push_back(
            train_published(method, rows.device, rows.setting, rows.operations, rows.networks, settings));
        std::ranges::copy(rows.rows, std::back_inserter(sources));
    }
    predictor.origin = origin_of(sources, "joulecast " JOULECAST_VERSION, utc_second_stamp(utc_now_s()));
    predictor.origin.seed = settings.seed;
    return predictor;
}

std::string layer_of(const PublishedRegression& regression, const DeviceModel& device) {
    const std::string prefix = device.device.id + "|";
    return regression.key.starts_with(prefix) ? regression.key.substr(prefix.size()) : regression.key;
}

}  // namespace joulecast::cli
