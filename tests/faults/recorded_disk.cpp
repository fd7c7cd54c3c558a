#include "tests/faults/recorded_disk.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <set>
#include <stdexcept>
#include <utility>

namespace joulecast::testing {

namespace {

constexpr std::size_t sector_bytes = 512;

RecordedDisk*& disk() {
    static RecordedDisk* running = nullptr;
    return running;
}

/// SQLite allocates as much as we say; the file below lies behind this.
struct File {
    sqlite3_file base;
    char name[256];
    sqlite3_file* below() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

File& of(sqlite3_file* file) {
    return *reinterpret_cast<File*>(file);
}

sqlite3_file* below(sqlite3_file* file) {
    return of(file).below();
}

/// Memory that fails meanwhile must not come out of a call that SQLite made: it is not compiled for exceptions.
bool fails(RecordedDisk::Kind kind, const char* name, std::int64_t offset, std::string_view bytes = {},
           bool lasts = false) {
    try {
        return disk()->fails({kind, name, offset, std::string(bytes), lasts});
    } catch (const std::bad_alloc&) {
        return true;
    }
}

int write(sqlite3_file* file, const void* bytes, int count, sqlite3_int64 offset) {
    const std::string_view written(static_cast<const char*>(bytes), static_cast<std::size_t>(count));
    if (fails(RecordedDisk::Kind::write, of(file).name, offset, written)) return SQLITE_IOERR_WRITE;
    return below(file)->pMethods->xWrite(below(file), bytes, count, offset);
}

int truncate(sqlite3_file* file, sqlite3_int64 size) {
    if (fails(RecordedDisk::Kind::truncate, of(file).name, size)) return SQLITE_IOERR_TRUNCATE;
    return below(file)->pMethods->xTruncate(below(file), size);
}

/// The real one is left out: nobody pulls this machine's plug, and it takes milliseconds.
int sync(sqlite3_file* file, int /*flags*/) {
    return fails(RecordedDisk::Kind::sync, of(file).name, 0) ? SQLITE_IOERR_FSYNC : SQLITE_OK;
}

template <auto Method, class... Arguments>
int passed_on(sqlite3_file* file, Arguments... arguments) {
    return (below(file)->pMethods->*Method)(below(file), arguments...);
}

using Methods = sqlite3_io_methods;

constexpr Methods methods = {
    .iVersion = 2,  // without those that map files into memory
    .xClose = passed_on<&Methods::xClose>,
    .xRead = passed_on<&Methods::xRead, void*, int, sqlite3_int64>,
    .xWrite = write,
    .xTruncate = truncate,
    .xSync = sync,
    .xFileSize = passed_on<&Methods::xFileSize, sqlite3_int64*>,
    .xLock = passed_on<&Methods::xLock, int>,
    .xUnlock = passed_on<&Methods::xUnlock, int>,
    .xCheckReservedLock = passed_on<&Methods::xCheckReservedLock, int*>,
    .xFileControl = passed_on<&Methods::xFileControl, int, void*>,
    .xSectorSize = passed_on<&Methods::xSectorSize>,
    .xDeviceCharacteristics = passed_on<&Methods::xDeviceCharacteristics>,
    .xShmMap = passed_on<&Methods::xShmMap, int, int, int, void volatile**>,
    .xShmLock = passed_on<&Methods::xShmLock, int, int, int>,
    .xShmBarrier = [](sqlite3_file* file) { below(file)->pMethods->xShmBarrier(below(file)); },
    .xShmUnmap = passed_on<&Methods::xShmUnmap, int>,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int open(sqlite3_vfs* /*vfs*/, const char* name, sqlite3_file* file, int flags, int* flags_out) {
    sqlite3_vfs* vfs = disk()->below();
    file->pMethods = nullptr;
    const std::string_view shown = name == nullptr ? "" : name;
    of(file).name[shown.copy(of(file).name, sizeof(File::name) - 1)] = '\0';
    const int code = vfs->xOpen(vfs, name, below(file), flags, flags_out);
    if (below(file)->pMethods != nullptr) file->pMethods = &methods;
    return code;
}

int remove(sqlite3_vfs* /*vfs*/, const char* name, int syncs_folder) {
    if (fails(RecordedDisk::Kind::remove, name, 0, {}, syncs_folder != 0)) return SQLITE_IOERR_DELETE;
    sqlite3_vfs* vfs = disk()->below();
    return vfs->xDelete(vfs, name, syncs_folder);
}

/// What has been written since the last sync, in sectors: a write of two may come to the disk by half.
void write_some(std::string& content, const RecordedDisk::Change& change, std::mt19937& random) {
    const auto offset = static_cast<std::size_t>(change.offset);
    for (std::size_t done = 0; done < change.bytes.size();) {
        const std::size_t at = offset + done;
        const std::size_t count = std::min(sector_bytes - at % sector_bytes, change.bytes.size() - done);
        if (random() % 2 == 0) {
            if (content.size() < at + count) content.resize(at + count);
            content.replace(at, count, change.bytes, done, count);
        }
        done += count;
    }
}

void apply(std::string& content, const RecordedDisk::Change& change) {
    const auto offset = static_cast<std::size_t>(change.offset);
    if (change.kind == RecordedDisk::Kind::truncate) return content.resize(offset);
    if (content.size() < offset + change.bytes.size()) content.resize(offset + change.bytes.size());
    content.replace(offset, change.bytes.size(), change.bytes);
}

using Waiting = std::map<std::string, std::vector<const RecordedDisk::Change*>>;

bool is_log(const std::string& name) {
    return name.ends_with("-journal") || name.ends_with("-wal");
}

/// A file that was removed is gone for good, and what was made of that name since is another.
void bring_removals(std::map<std::string, std::string>& files, Waiting& unsynced) {
    for (auto& [name, waiting] : unsynced) {
        const auto last = std::find_if(waiting.rbegin(), waiting.rend(), [](const RecordedDisk::Change* change) {
            return change->kind == RecordedDisk::Kind::remove;
        });
        if (last == waiting.rend()) continue;
        files.erase(name);
        waiting.erase(waiting.begin(), last.base());
    }
}

}  // namespace

RecordedDisk::RecordedDisk() : ours_(std::make_unique<sqlite3_vfs>()), below_(sqlite3_vfs_find(nullptr)) {
    if (disk() != nullptr) throw std::logic_error("one disk at a time");
    disk() = this;
    *ours_ = *below_;
    ours_->pNext = nullptr;
    ours_->zName = "recorded";
    ours_->szOsFile = static_cast<int>(sizeof(File)) + below_->szOsFile;
    ours_->xOpen = open;
    ours_->xDelete = remove;
    sqlite3_vfs_register(ours_.get(), 1);
}

RecordedDisk::~RecordedDisk() {
    sqlite3_vfs_unregister(ours_.get());
    sqlite3_vfs_register(below_, 1);
    disk() = nullptr;
}

RecordedDisk& RecordedDisk::running() {
    if (disk() == nullptr) throw std::logic_error("no disk is recorded");
    return *disk();
}

void RecordedDisk::fail(std::int64_t nth, bool lasts) {
    left_ = nth;
    lasts_ = lasts;
    failed_ = false;
}

bool RecordedDisk::fails(Change change) {
    const bool is_meant = left_ > 0 ? --left_ == 0 : failed_ && lasts_;
    if (is_meant) return failed_ = true;
    changes_.push_back(std::move(change));
    return false;
}

std::map<std::string, std::string> after_loss(std::span<const RecordedDisk::Change> changes, std::mt19937& random) {
    using Change = RecordedDisk::Change;
    using Kind = RecordedDisk::Kind;
    std::map<std::string, std::string> files;
    Waiting unsynced;
    std::set<std::string> in_folder;  // logs whose name a sync has brought to the disk
    for (const Change& change : changes) {
        auto& waiting = unsynced[change.file];
        if (change.kind == Kind::remove) in_folder.erase(change.file);
        if (change.kind == Kind::sync) {
            // SQLite syncs the folder, too, with the first sync of a log that it has made.
            if (is_log(change.file) && in_folder.insert(change.file).second) bring_removals(files, unsynced);
            std::string& content = files[change.file];
            for (const Change* earlier : waiting) {
                if (earlier->kind == Kind::remove) {
                    content.clear();
                } else {
                    apply(content, *earlier);
                }
            }
            waiting.clear();
        } else if (change.kind == Kind::remove && change.is_lasting) {
            files.erase(change.file);
            waiting.clear();
        } else {
            waiting.push_back(&change);
        }
    }
    for (const auto& [name, waiting] : unsynced) {
        for (const Change* change : waiting) {
            if (change->kind == Kind::write) {
                write_some(files[name], *change, random);
            } else if (change->kind == Kind::truncate) {
                if (random() % 2 == 0 && files.contains(name)) apply(files[name], *change);
            } else {
                // Not removed on the disk: then what was made of that name since is not there.
                if (random() % 2 == 0) break;
                files.erase(name);
            }
        }
    }
    return files;
}

}  // namespace joulecast::testing
