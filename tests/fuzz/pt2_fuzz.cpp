// Input: a .pt2 file, or, if it begins with '{', the model JSON inside of one: mutations of a zip seldom get past its
// checksums, so the JSON is wrapped here.
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/graph/record.h"
#include "joulecast/worker/protocol.h"

namespace {

void append(std::string& bytes, std::uint32_t value, int width) {
    for (int i = 0; i < width; ++i) bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
}

std::uint32_t crc32(std::string_view text) {
    static const auto table = [] {
        std::array<std::uint32_t, 256> entries{};
        for (std::uint32_t i = 0; i < entries.size(); ++i) {
            entries[i] = i;
            for (int bit = 0; bit < 8; ++bit)
                entries[i] = (entries[i] >> 1U) ^ ((entries[i] & 1U) != 0 ? 0xEDB88320U : 0U);
        }
        return entries;
    }();
    std::uint32_t crc = 0xFFFFFFFFU;
    for (const char c : text) crc = table[(crc ^ static_cast<std::uint8_t>(c)) & 0xFFU] ^ (crc >> 8U);
    return ~crc;
}

/// A zip with the one entry, stored (APPNOTE.TXT 4.3: local header, data, central directory, its end).
std::string zip_with(std::string_view model) {
    const std::string name = "net/models/model.json";
    const auto size = static_cast<std::uint32_t>(model.size());
    std::string common;  // version, flags, method, time, date, checksum, sizes, lengths of name and extra field
    for (const std::uint32_t field : {20U, 0U, 0U, 0U, 0x21U}) append(common, field, 2);
    for (const std::uint32_t field : {crc32(model), size, size}) append(common, field, 4);
    append(common, static_cast<std::uint32_t>(name.size()), 2);
    append(common, 0, 2);
    std::string zip = "PK\x03\x04" + common + name;
    zip += model;
    const auto directory = static_cast<std::uint32_t>(zip.size());
    zip += "PK\x01\x02";
    append(zip, 20, 2);
    zip += common;
    for (const int width : {2, 2, 2, 4, 4}) append(zip, 0, width);
    zip += name;
    const auto length = static_cast<std::uint32_t>(zip.size()) - directory;
    zip += "PK\x05\x06";
    for (const std::uint32_t field : {0U, 0U, 1U, 1U}) append(zip, field, 2);
    append(zip, length, 4);
    append(zip, directory, 4);
    append(zip, 0, 2);
    return zip;
}

/// What is accepted must also be usable: counted, written and read back.
void use(const joulecast::Graph& graph) {
    for (const auto& [operation, count] : joulecast::count_operations(graph)) joulecast::forward_counts(operation);
    const std::string json = joulecast::protocol::graph_to_json(graph);
    joulecast::protocol::graph_from_json(json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const std::string zip = text.starts_with('{') ? zip_with(text) : std::string(text);
    try {
        use(joulecast::read_pt2(std::as_bytes(std::span(zip)), "fuzz.pt2", {{"u0", 4}}));
    } catch (const joulecast::Error&) {
        return 0;
    }
    return 0;
}
