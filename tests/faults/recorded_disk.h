#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

struct sqlite3_vfs;

namespace joulecast::testing {

/// While it lives, what SQLite changes on the disk goes through here: it can be made to fail, and is kept in the order
/// in which it came, so that a loss of power can be replayed. One at a time.
class RecordedDisk {
  public:
    enum class Kind { write, truncate, sync, remove };
    struct Change {
        Kind kind;
        std::string file;
        std::int64_t offset = 0;  ///< of a write; of a truncation, the new size
        std::string bytes;
        bool is_lasting = false;  ///< of a removal: the folder was synced
    };
    RecordedDisk();
    ~RecordedDisk();
    RecordedDisk(const RecordedDisk&) = delete;
    RecordedDisk& operator=(const RecordedDisk&) = delete;

    static RecordedDisk& running();
    /// The nth change from here on fails, from 1, and where it lasts all after it; 0: none.
    void fail(std::int64_t nth, bool lasts = false);
    bool has_failed() const { return failed_; }

    const std::vector<Change>& changes() const { return changes_; }
    /// For the calls of SQLite: whether that change fails; else it is kept.
    bool fails(Change change);
    sqlite3_vfs* below() const { return below_; }

  private:
    std::unique_ptr<sqlite3_vfs> ours_;
    sqlite3_vfs* below_ = nullptr;
    std::vector<Change> changes_;
    std::int64_t left_ = 0;
    bool lasts_ = false;
    bool failed_ = false;
};

/// The files, by name, after these changes and a loss of power: of what no sync had brought to the disk each sector of
/// 512 bytes may be there or not.
std::map<std::string, std::string> after_loss(std::span<const RecordedDisk::Change> changes, std::mt19937& random);

/// As FailingAllocation, of the changes of the recorded disk.
class FailingChange {
  public:
    explicit FailingChange(std::int64_t nth, bool lasts = false)
        : disk_(RecordedDisk::running()), before_(disk_.changes().size()) {
        disk_.fail(nth, lasts);
    }
    ~FailingChange() { disk_.fail(0); }
    FailingChange(const FailingChange&) = delete;
    FailingChange& operator=(const FailingChange&) = delete;

    bool has_failed() {
        const bool failed = disk_.has_failed();
        disk_.fail(0);
        return failed;
    }
    std::int64_t asked() const { return static_cast<std::int64_t>(disk_.changes().size() - before_); }

  private:
    RecordedDisk& disk_;
    std::size_t before_;
};

}  // namespace joulecast::testing
