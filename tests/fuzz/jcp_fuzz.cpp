#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "joulecast/error.h"
#include "joulecast/forecast/forecast_network.h"
#include "joulecast/model/bytes.h"
#include "joulecast/model/jcp.h"

namespace {

/// Sets the checksums right, so that the fuzzer gets past them to what they protect.
std::vector<std::byte> with_checksums(std::span<const std::byte> bytes) {
    std::vector<std::byte> fixed(bytes.begin(), bytes.end());
    std::size_t at = 16;  // magic, version, number of sections
    while (fixed.size() >= at + 16) {
        joulecast::ByteReader head(std::span(fixed).subspan(at + 4, 8), "section");
        const auto length = head.number<std::uint64_t>();
        if (length > fixed.size() - at - 16) break;
        joulecast::ByteWriter crc;
        crc.number(joulecast::checksum(std::span(fixed).subspan(at + 16, static_cast<std::size_t>(length))));
        std::copy(crc.bytes().begin(), crc.bytes().end(), fixed.begin() + static_cast<std::ptrdiff_t>(at) + 12);
        at += 16 + static_cast<std::size_t>(length);
    }
    return fixed;
}

/// Whatever was accepted must be writable again and forecast without harm.
void use(const joulecast::Predictor& predictor) {
    if (joulecast::to_jcp(joulecast::from_jcp(joulecast::to_jcp(predictor), "again")) != joulecast::to_jcp(predictor)) {
        std::abort();
    }
    const auto columns = joulecast::columns(predictor);
    for (const auto& device : predictor.devices) {
        for (const char* text : {"aten::conv2d(input=f32[1,8,9,9], weight=f32[4,8,3,3])", "aten::relu(self=f32[8]~)"}) {
            const auto operation = joulecast::prepare(joulecast::parse_operation(text), device);
            joulecast::forecast_operation(device, columns, operation, {});
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    for (const auto& input : {std::vector<std::byte>(bytes.begin(), bytes.end()), with_checksums(bytes)}) {
        try {
            use(joulecast::from_jcp(input, "fuzz"));
        } catch (const joulecast::Error&) {
            // Refused, as it should be.
        }
    }
    return 0;
}
