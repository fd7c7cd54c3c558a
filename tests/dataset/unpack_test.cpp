#include "joulecast/dataset/unpack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "joulecast/error.h"
#include "tests/dataset/packed.h"

namespace joulecast {
namespace {

using testing::gzip;
using ::testing::HasSubstr;

std::string unpacked(const std::string& bytes, const UnpackLimits& limits = {}) {
    std::istringstream input(bytes);
    return read_unpacked(input, "t.csv.gz", limits);
}

std::string refusal(const std::string& bytes, const UnpackLimits& limits = {}) {
    try {
        unpacked(bytes, limits);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "";
}

/// Longer than a chunk in both forms.
std::string long_text() {
    std::string text;
    unsigned state = 1;
    for (int i = 0; i < 300'000; ++i) {
        state = state * 1664525u + 1013904223u;
        text += static_cast<char>('!' + (state >> 24) % 90);
    }
    return text;
}

TEST(Unpack, PlainTextStaysAsItIs) {
    EXPECT_EQ(unpacked("a,b\n1,2\n"), "a,b\n1,2\n");
    EXPECT_EQ(unpacked(""), "");
    EXPECT_EQ(unpacked(long_text()), long_text());
}

// "a,b\n1,2\n" through gzip(1) -n: not by our own call of zlib.
TEST(Unpack, ReadsWhatGzipWrote) {
    const std::string file(
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b\xd4\x49\xe2\x32\xd4\x31\xe2\x02\x00\x7b\x07\x97\x0a"
        "\x08\x00\x00\x00",
        28);
    // The checksum at the end is that of the text, so a wrong constant above would show.
    EXPECT_EQ(gzip("a,b\n1,2\n").substr(10), file.substr(10));
    EXPECT_EQ(unpacked(file), "a,b\n1,2\n");
}

TEST(Unpack, LongTextAndSeveralMembersComeBackWhole) {
    EXPECT_EQ(unpacked(gzip(long_text())), long_text());
    EXPECT_EQ(unpacked(gzip("a,b\n") + gzip("1,2\n")), "a,b\n1,2\n");
}

TEST(Unpack, TruncatedAnywhereIsRefused) {
    const std::string whole = gzip("a,b\n1,2\n3,4\n");
    for (std::size_t size = 2; size < whole.size(); ++size)
        EXPECT_THAT(refusal(whole.substr(0, size)), HasSubstr("cut off")) << size;
    EXPECT_THAT(refusal(gzip(long_text()).substr(0, 150'000)), HasSubstr("cut off"));
}

TEST(Unpack, DamageAndRubbishBehindTheEndAreRefused) {
    std::string damaged = gzip(long_text());
    damaged[damaged.size() - 6] = static_cast<char>(damaged[damaged.size() - 6] ^ 1);  // in the checksum
    EXPECT_THAT(refusal(damaged), HasSubstr("'t.csv.gz': it is damaged"));
    EXPECT_THAT(refusal(gzip("a,b\n") + "rubbish"), HasSubstr("it is damaged"));
}

TEST(Unpack, ABombIsRefusedBeforeItGrows) {
    // Zeros pack 1000 to 1: 16 MB of them in 16 KB.
    EXPECT_THAT(refusal(gzip(std::string(std::size_t{1} << 24, '0'))), HasSubstr("more than 200 times its size"));
    EXPECT_EQ(unpacked(gzip(std::string(1'000'000, '0'))).size(), 1'000'000u);  // within the free bytes
}

TEST(Unpack, NothingGrowsBeyondTheMostBytes) {
    const UnpackLimits limits{.most_bytes = 1000};
    EXPECT_EQ(unpacked(std::string(1000, 'x'), limits).size(), 1000u);
    EXPECT_THAT(refusal(std::string(1001, 'x'), limits), HasSubstr("more than 1000 bytes"));
    EXPECT_EQ(unpacked(gzip(std::string(1000, 'x')), limits).size(), 1000u);
    EXPECT_THAT(refusal(gzip(std::string(1001, 'x')), limits), HasSubstr("more than 1000 bytes"));
}

}  // namespace
}  // namespace joulecast
