#include "joulecast/measure/meter_traits.h"

namespace joulecast {

MeterTraits traits_from(const MeterFacts& facts) {
    MeterTraits traits;
    if (facts.period_s > 0.0) traits.period_s = facts.period_s;
    if (facts.duty > 0.0 && facts.duty <= 1.0) traits.duty = facts.duty;
    return traits;
}

}  // namespace joulecast
