#pragma once

#include <zip.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace joulecast::testing {

/// A zip archive in memory, entries stored or deflated.
inline std::string zip_of(const std::vector<std::pair<std::string, std::string>>& entries, bool deflated = false) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* archive = zip_source_buffer_create(nullptr, 0, 0, &error);
    zip_source_keep(archive);
    zip_t* zip = zip_open_from_source(archive, ZIP_TRUNCATE, &error);
    for (const auto& [name, content] : entries) {
        zip_source_t* source = zip_source_buffer(zip, content.data(), content.size(), 0);
        const zip_int64_t index = zip_file_add(zip, name.c_str(), source, ZIP_FL_ENC_UTF_8);
        zip_set_file_compression(zip, static_cast<zip_uint64_t>(index), deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 0);
    }
    if (zip_close(zip) != 0) throw std::runtime_error("cannot write a zip");
    zip_source_open(archive);
    zip_source_seek(archive, 0, SEEK_END);
    std::string bytes(static_cast<std::size_t>(zip_source_tell(archive)), '\0');
    zip_source_seek(archive, 0, SEEK_SET);
    zip_source_read(archive, bytes.data(), bytes.size());
    zip_source_close(archive);
    zip_source_free(archive);
    return bytes;
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
}

}  // namespace joulecast::testing
