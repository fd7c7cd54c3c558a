#include "joulecast/graph/readers/onnx_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "joulecast/error.h"

namespace joulecast::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

/// The message of the FormatError that walking over all fields, reading those that are texts, throws.
std::string failure(const std::string& bytes, bool reads = false) {
    Source source(bytes_of(bytes), "x");
    try {
        for (Fields fields(source, {0, bytes.size()}); fields.next();)
            if (reads) fields.text();
    } catch (const FormatError& error) {
        return error.what();
    }
    return "nothing was thrown";
}

TEST(OnnxWire, ReadsEveryFormOfField) {
    // 1: varint 300 = 0xAC 0x02; 2: text "ab"; 3: float 1.5 = 0x3FC00000; 4: double 2.0; 5: -1 as 64 bits.
    const std::string bytes(
        "\x08\xAC\x02\x12\x02"
        "ab\x1D\x00\x00\xC0\x3F\x21\x00\x00\x00\x00\x00\x00\x00\x40"
        "\x28\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01",
        32);
    Source source(bytes_of(bytes), "x");
    Fields fields(source, {0, bytes.size()});
    ASSERT_TRUE(fields.next());
    EXPECT_EQ(fields.integer(), 300);
    ASSERT_TRUE(fields.next());
    EXPECT_EQ(fields.text(), "ab");
    ASSERT_TRUE(fields.next());
    EXPECT_EQ(fields.real(), 1.5);
    ASSERT_TRUE(fields.next());
    EXPECT_EQ(fields.real(), 2.0);
    ASSERT_TRUE(fields.next());
    EXPECT_EQ(fields.integer(), -1);
    EXPECT_EQ(fields.number(), 5);
    EXPECT_FALSE(fields.next());
}

TEST(OnnxWire, RepeatedNumbersComePackedOrOneByOne) {
    const std::string bytes("\x0A\x03\x01\xAC\x02\x08\x05", 7);
    Source source(bytes_of(bytes), "x");
    Integers numbers;
    for (Fields fields(source, {0, bytes.size()}); fields.next();) fields.append_integers(numbers, 3);
    EXPECT_THAT(numbers, ElementsAre(1, 300, 5));
    Fields fields(source, {0, bytes.size()});
    fields.next();
    numbers.clear();
    EXPECT_THROW(fields.append_integers(numbers, 1), FormatError);
}

TEST(OnnxWire, WhatIsCutOffOrOverlongIsRefused) {
    EXPECT_THAT(failure("\x08"), HasSubstr("cut off"));
    EXPECT_THAT(failure("\x08\xFF"), HasSubstr("cut off"));
    EXPECT_THAT(failure("\x08" + std::string(10, '\xFF')), HasSubstr("more than 64 bits"));
    EXPECT_THAT(failure("\x12\x05"
                        "ab"),
                HasSubstr("longer than what holds it"));
    EXPECT_THAT(failure("\x12\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"), HasSubstr("longer than what holds it"));
    EXPECT_THAT(failure("\x1D"
                        "ab"),
                HasSubstr("longer than what holds it"));
    EXPECT_THAT(failure("\x0B"), HasSubstr("unknown form"));  // a group
    EXPECT_THAT(failure(std::string("\x00", 1)), HasSubstr("there is no field"));
}

TEST(OnnxWire, NamesAreUtf8WithoutNul) {
    EXPECT_EQ(failure("\x12\x02"
                      "\xC3\xA9",
                      true),
              "nothing was thrown");  // é
    EXPECT_THAT(failure(std::string("\x12\x03"
                                    "a\0b",
                                    5),
                        true),
                HasSubstr("NUL"));
    EXPECT_THAT(failure("\x12\x01\xC3", true), HasSubstr("UTF-8"));          // cut in the middle of a character
    EXPECT_THAT(failure("\x12\x02\xC0\x80", true), HasSubstr("UTF-8"));      // NUL, overlong
    EXPECT_THAT(failure("\x12\x03\xED\xA0\x80", true), HasSubstr("UTF-8"));  // a surrogate
    EXPECT_THAT(failure("\x12\x04\xF4\x90\x80\x80", true), HasSubstr("UTF-8"));
}

TEST(OnnxWire, NamesOfMoreThanOneMegabyteAreRefused) {
    const auto named = [](std::size_t length) {
        std::string bytes = "\x12";
        for (std::size_t rest = length; true; rest >>= 7U) {
            bytes += static_cast<char>((rest & 0x7FU) | (rest < 0x80 ? 0U : 0x80U));
            if (rest < 0x80) break;
        }
        return bytes + std::string(length, 'a');
    };
    EXPECT_EQ(failure(named(1U << 20U), true), "nothing was thrown");
    EXPECT_THAT(failure(named((1U << 20U) + 1), true), HasSubstr("longer than 1 MB"));
}

/// Weights are skipped by their length: a file whose weights are a hole of 4 GB is read to its end.
TEST(OnnxWire, SkipsWithoutReading) {
    const std::string path = ::testing::TempDir() + "hole.onnx";
    constexpr std::uint64_t hole = std::uint64_t{4} << 30U;
    {
        std::ofstream file(path, std::ios::binary);
        file << std::string("\x12\x80\x80\x80\x80\x10", 6);  // 16 * 2^28 = 2^32 bytes
        file.seekp(static_cast<std::streamoff>(6 + hole));
        file << std::string("\x08\x07", 2);
    }
    Source source{std::filesystem::path(path)};
    Fields fields(source, {0, source.size()});
    ASSERT_TRUE(fields.next());
    EXPECT_EQ(fields.payload().length, hole);
    ASSERT_TRUE(fields.next());
    EXPECT_EQ(fields.integer(), 7);
    EXPECT_FALSE(fields.next());
    std::filesystem::remove(path);
}

TEST(OnnxWire, FloatsReadAsTheyWereWritten) {
    EXPECT_EQ(decimal_of(1e-5F), 1e-5);  // as a double it is 9.99999974737875163e-06
    EXPECT_EQ(decimal_of(0.1F), 0.1);
    EXPECT_EQ(decimal_of(0.5F), 0.5);
    EXPECT_TRUE(decimal_of(std::numeric_limits<float>::infinity()) > 1e308);
}

TEST(OnnxWire, AMissingFileIsNamed) {
    try {
        Source source{std::filesystem::path("/nowhere/net.onnx")};
        FAIL();
    } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("/nowhere/net.onnx: there is no such file"));
    }
}

}  // namespace
}  // namespace joulecast::onnx
