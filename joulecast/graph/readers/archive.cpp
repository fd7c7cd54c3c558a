#include "joulecast/graph/readers/archive.h"

#include <zip.h>

#include <algorithm>
#include <array>
#include <utility>

#include "joulecast/error.h"

namespace joulecast {
namespace {

/// Entries beyond this are no model: the largest published checkpoints hold some ten thousand tensors.
constexpr zip_int64_t most_entries = 1'000'000;
/// Model JSON deflates 30 to 60 times (measured on the zoo); deflate's own limit is 1032. More than this, and more than
/// `small` bytes, is a bomb.
constexpr std::uint64_t most_expansion = 400;
constexpr std::uint64_t small = 16U << 20U;

std::string text_of(zip_error_t& error) {
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return text;
}

[[noreturn]] void fail(const std::string& file, const std::string& what) {
    throw FormatError("cannot read " + file + ": " + what);
}

struct CloseFile {
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace

struct Archive::Zip {
    zip_t* handle = nullptr;

    Zip() = default;
    Zip(const Zip&) = delete;
    Zip& operator=(const Zip&) = delete;
    ~Zip() {
        if (handle != nullptr) zip_discard(handle);
    }
};

Archive::Archive(const std::filesystem::path& path) : name_(path.string()), zip_(std::make_unique<Zip>()) {
    std::error_code problem;
    const auto status = std::filesystem::status(path, problem);
    if (!std::filesystem::exists(status)) fail(name_, "there is no such file");
    if (!std::filesystem::is_regular_file(status)) fail(name_, "it is not a file");
    archive_bytes_ = std::filesystem::file_size(path, problem);
    if (problem) fail(name_, problem.message());
    int code = 0;
    zip_->handle = zip_open(name_.c_str(), ZIP_RDONLY, &code);
    if (zip_->handle == nullptr) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        fail(name_, "not a whole zip archive (" + text_of(error) + "). Copy or export the file again");
    }
    list_entries();
}

Archive::Archive(std::span<const std::byte> bytes, std::string name)
    : name_(std::move(name)), archive_bytes_(bytes.size()), zip_(std::make_unique<Zip>()) {
    zip_error_t error;
    zip_error_init(&error);
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
    if (source == nullptr) fail(name_, text_of(error));
    zip_->handle = zip_open_from_source(source, ZIP_RDONLY, &error);
    if (zip_->handle == nullptr) {
        zip_source_free(source);
        fail(name_, "not a whole zip archive (" + text_of(error) + "). Copy or export the file again");
    }
    zip_error_fini(&error);
    list_entries();
}

Archive::~Archive() = default;

void Archive::list_entries() {
    const zip_int64_t count = zip_get_num_entries(zip_->handle, 0);
    if (count > most_entries) fail(name_, "it has " + std::to_string(count) + " entries, more than any model");
    for (zip_int64_t i = 0; i < count; ++i) {
        const char* entry = zip_get_name(zip_->handle, static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
        entries_.emplace_back(entry == nullptr ? "" : entry);
    }
}

std::string Archive::read(std::size_t entry, std::size_t most) const {
    const std::string& entry_name = entries_.at(entry);
    zip_stat_t stat;
    if (zip_stat_index(zip_->handle, entry, 0, &stat) != 0) fail(name_, "its directory is damaged");
    const auto method = (stat.valid & ZIP_STAT_COMP_METHOD) != 0 ? stat.comp_method : ZIP_CM_STORE;
    if (method != ZIP_CM_STORE && method != ZIP_CM_DEFLATE)
        fail(name_, entry_name + " is packed by method " + std::to_string(method) + ", not stored or deflated");
    const std::unique_ptr<zip_file_t, CloseFile> file(zip_fopen_index(zip_->handle, entry, 0));
    if (file == nullptr) fail(name_, entry_name + " cannot be opened (" + zip_strerror(zip_->handle) + ")");

    // The declared size is the writer's claim: it neither reserves memory nor ends the loop.
    std::string text;
    std::array<char, 1U << 16U> chunk;
    while (true) {
        const zip_int64_t got = zip_fread(file.get(), chunk.data(), chunk.size());
        if (got < 0) fail(name_, entry_name + " is damaged (" + zip_file_strerror(file.get()) + ")");
        if (got == 0) return text;
        text.append(chunk.data(), static_cast<std::size_t>(got));
        if (text.size() > most)
            fail(name_,
                 entry_name + " unpacks to more than " + std::to_string(most >> 20U) + " MB. No model is that large");
        if (text.size() > small && text.size() / most_expansion > archive_bytes_)
            fail(name_, entry_name + " unpacks to more than " + std::to_string(most_expansion) +
                            " times the file: a zip bomb");
    }
}

}  // namespace joulecast
