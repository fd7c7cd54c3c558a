#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "joulecast/error.h"
#include "joulecast/graph/autocast.h"
#include "joulecast/graph/fp8.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "tests/graph/pt2_program_text.h"
#include "tests/graph/stored_zip.h"
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

/// A file read, and what is made of it before a forecast: nothing but an Error may come of that.
void read_and_use(const json& program) {
    try {
        const Graph graph = read(program);
        for (const Node& node : to_training(graph).nodes) total_counts(node.operation);
        for (const auto& [operation, count] : count_operations(autocast(graph, Dtype::bf16, AutocastDevice::cuda)))
            family(operation);
        with_fp8_linears(with_dtype(graph, Dtype::bf16));
    } catch (const Error&) {
        return;
    }
}

/// A layer of a transformer, decomposed: views, transposed weights and products that folding puts together again.
json decomposed_layer() {
    return json::parse(file_content("tests/fuzz/corpus/pt2/folded.json"));
}

TEST(HostilePt2, ADecomposedLayerWithoutOneOfItsArgumentsGivesAGraphOrAnError) {
    json program = decomposed_layer();
    ASSERT_GT(read(program).nodes.size(), 10);
    for (json& node : graph_of(program)["nodes"]) {
        const json inputs = node["inputs"];
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            json tensors = json::array();
            if (inputs[i]["arg"].contains("as_tensor")) tensors.push_back(inputs[i]["arg"]["as_tensor"]);
            for (const json& other : {json{{"as_none", true}}, json{{"as_tensors", tensors}},
                                      json{{"as_ints", {INT64_MAX, INT64_MIN, 0}}}}) {
                node["inputs"][i]["arg"] = other;
                read_and_use(program);
            }
            node["inputs"] = inputs;
        }
    }
}

