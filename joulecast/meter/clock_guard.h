#pragma once

#include <optional>
#include <string>
#include <utility>

#include "joulecast/meter/clock_control.h"

namespace joulecast {

/// The client of joulecast-clockd: holds one card's clocks and power limit for this process and gives them back,
/// however it ends. The guard is the installed service if its socket is there, otherwise a child that is started before
/// the first lock and restores when its end of the connection closes, be it by SIGKILL.
///
///     ClockGuard guard(gpu);
///     const Settled held = guard.hold(asked);   // held.real goes into the row
class ClockGuard {
  public:
    struct Settings {
        std::string socket;   ///< of the service; empty: $JOULECAST_CLOCKD_SOCKET, or /run/joulecast-clockd/socket
        std::string program;  ///< joulecast-clockd; empty: $JOULECAST_CLOCKD, beside this program, or on the PATH
        SettleRule settle;
    };

    /// Changes nothing and starts nothing yet. `clock` may be null: the steady one.
    explicit ClockGuard(NvmlGpu gpu) : ClockGuard(std::move(gpu), Settings{}) {}
    ClockGuard(NvmlGpu gpu, Settings settings, SettleClock* clock = nullptr);
    ~ClockGuard();
    ClockGuard(const ClockGuard&) = delete;
    ClockGuard& operator=(const ClockGuard&) = delete;

    /// Makes the card hold the clocks and limit of the point (NaN: as it was before), waits until they have settled and
    /// tells the point as it really is. Asking for the same again only reads where it is. Throws Error with a sentence
    /// for the user: no right, not supported, another measurement holds the card; the card is then as it was.
    Settled hold(const OperatingPoint& asked);
    /// Gives back what hold() changed. Throws Error when that fails.
    void release();
    /// Frees clocks and limits whoever changed them: `clocks reset`. Throws Error.
    void reset();
    /// Why hold() is not going to work for this user ("no permission"); empty if there is no reason to think so.
    std::string why_not() const;
    /// Process id of the guard, if it is a child of ours.
    std::optional<int> child() const;

  private:
    bool try_to_release();
    void connect();
    bool connect_to_service();
    void start_child();
    void disconnect();
    bool is_connected() const;
    void ask(const std::string& line);
    std::string read_line(double limit_s);

    NvmlGpu gpu_;
    Settings settings_;
    SteadySettleClock steady_;
    SettleClock* clock_;
    int connection_ = -1;
    int child_ = -1;
    bool service_refused_us_ = false;
    std::string pending_;
    std::optional<ClockRequest> held_;
};

}  // namespace joulecast
