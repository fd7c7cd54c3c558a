#include <algorithm>

#include "joulecast/units/statistics.h"
#include "lab/baselines/fits.h"

namespace joulecast {
namespace {

class DataSheet : public FittedBaseline {
  public:
    double forecast(const Subject& subject) const override { return seconds(subject.operation->roofline); }
};

/// T = R + C + W (section 4.2): inputs read and outputs written at full bandwidth, arithmetic at a share of peak.
class Paleo : public FittedBaseline {
  public:
    explicit Paleo(double share_of_peak) : share_of_peak_(share_of_peak) {}
    double forecast(const Subject& subject) const override {
        const Roofline& ideal = subject.operation->roofline;
        return ideal.flop_s / share_of_peak_ + ideal.byte_s;
    }

  private:
    double share_of_peak_;
};

}  // namespace

Fitted fit_roofline(Observations /*rows*/, const BaselineSettings& /*settings*/) {
    return std::make_unique<DataSheet>();
}

Fitted fit_paleo(Observations rows, const BaselineSettings& /*settings*/) {
    // The paper measures its "platform percent of peak" (section 4.3) on convolutions; here it is their median,
    // products included. What is left for arithmetic after the memory time counts as at least a tenth of the time.
    std::vector<double> shares;
    for (const Observation& row : rows) {
        const Family kind = row.subject.operation->family();
        if (kind != Family::convolution && kind != Family::matmul) continue;
        const Roofline& ideal = row.subject.operation->roofline;
        shares.push_back(ideal.flop_s / std::max(row.value - ideal.byte_s, 0.1 * row.value));
    }
    const double share = median(shares);
    return std::make_unique<Paleo>(share > 0 ? share : 1.0);
}

}  // namespace joulecast
