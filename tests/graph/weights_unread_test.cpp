// A model of 1 GB is read like one of 1 kB: the weights are holes in sparse files here, and the system counts the bytes
// that are asked of it.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "joulecast/graph/readers/read_graph.h"
#include "tests/graph/stored_zip.h"

namespace joulecast {
namespace {

constexpr std::uint32_t gigabyte = 1U << 30U;
/// Buffers, directories and the model itself.
constexpr std::int64_t few_bytes = 1 << 20;

/// Bytes this process has asked the system to read (man 5 proc).
std::int64_t bytes_read() {
    std::ifstream io("/proc/self/io");
    std::string key;
    std::int64_t value = -1;
    io >> key >> value;
    return key == "rchar:" ? value : -1;
}

std::int64_t peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
}

class SparseModel : public ::testing::Test {
  protected:
    void TearDown() override { std::filesystem::remove(path_); }

    /// Reads it and checks what that took.
    Graph read(const std::string& suffix) {
        std::filesystem::rename(path_, path_ + suffix);
        path_ += suffix;
        EXPECT_GE(std::filesystem::file_size(path_), gigabyte);
        const std::int64_t read_before = bytes_read();
        const std::int64_t peak_before = peak_bytes();
        Graph graph = open_model(path_, "");
        if (read_before >= 0) {
            EXPECT_LT(bytes_read() - read_before, few_bytes);
        }
        EXPECT_LT(peak_bytes() - peak_before, std::int64_t{64} << 20U);
        return graph;
    }

    std::string path_ =
        ::testing::TempDir() + "joulecast_sparse_" + ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

/// Local file header and, after "PK\1\2" and a version, directory entry of a stored file.
std::string zip_fields(const std::string& name, std::uint32_t checksum, std::uint32_t size) {
    std::string fields;
    for (const std::uint32_t field : {20U, 0U, 0U, 0U, 0x21U}) testing::append(fields, field, 2);
    for (const std::uint32_t field : {checksum, size, size}) testing::append(fields, field, 4);
    testing::append(fields, static_cast<std::uint32_t>(name.size()), 2);
    testing::append(fields, 0, 2);
    return fields;
}

constexpr const char* program = R"({"schema_version": {"major": 8}, "graph_module": {"graph": {
    "inputs": [{"as_tensor": {"name": "x"}}], "outputs": [{"as_tensor": {"name": "y"}}],
    "nodes": [{"target": "torch.ops.aten.relu.default", "outputs": [{"as_tensor": {"name": "y"}}],
               "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}]}],
    "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_int": 8}]}, "y": {"dtype": 7, "sizes": [{"as_int": 8}]}}},
    "signature": {"input_specs": []}}})";

TEST_F(SparseModel, Pt2) {
    const std::string weights = "net/data/weights/weight_0";
    const std::string model = "net/models/model.json";
    const std::string model_fields =
        zip_fields(model, testing::crc32(program), static_cast<std::uint32_t>(std::string(program).size()));
    const std::string weight_fields = zip_fields(weights, 0, gigabyte);
    {
        std::ofstream file(path_, std::ios::binary);
        file << "PK\x03\x04" << weight_fields << weights;
        file.seekp(gigabyte, std::ios::cur);
        const auto second = static_cast<std::uint32_t>(file.tellp());
        file << "PK\x03\x04" << model_fields << model << program;
        const auto directory = static_cast<std::uint32_t>(file.tellp());
        std::string end;
        for (const auto& [fields, name, offset] :
             {std::tuple(weight_fields, weights, 0U), std::tuple(model_fields, model, second)}) {
            end += "PK\x01\x02";
            testing::append(end, 20, 2);
            end += fields;
            for (const int width : {2, 2, 2, 4}) testing::append(end, 0, width);
            testing::append(end, offset, 4);
            end += name;
        }
        const auto length = static_cast<std::uint32_t>(end.size());
        end += "PK\x05\x06";
        for (const std::uint32_t field : {0U, 0U, 2U, 2U}) testing::append(end, field, 2);
        testing::append(end, length, 4);
        testing::append(end, directory, 4);
        testing::append(end, 0, 2);
        file << end;
    }
    EXPECT_EQ(signature(read(".pt2").nodes.at(0).operation), "aten::relu(self=f32[8])");
}

void append_varint(std::string& bytes, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7fU) | 0x80U);
    bytes += static_cast<char>(value);
}

std::string integer_field(std::uint32_t number, std::uint64_t value) {
    std::string bytes;
    append_varint(bytes, number << 3U);
    append_varint(bytes, value);
    return bytes;
}

/// Key and length of a field whose content follows.
std::string open_field(std::uint32_t number, std::uint64_t length) {
    std::string bytes;
    append_varint(bytes, (number << 3U) | 2U);
    append_varint(bytes, length);
    return bytes;
}

std::string field(std::uint32_t number, const std::string& content) {
    return open_field(number, content.size()) + content;
}

/// A float tensor of 8 (onnx.proto: ValueInfoProto).
std::string value(const std::string& name) {
    const std::string shape = field(1, integer_field(1, 8));
    return field(1, name) + field(2, field(1, integer_field(1, 1) + field(2, shape)));
}

TEST_F(SparseModel, OnnxWithEmbeddedWeights) {
    const std::string relu = field(1, "x") + field(2, "y") + field(4, "Relu");
    const std::string around = field(1, relu) + field(2, "net");
    // An initialiser: dims, FLOAT, name, raw data.
    const std::string weight =
        integer_field(1, gigabyte / 4) + integer_field(2, 1) + field(8, "w") + open_field(9, gigabyte);
    const std::string initialiser = open_field(5, weight.size() + gigabyte) + weight;
    const std::string after = field(11, value("x")) + field(12, value("y"));
    {
        std::ofstream file(path_, std::ios::binary);
        file << integer_field(1, 9) << field(8, integer_field(2, 18))
             << open_field(7, around.size() + initialiser.size() + gigabyte + after.size()) << around << initialiser;
        file.seekp(gigabyte, std::ios::cur);
        file << after;
    }
    EXPECT_EQ(signature(read(".onnx").nodes.at(0).operation), "aten::relu(self=f32[8])");
}

}  // namespace
}  // namespace joulecast
