#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "joulecast/learn/isolation_forest.h"
#include "joulecast/train/train.h"

namespace joulecast {

struct OutlierSettings {
    double least_score = 0.6;  ///< of anomaly_score(): Liu, Ting, Zhou 2008 draw the line of the odd there (figure 3)
    double most_share = 0.01;  ///< of a family's rows
    std::size_t least_rows = 50;  ///< smaller families say too little of what is usual
    IsolationSettings isolation = {};
};

/// A row that is odd among those of its family.
struct Outlier {
    std::size_t row = 0;
    double score = 0;
};

/// By an isolation forest per family over what Sponner et al. 2022 (section 7.1) give theirs, the operation's sizes and
/// its measured time, here dimensionless: logarithms of time over law, time over roofline, arithmetic over memory time,
/// and where all rows have power, power. The oddest first. `frame` is the device and point of the rows.
std::vector<Outlier> find_outliers(const DeviceModel& frame, std::span<const TrainingRow> rows,
                                   const OutlierSettings& settings);

/// The other rows, in order.
std::vector<TrainingRow> without(std::span<const TrainingRow> rows, std::span<const Outlier> outliers);

}  // namespace joulecast
