#include "joulecast/measure/meter_traits.h"

namespace joulecast {

MeterTraits traits_from(const MeterFacts& facts) {
    MeterTraits traits;
    if (facts.period_s > 0.0) traits.period_s = facts.period_s;
    return traits;
}

}  // namespace joulecast
