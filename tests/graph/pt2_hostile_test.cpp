#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/pt2_program_text.h"
#include "tests/graph/zip_of.h"

namespace joulecast {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using namespace testing;

const std::string source = JOULECAST_SOURCE_DIR;

std::string file_content(const std::string& path) {
    std::ifstream file(source + "/" + path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(HostilePt2, AnotherSchemaSaysToReExport) {
    json program = small_program();
    program["schema_version"]["major"] = 7;
    EXPECT_THAT(failure(program), AllOf(HasSubstr("net.pt2"), HasSubstr("schema version is 7"),
                                        HasSubstr("re-export with torch >= 2.6")));
    program["schema_version"] = {{"major", 8}, {"minor", 4000}};
    EXPECT_EQ(read(program).nodes.size(), 1);
    program.erase("schema_version");
    EXPECT_THAT(failure(program), HasSubstr("no schema_version"));
}

TEST(HostilePt2, TruncatedAnywhereIsAFormatError) {
    const std::string whole = file_content("zoo/resnet18.pt2");
    ASSERT_GT(whole.size(), 1000);
    for (std::size_t length = 0; length < whole.size(); length += 1 + length / 40) {
        const std::string part = whole.substr(0, length);
        EXPECT_THROW(read_pt2(bytes_of(part), "part.pt2"), FormatError) << length;
    }
}

TEST(HostilePt2, MutatedBytesGiveAGraphOrAnError) {
    const std::string whole = file_content("zoo/alexnet.pt2");
    std::mt19937 random(1);
    std::size_t refused = 0;
    for (int trial = 0; trial < 400; ++trial) {
        std::string mutated = whole;
        for (int i = 0; i < 4; ++i) mutated[random() % mutated.size()] = static_cast<char>(random());
        try {
            read_pt2(bytes_of(mutated), "mutated.pt2");
        } catch (const Error&) {
            ++refused;
        }
    }
    EXPECT_GT(refused, 300);  // deflated entries have a checksum
}

TEST(HostilePt2, MutatedJsonGivesAGraphOrAnError) {
    const std::string whole = small_program().dump();
    std::mt19937 random(2);
    const std::string alphabet = "0129-{}[]\",:.eENaIs \\\n";
    for (int trial = 0; trial < 4000; ++trial) {
        std::string mutated = whole;
        for (int i = 0; i < 3; ++i) mutated[random() % mutated.size()] = alphabet[random() % alphabet.size()];
        try {
            read_text(mutated);
        } catch (const Error&) {
            continue;
        }
    }
}

TEST(HostilePt2, EveryValueOfAnyOtherKindGivesAGraphOrAnError) {
    const json whole = small_program();
    const std::vector<json> others{
        nullptr, true, -1, 1e300, "text", json::array(), json::object(), json{{"as_int", -5}}, 18446744073709551615U};
    const json flat = whole.flatten();
    for (const auto& [pointer, value] : flat.items()) {
        for (const json& other : others) {
            json changed = whole;
            changed[json::json_pointer(pointer)] = other;
            try {
                read(changed);
            } catch (const Error&) {
                continue;
            }
        }
    }
}

TEST(HostilePt2, DeepNestingIsRefused) {
    const std::string deep(100'000, '[');
    EXPECT_THAT(failure([&] { read_text(deep); }), HasSubstr("net.pt2"));
    const std::string balanced = std::string(2000, '[') + std::string(2000, ']');
    std::string text = small_program().dump();
    text.replace(text.find("\"metadata\":{}"), 13, "\"metadata\":{\"x\":" + balanced + "}");
    EXPECT_THAT(failure([&] { read_text(text); }), HasSubstr("JSON"));
    json program = small_program();
    std::string nested = "s77";
    for (int i = 0; i < 100'000; ++i) nested = "(" + nested;
    tensors_of(program)["x"] = tensor({expression(nested, 2), 4}, {4, 1});
    EXPECT_THAT(failure(program), HasSubstr("net.pt2"));
}

TEST(HostilePt2, AZipBombIsStoppedWhileUnpacking) {
    // Deflate packs spaces 1000 times: 64 MB come out of 64 kB.
    const std::string bomb = zip_of({{"net/models/model.json", std::string(std::size_t{64} << 20, ' ')}}, true);
    ASSERT_LT(bomb.size(), 100'000);
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(bomb), "bomb.pt2"); }), HasSubstr("zip bomb"));
}

TEST(HostilePt2, ADeclaredSizeIsNotBelieved) {
    const std::string model = small_program().dump();
    const std::string whole = zip_of({{"net/models/model.json", model}});
    // The central directory entry begins with PK\1\2; packed and unpacked size stand at 20 and 24.
    const std::size_t entry = whole.find("PK\x01\x02");
    ASSERT_NE(entry, std::string::npos);
    for (const std::size_t field : {20, 24}) {
        for (const char byte : {'\x7f', '\xfe'}) {
            std::string lying = whole;
            for (std::size_t i = 0; i < 4; ++i) lying[entry + field + i] = byte;
            try {
                EXPECT_EQ(read_pt2(bytes_of(lying), "lying.pt2").nodes.size(), 1);
            } catch (const FormatError&) {
                continue;
            }
        }
    }
}

TEST(HostilePt2, WhatIsNoExportedProgramSaysWhatToWrite) {
    EXPECT_THAT(failure([] { read_pt2(bytes_of("not a zip"), "x.pt2"); }), HasSubstr("not a whole zip archive"));
    const std::string state = zip_of({{"archive/data.pkl", "x"}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(state), "x.pt2"); }), HasSubstr("torch.export.save"));
    const std::string two = zip_of({{"a/models/b.json", "{}"}, {"a/models/c.json", "{}"}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(two), "x.pt2"); }), HasSubstr("several models"));
    EXPECT_THAT(failure([] { read_pt2(std::filesystem::path("/nowhere/x.pt2")); }), HasSubstr("no such file"));
    EXPECT_THAT(failure([] { read_pt2(std::filesystem::path("/")); }), HasSubstr("not a file"));
}

}  // namespace
}  // namespace joulecast
