#include "joulecast/measure/measurement.h"

#include <gtest/gtest.h>

namespace joulecast {
namespace {

TEST(Outcome, NamesAreReadBack) {
    for (const Outcome outcome : {Outcome::ok, Outcome::unstable, Outcome::out_of_memory, Outcome::unsupported,
                                  Outcome::crashed, Outcome::inferred}) {
        EXPECT_EQ(parse_outcome(name(outcome)), outcome);
    }
    EXPECT_FALSE(parse_outcome("fine"));
}

TEST(Words, OfMeasurementsAreReadBack) {
    for (const LimitedBy limit : {LimitedBy::unknown, LimitedBy::none, LimitedBy::power_cap, LimitedBy::thermal}) {
        EXPECT_EQ(parse_limited_by(name(limit)), limit);
    }
    for (const Method method : {Method::joulecast, Method::thesis, Method::sponner}) {
        EXPECT_EQ(parse_method(name(method)), method);
    }
    for (const Optimizer optimizer :
         {Optimizer::none, Optimizer::sgd, Optimizer::momentum, Optimizer::adam, Optimizer::adamw}) {
        EXPECT_EQ(parse_optimizer(name(optimizer)), optimizer);
    }
    EXPECT_FALSE(parse_method("ours"));
}

}  // namespace
}  // namespace joulecast
