#pragma once

#include <span>
#include <string>
#include <vector>

#include "joulecast/dataset/dataset.h"
#include "joulecast/evaluate/accuracy.h"
#include "joulecast/evaluate/cross_validate.h"
#include "joulecast/evaluate/slow_operations.h"
#include "joulecast/evaluate/summed_networks.h"
#include "joulecast/report/html.h"
#include "joulecast/train/train.h"

namespace joulecast {

/// What a database has of one device at one setting.
struct ReportedSetting {
    Device device;
    OperatingPoint setting;
    std::vector<TrainingRow> operations;
    std::vector<TrainingNetwork> networks;
    std::vector<SummedNetwork> sums;
    std::vector<SlowOperation> slow;
};

/// What a page tells of a database.
struct ReportedDataset {
    std::string file;
    std::vector<RowGroup> groups;
    std::vector<NetworkRow> network_rows;  ///< whatever clock and setting they were measured at
    std::vector<ReportedSetting> settings;
    std::vector<OutOfFoldRow> held_out;     ///< operations, each forecast by models that saw none of its shape
    std::vector<NetworkAccuracy> networks;  ///< each forecast without its operations; empty: left_out_reason
    std::string left_out_reason;
    std::vector<NetworkCurve> curves;  ///< networks over the clock
    std::string curves_are = {};       ///< by what they are forecast: a sentence
    std::size_t folds = 0;
};

Chapter contents_chapter(const ReportedDataset& dataset);
/// Measured against forecast operations, with intervals.
Chapter held_out_chapter(const ReportedDataset& dataset);
/// Measured against forecast networks.
Chapter networks_chapter(const ReportedDataset& dataset);
/// Operations measured far slower than forecast, with what their sizes say of it.
Chapter outliers_chapter(const ReportedDataset& dataset);
/// The figures and tables of C. Nicolai, On Energy Modeling of Deep Neural Network Operations, that the data allow; the
/// others are named with the reason.
Chapter thesis_chapter(const ReportedDataset& dataset);
/// The same of Sponner et al. 2022, AI-Driven Performance Modeling for AI Inference Workloads.
Chapter sponner_chapter(const ReportedDataset& dataset);

/// "time_s" as people say it: "time". Of names that nobody knows, the name.
std::string metric_word(const std::string& metric);

/// Accuracies of a device and math over both modes; where it has one mode only, over that.
std::vector<Accuracy> over_modes(std::span<const OutOfFoldRow> rows);

/// Columns of an outlier, for every format.
const std::vector<Column<SlowOperation>>& slow_operation_columns();

/// The page with all of these.
Page dataset_page(const ReportedDataset& dataset);
/// The page of the outliers alone.
Page outliers_page(const ReportedDataset& dataset);

}  // namespace joulecast
