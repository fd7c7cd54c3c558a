#include "joulecast/device/figures.h"

#include <gtest/gtest.h>

#include <set>

namespace joulecast {
namespace {

TEST(Figures, AreFoundByTheirNamesAndReachTheirMembers) {
    Device device;
    device.tdp_w = 165;
    device.peak_flop_per_s_tf32 = 8.2e13;
    ASSERT_NE(find_figure("tdp_w"), nullptr);
    EXPECT_EQ(device.*find_figure("tdp_w")->value, 165);
    EXPECT_EQ(device.*find_figure("peak_flop_per_s_tf32")->value, 8.2e13);
    EXPECT_EQ(find_figure("tdp"), nullptr);
}

TEST(Figures, EachHasANameAndAMemberOfItsOwn) {
    std::set<std::string_view> names;
    Device device;
    for (const Figure& figure : figures()) {
        EXPECT_TRUE(names.insert(figure.name).second) << figure.name;
        EXPECT_TRUE(device.*figure.value != device.*figure.value) << figure.name << " was written before";
        device.*figure.value = 1;
        EXPECT_LT(figure.low, figure.high) << figure.name;
    }
}

}  // namespace
}  // namespace joulecast
