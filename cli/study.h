#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "joulecast/measure/proportionality.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast::cli {

struct StudyOptions {
    std::string study;
    std::string operation =
        "aten::conv2d(input=f32[1,64,56,56], weight=f32[64,64,3,3], padding=[1,1])";  ///< of ResNet-18
    std::string device = "cpu";
    std::string worker;
    int threads = 0;
    std::string longest = "1s";
    std::size_t points = 70;
    std::string meter = "auto";
    std::size_t runs = 5;
    std::string run = "3s";
    std::string rest = "3s";
    std::string power_log;
    std::string csv;
    std::string picture;
    Output output;
};

/// Calls of a study's operation, made by its worker.
class Calls {
  public:
    /// Starts the worker. Throws Error.
    explicit Calls(const StudyOptions& options);

    /// One run for each number, in that order. Throws Error when it fails or takes ten times longer than expected.
    std::vector<Runtime> time(const std::vector<std::int64_t>& numbers, double expected_s);
    /// About what a call takes, found by runs that become longer.
    double call_s();
    const std::string& device() const { return device_; }

  private:
    Supervisor supervisor_;
    protocol::TimeRuns request_;
    std::string device_;
};

int study_startup(const StudyOptions& options);

}  // namespace joulecast::cli