TEST(HostilePt2, ADecomposedLayerWithATensorOfAnotherRankGivesAGraphOrAnError) {
    json program = decomposed_layer();
    for (json& described : tensors_of(program)) {
        const json before = described;
        for (const std::vector<json>& sizes : {std::vector<json>{}, {4}, {2, 3, 4, 5}}) {
            described = tensor(sizes, {});
            described.erase("strides");
            read_and_use(program);
        }
        described = before;
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

TEST(HostilePt2, NamesWithNulBytesAndOfAMegabyteAreShownShort) {
    for (const std::string& name : {std::string("a\0b\n", 4), std::string(1U << 20U, 'n')}) {
        json program = small_program();
        node_of(program)["inputs"][0] = argument("self", tensor_argument(name));
        EXPECT_THAT(failure(program), AllOf(HasSubstr("node 0"), HasSubstr("is not among tensor_values")))
            << name.size();
        EXPECT_LT(failure(program).size(), 1000);
        // As the name of a tensor that is there it is as good as any.
        tensors_of(program)[name] = tensors_of(program)["x"];
        graph_of(program)["inputs"] = json::array({tensor_argument(name)});
        EXPECT_EQ(only_signature(read(program)), "aten::relu(self=f32[2,4])");
        program = small_program();
        node_of(program)["target"] = name;
        EXPECT_LT(failure(program).size(), 1000);
    }
}

TEST(HostilePt2, OfAKeyGivenTwiceOneHolds) {
    std::string text = small_program().dump();
    const std::string other = R"("relu":{"dtype":7,"layout":7,"sizes":[{"as_int":9}],"strides":[{"as_int":1}]},)";
    text.insert(text.find("\"relu\":{"), other);
    const Graph graph = read_text(text);
    EXPECT_TRUE(graph.nodes[0].outputs[0].sizes == (Integers{2, 4}) ||
                graph.nodes[0].outputs[0].sizes == (Integers{9}));
}

TEST(HostilePt2, ACycleCannotBeWritten) {
    // Two nodes that feed each other: the first uses what only the second makes.
    json program = small_program();
    json second = node_of(program);
    second["inputs"] = json::array({argument("self", tensor_argument("relu"))});
    second["outputs"] = json::array({tensor_argument("back")});
    node_of(program)["inputs"] = json::array({argument("self", tensor_argument("back"))});
    graph_of(program)["nodes"].push_back(second);
    tensors_of(program)["back"] = tensors_of(program)["x"];
    EXPECT_THAT(failure(program), AllOf(HasSubstr("node 0"), HasSubstr("nothing before makes it")));
}

/// The archive with its directory 5 GB further on, as zip64 writes it; the file is sparse.
void write_beyond_4_gb(const std::filesystem::path& path, const std::string& name, const std::string& content) {
    const std::string zip = testing::stored_zip(name, content);
    const std::size_t directory = zip.find("PK\x01\x02");
    const std::size_t end = zip.find("PK\x05\x06");
    constexpr std::uint64_t start = std::uint64_t{5} << 30U;
    const auto append64 = [](std::string& bytes, std::uint64_t value) {
        testing::append(bytes, static_cast<std::uint32_t>(value), 4);
        testing::append(bytes, static_cast<std::uint32_t>(value >> 32U), 4);
    };
    std::string entry = zip.substr(directory, end - directory);
    // Length of the extra field stands at 30, the offset of the local header at 42: all ones, so that zip64's holds.
    entry[30] = 12;
    for (std::size_t i = 42; i < 46; ++i) entry[i] = '\xff';
    testing::append(entry, 1, 2);
    testing::append(entry, 8, 2);
    append64(entry, start);
    const std::string local = zip.substr(0, directory);
    std::string closing = "PK\x06\x06";
    append64(closing, 44);
    testing::append(closing, 45, 2);
    testing::append(closing, 45, 2);
    append64(closing, 0);
    append64(closing, 1);
    append64(closing, 1);
    append64(closing, entry.size());
    append64(closing, start + local.size());
    closing += "PK\x06\x07";
    testing::append(closing, 0, 4);
    append64(closing, start + local.size() + entry.size());
    testing::append(closing, 1, 4);
    closing += "PK\x05\x06";
    for (int i = 0; i < 4; ++i) testing::append(closing, i < 2 ? 0 : 1, 2);
    testing::append(closing, static_cast<std::uint32_t>(entry.size()), 4);
    testing::append(closing, 0xFFFFFFFFU, 4);
    testing::append(closing, 0, 2);
    std::ofstream file(path, std::ios::binary);
    file.seekp(static_cast<std::streamoff>(start));
    file << local << entry << closing;
}

TEST(HostilePt2, OffsetsBeyond4GigabytesAreRead) {
    const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "beyond_4_gb.pt2";
    write_beyond_4_gb(path, "net/models/model.json", small_program().dump());
    EXPECT_GT(std::filesystem::file_size(path), std::uint64_t{5} << 30U);
    EXPECT_EQ(only_signature(read_pt2(path)), "aten::relu(self=f32[2,4])");
    std::filesystem::remove(path);
}

TEST(HostilePt2, EntriesThatOverlapGiveAGraphOrAnError) {
    const std::string one = zip_of({{"net/models/model.json", small_program().dump()}, {"net/other.json", "{}"}});
    // The second entry's local header (offset at 42 of its directory entry) is said to be the first's.
    const std::size_t second = one.find("PK\x01\x02", one.find("PK\x01\x02") + 4);
    ASSERT_NE(second, std::string::npos);
    std::string overlapping = one;
    for (std::size_t i = 42; i < 46; ++i) overlapping[second + i] = '\0';
    try {
        EXPECT_EQ(read_pt2(bytes_of(overlapping), "x.pt2").nodes.size(), 1);
    } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), HasSubstr("x.pt2"));
    }
}

TEST(HostilePt2, AZipBombIsStoppedWhileUnpacking) {
    // Deflate packs spaces 1000 times: 64 MB come out of 64 kB.
    const std::string bomb = zip_of({{"net/models/model.json", std::string(std::size_t{64} << 20, ' ')}}, true);
    ASSERT_LT(bomb.size(), 100'000);
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(bomb), "bomb.pt2"); }), HasSubstr("zip bomb"));
}

// 120 MB of them took 1.8 GB.
TEST(HostilePt2, MoreValuesThanAModelHasAreRefused) {
    std::string many = R"({"a":[0)";
    for (int i = 0; i < 8'000'000; ++i) many += ",0";
    const std::string file = zip_of({{"net/models/model.json", many + "]}"}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(file), "many.pt2"); }), HasSubstr("more than 8 million values"));
    const std::string large = zip_of({{"net/models/model.json", std::string((std::size_t{64} << 20U) + 1, ' ')}});
    EXPECT_THAT(failure([&] { read_pt2(bytes_of(large), "large.pt2"); }), HasSubstr("unpacks to more than 64 MB"));
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
