#include "joulecast/meter/sysfs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/meter/folder.h"

namespace joulecast {
namespace {

using ::testing::ElementsAre;
using testing::Folder;
using ::testing::IsEmpty;

TEST(Sysfs, TextLosesItsBlanksAndItsTerminator) {
    const Folder folder;
    EXPECT_EQ(sysfs_text(folder.put("a", std::string("  NVIDIA Jetson\0\n", 16))), "NVIDIA Jetson");
    EXPECT_EQ(sysfs_text(folder.put("b", " \n")), std::nullopt);
    EXPECT_EQ(sysfs_text(folder.path() / "none"), std::nullopt);
    EXPECT_EQ(sysfs_text(folder.path()), std::nullopt);
    EXPECT_EQ(sysfs_text(folder.put("c", std::string(100'000, 'x')))->size(), 4096u);
}

TEST(Sysfs, ANumberIsTheWholeFile) {
    const Folder folder;
    EXPECT_EQ(sysfs_number(folder.put("a", "-12\n")), -12.0);
    for (const char* text : {"12 mW", "inf", "nan", "", "0x10", "1e999"}) {
        EXPECT_EQ(sysfs_number(folder.put("b", text)), std::nullopt) << text;
    }
}

TEST(Sysfs, EntriesComeInTheOrderOfTheirNumbers) {
    const Folder folder;
    for (const char* name :
         {"d/hwmon10", "d/hwmon2", "d/hwmon1", "d/intel-rapl:0:10", "d/intel-rapl:0", "d/intel-rapl:0:9"}) {
        folder.put(name, "");
    }
    std::vector<std::string> names;
    for (const auto& entry : sysfs_entries(folder.path() / "d")) names.push_back(entry.filename().string());
    EXPECT_THAT(names, ElementsAre("hwmon1", "hwmon2", "hwmon10", "intel-rapl:0", "intel-rapl:0:9", "intel-rapl:0:10"));
    EXPECT_THAT(sysfs_entries(folder.path() / "none"), IsEmpty());
}

TEST(Sysfs, ProcessorListsAreRanges) {
    EXPECT_THAT(processor_list("0-2,8,10-11"), ElementsAre(0, 1, 2, 8, 10, 11));
    EXPECT_THAT(processor_list(""), IsEmpty());
    EXPECT_THAT(processor_list("3,x"), ElementsAre(3));
    EXPECT_THAT(processor_list("5-2"), IsEmpty());
    EXPECT_EQ(processor_list("0-2000000000").size(), 4096u);
}

}  // namespace
}  // namespace joulecast
