#include <array>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "joulecast/forecast/published/attributes.h"
#include "lab/baselines/fits.h"

namespace joulecast {
namespace {

/// The three candidates: operations, input size and output size.
constexpr std::size_t drivers = 3;
double driver(const Subject& subject, std::size_t which) {
    const Dimensions& d = subject.operation->dimensions;
    const Counts counts = d.forward + d.backward;
    switch (which) {
        case 0:
            return static_cast<double>(counts.flop) + static_cast<double>(counts.other_flop);
        case 1:
            return d.elements_in;
        default:
            return d.elements_out;
    }
}

struct Line {
    double intercept = 0;
    double slope = 0;
    double squared_error = 0;
};

/// Least squares; level where x does not vary.
Line fit_line(const std::vector<double>& x, const std::vector<double>& y) {
    const auto n = static_cast<double>(x.size());
    double mean_x = 0, mean_y = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        mean_x += x[i] / n;
        mean_y += y[i] / n;
    }
    double xx = 0, xy = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        xx += (x[i] - mean_x) * (x[i] - mean_x);
        xy += (x[i] - mean_x) * (y[i] - mean_y);
    }
    Line line;
    line.slope = xx > 0 ? xy / xx : 0;
    line.intercept = mean_y - line.slope * mean_x;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double wrong = line.intercept + line.slope * x[i] - y[i];
        line.squared_error += wrong * wrong;
    }
    return line;
}

/// One operation's lines: per device, and over the devices' bandwidths.
struct Kernel {
    std::size_t driver = 0;
    std::map<std::string, Line> of_device;
    double intercept = 0;  ///< mean of the devices
    Line rate;             ///< 1 / slope over the bandwidth (section 5.4: throughput grows with bandwidth)
    bool has_rate = false;
};

using ByDevice = std::map<std::string, std::vector<const Observation*>>;

Kernel fit_driver(const ByDevice& rows, std::size_t which, double& squared_error) {
    Kernel kernel;
    kernel.driver = which;
    squared_error = 0;
    std::vector<double> bandwidths, rates;
    for (const auto& [device, of_device] : rows) {
        std::vector<double> x, y;
        for (const Observation* row : of_device) {
            x.push_back(driver(row->subject, which));
            y.push_back(row->value);
        }
        const Line line = fit_line(x, y);
        squared_error += line.squared_error;
        kernel.of_device[device] = line;
        kernel.intercept += line.intercept / static_cast<double>(rows.size());
        if (line.slope <= 0) continue;
        bandwidths.push_back(of_device.front()->subject.device->bandwidth_bytes_per_s);
        rates.push_back(1 / line.slope);
    }
    kernel.has_rate = !rates.empty();
    if (rates.size() == 1) {
        kernel.rate.slope = rates.front() / bandwidths.front();  // one device: in proportion
    } else if (kernel.has_rate) {
        kernel.rate = fit_line(bandwidths, rates);
    }
    return kernel;
}

class Li : public FittedBaseline {
  public:
    explicit Li(Observations rows) {
        std::map<std::string, ByDevice> types;
        for (const Observation& row : rows) types[layer_type(row.subject)][row.subject.device->id].push_back(&row);
        for (auto& [type, by_device] : types) {
            std::erase_if(by_device, [](const auto& device) { return device.second.size() < 3; });
            if (!by_device.empty()) kernels_[type] = best(by_device);
        }
    }

    double forecast(const Subject& subject) const override {
        constexpr double missing = std::numeric_limits<double>::quiet_NaN();
        const auto found = kernels_.find(layer_type(subject));
        if (found == kernels_.end()) return missing;
        const Kernel& kernel = found->second;
        const double x = driver(subject, kernel.driver);
        const auto known = kernel.of_device.find(subject.device->id);
        if (known != kernel.of_device.end()) return known->second.intercept + known->second.slope * x;
        const double rate = kernel.rate.intercept + kernel.rate.slope * subject.device->bandwidth_bytes_per_s;
        return kernel.has_rate && rate > 0 ? kernel.intercept + x / rate : missing;
    }

  private:
    static Kernel best(const ByDevice& rows) {
        Kernel chosen;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t which = 0; which < drivers; ++which) {
            double error = 0;
            Kernel kernel = fit_driver(rows, which, error);
            if (!(error < least)) continue;
            least = error;
            chosen = std::move(kernel);
        }
        return chosen;
    }

    std::map<std::string, Kernel> kernels_;
};

}  // namespace

Fitted fit_li23(Observations rows, const BaselineSettings& /*settings*/) {
    return std::make_unique<Li>(rows);
}

}  // namespace joulecast
