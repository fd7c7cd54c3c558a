#pragma once

#include "joulecast/report/dataset_chapters.h"

namespace joulecast {

/// Adds figures 5.5 to 5.17: time, energy and energy x time over the clock, measured, and for each network beside its
/// forecast. Says so where the database has no sweep, or nobody forecast it.
void add_clock_figures(Chapter& chapter, const ReportedDataset& dataset);

}  // namespace joulecast
