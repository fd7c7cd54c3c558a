#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/units/replaced_file.h"

namespace joulecast::testing {

/// Asks the system, and keeps what was asked; the `failing`-th call fails instead, from 1.
class RecordedCalls final : public FileCalls {
  public:
    enum class Kind { create, write, sync_file, sync_folder, close, rename, remove };
    struct Call {
        Kind kind;
        int file = -1;
        std::string path;  ///< of a rename, where to
        std::string from;
        std::string bytes;
    };

    explicit RecordedCalls(std::size_t failing = 0, int code = ENOSPC) : failing_(failing), code_(code) {}

    const std::vector<Call>& calls() const { return calls_; }
    bool has_failed() const { return failing_ > 0 && calls_.size() >= failing_; }

    int create(const std::filesystem::path& path) override {
        if (fails({Kind::create, -1, path, "", ""})) return -1;
        return calls_.back().file = FileCalls::create(path);
    }
    int open_folder(const std::filesystem::path& path) override {
        const int file = FileCalls::open_folder(path);
        folders_.insert(file);
        return file;
    }
    std::ptrdiff_t write(int file, const char* bytes, std::size_t count) override {
        count = std::min<std::size_t>(count, 700);  // the system may take less than all
        if (fails({Kind::write, file, "", "", std::string(bytes, count)})) return -1;
        return FileCalls::write(file, bytes, count);
    }
    int sync(int file) override {
        const Kind kind = folders_.contains(file) ? Kind::sync_folder : Kind::sync_file;
        return fails({kind, file, "", "", ""}) ? -1 : FileCalls::sync(file);
    }
    int close(int file) override {
        const bool is_folder = folders_.erase(file) > 0;
        const int result = FileCalls::close(file);
        return !is_folder && fails({Kind::close, file, "", "", ""}) ? -1 : result;
    }
    int rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
        return fails({Kind::rename, -1, to, from, ""}) ? -1 : FileCalls::rename(from, to);
    }
    int remove(const std::filesystem::path& path) override {
        return fails({Kind::remove, -1, path, "", ""}) ? -1 : FileCalls::remove(path);
    }

  private:
    bool fails(Call call) {
        calls_.push_back(std::move(call));
        errno = code_;
        return calls_.size() == failing_;
    }

    std::size_t failing_;
    int code_;
    std::vector<Call> calls_;
    std::set<int> folders_;
};

/// What the disk holds under the name after the first calls and a loss of power: of what no sync had brought there, any
/// part may have come, in any order.
inline std::string after_loss(const std::vector<RecordedCalls::Call>& calls, std::size_t first, const std::string& name,
                              const std::string& before, std::mt19937& random) {
    using Kind = RecordedCalls::Kind;
    struct Content {
        std::string synced, written;
    };
    std::map<std::string, Content> contents = {{"before", {before, before}}};
    std::map<int, std::string> files;                            // which content an open file has
    std::map<std::string, std::string> names{{name, "before"}};  // as the disk has them
    std::map<std::string, std::string> names_now = names;
    std::vector<std::pair<std::string, std::string>> unsynced;  // names and what they became; empty: nothing
    const auto now = [&](const std::string& path, const std::string& content) {
        names_now[path] = content;
        unsynced.emplace_back(path, content);
    };
    for (std::size_t i = 0; i < first; ++i) {
        const RecordedCalls::Call& call = calls[i];
        if (call.kind == Kind::create) now(call.path, files[call.file] = call.path);
        if (call.kind == Kind::write) contents[files.at(call.file)].written += call.bytes;
        if (call.kind == Kind::sync_file) contents[files.at(call.file)].synced = contents[files.at(call.file)].written;
        if (call.kind == Kind::rename) {
            now(call.path, names_now.at(call.from));
            now(call.from, "");
        }
        if (call.kind == Kind::remove) now(call.path, "");
        if (call.kind == Kind::sync_folder) {
            names = names_now;
            unsynced.clear();
        }
    }
    for (const auto& [path, content] : unsynced)
        if (random() % 2 == 0) names[path] = content;
    const Content& left = contents[names[name]];
    return left.written.substr(0, left.synced.size() + random() % (left.written.size() - left.synced.size() + 1));
}

}  // namespace joulecast::testing
