#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace joulecast {

/// Held while measuring one device into one database: a second sweep waits, as two at once on one device would disturb
/// each other and measure everything twice. The kernel lets go when its holder ends, however it ends.
class MeasuringLock {
  public:
    /// Waits for another holder: tells `waiting` (once) its process id, asks `give_up` several times a second.
    /// After giving up held() is false. Throws Error when the lock file beside the database cannot be written.
    MeasuringLock(const std::filesystem::path& database, const std::string& device,
                  const std::function<void(const std::string& holder)>& waiting, const std::function<bool()>& give_up);
    ~MeasuringLock();
    MeasuringLock(const MeasuringLock&) = delete;
    MeasuringLock& operator=(const MeasuringLock&) = delete;

    bool held() const { return file_ >= 0; }

  private:
    bool try_lock();

    std::filesystem::path path_;
    int file_ = -1;
};

}  // namespace joulecast
