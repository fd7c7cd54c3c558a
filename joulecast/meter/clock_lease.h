#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/meter/clock_control.h"
#include "joulecast/meter/nvml.h"

namespace joulecast {

/// What has to be undone on a card, as it stands in the state file while anything is changed: written before the first
/// change and removed after the last is undone, so that whoever comes after a dead guard can finish its work.
struct ClockRecord {
    bool graphics_locked = false;
    bool memory_locked = false;
    std::optional<unsigned> power_limit_before_mw;
    std::optional<unsigned> power_limit_set_mw;
    std::optional<unsigned> power_limit_next_mw;  ///< about to be set

    bool nothing_to_undo() const { return !graphics_locked && !memory_locked && !power_limit_before_mw; }
    friend bool operator==(const ClockRecord&, const ClockRecord&) = default;
};
std::string to_text(const ClockRecord& record);
/// Throws FormatError.
ClockRecord parse_clock_record(std::string_view text);

/// Where state files are: $JOULECAST_CLOCK_STATE; /var/lib/joulecast for root; else $XDG_STATE_HOME/joulecast or
/// ~/.local/state/joulecast.
std::filesystem::path default_clock_state_folder();

/// What a guard that died left to undo on the card, or nothing. Throws Error if the file cannot be understood.
std::optional<ClockRecord> left_behind(const std::filesystem::path& folder, const NvmlGpu& gpu);
/// Whether a living process holds a lease on the card.
bool is_leased(const std::filesystem::path& folder, const NvmlGpu& gpu);

/// The right to change one card, held by one process at a time (a lock on a file, which a death releases). All changes
/// of clocks and limits in joulecast are made here, by joulecast-clockd.
///
/// NVML does not tell whether clocks were locked before, so undoing a lock leaves them free; a power limit is given
/// back unless somebody else has set another one since.
class ClockLease {
  public:
    /// Undoes first what a dead guard left. Throws Error: another process has the lease, the folder cannot be written,
    /// the card has no UUID, or what was left behind cannot be undone.
    ClockLease(NvmlGpu gpu, std::filesystem::path folder);
    ~ClockLease();
    ClockLease(const ClockLease&) = delete;
    ClockLease& operator=(const ClockLease&) = delete;

    /// Makes the card hold that. Throws Error; the card is then as it was before the lease.
    void hold(const ClockRequest& request);
    /// Throws Error when something cannot be undone: its record stays in the file.
    void restore();
    /// Frees both clocks and sets the default power limit, whoever changed them. Throws Error.
    void reset();

    const NvmlGpu& gpu() const { return gpu_; }

  private:
    bool try_to_restore(const ClockRecord& what);
    void remember(const ClockRecord& record);
    ClockRecord planned(const ClockRequest& request) const;
    void apply(const ClockRequest& request, ClockRecord& done);
    bool limit_is_ours(const ClockRecord& record) const;
    void set_power_limit(unsigned milliwatts);

    NvmlGpu gpu_;
    std::filesystem::path folder_;
    int lock_ = -1;
    ClockRecord record_;
};

}  // namespace joulecast
