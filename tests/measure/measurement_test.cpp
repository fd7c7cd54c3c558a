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

}  // namespace
}  // namespace joulecast
