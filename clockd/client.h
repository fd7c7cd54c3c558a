#pragma once

#include <chrono>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "joulecast/meter/clock_lease.h"
#include "joulecast/meter/clock_line.h"

namespace joulecast::clockd {

/// NVML as the guard needs it: opened at the first request, since the driver may come up after the guard.
struct Cards {
    std::string library;
    std::filesystem::path state_folder;

    /// Throws Error: no driver, no such card.
    NvmlGpu card(const std::string& uuid);

  private:
    std::optional<Nvml> nvml_;
};

/// Who is at the other end of a connection.
struct Peer {
    /// Becomes readable when the process is gone (-1: not known), which matters when a copy of that process, forked
    /// off, keeps the connection open.
    int file = -1;
    unsigned user = 0;  ///< its number
    std::string name;   ///< "process 12 of user 1000"
    /// May undo what others did to a card: it has the rights of this guard anyhow.
    bool has_our_rights = false;
};

/// One connection and, from its first hold on, its lease on one card. When this object goes, the card is restored.
class Client {
  public:
    using Clock = std::chrono::steady_clock;

    /// Takes over both files.
    Client(int connection, Peer peer, Cards& cards);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    int connection() const { return connection_; }
    const Peer& peer() const { return peer_; }
    /// It has asked for nothing since then; absent once it has.
    std::optional<Clock::time_point> idle_since() const { return idle_since_; }

    /// Sends the greeting; false: the client is gone.
    bool greet();
    /// Reads what there is and answers every whole line; false: the client is gone, or writes what no client does.
    bool receive();

  private:
    bool send(const std::string& line) const;
    std::string carry_out(const std::string& line);
    ClockLease& lease(const std::string& uuid);

    int connection_;
    Peer peer_;
    std::optional<Clock::time_point> idle_since_ = Clock::now();
    Cards& cards_;
    std::string pending_;
    std::unique_ptr<ClockLease> lease_;
};

/// One line, of these parts, to standard error, where a service's journal is. What was done is done whether or not
/// there is memory to tell it.
void log(std::initializer_list<std::string_view> parts) noexcept;

}  // namespace joulecast::clockd
