#pragma once

#include <filesystem>
#include <memory>
#include <string>

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

/// One connection and, from its first hold on, its lease on one card. When this object goes, the card is restored.
class Client {
  public:
    /// Takes over both files; `peer` becomes readable when the process at the other end is gone (-1: not known), which
    /// matters when a copy of that process, forked off, keeps the connection open.
    Client(int connection, int peer, std::string name, Cards& cards);
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    int connection() const { return connection_; }
    int peer() const { return peer_; }
    const std::string& name() const { return name_; }

    /// Sends the greeting; false: the client is gone.
    bool greet();
    /// Reads what there is and answers every whole line; false: the client is gone, or writes what no client does.
    bool receive();

  private:
    bool send(const std::string& line) const;
    std::string carry_out(const std::string& line);
    ClockLease& lease(const std::string& uuid);

    int connection_;
    int peer_;
    std::string name_;
    Cards& cards_;
    std::string pending_;
    std::unique_ptr<ClockLease> lease_;
};

/// One line to standard error, where a service's journal is.
void log(const std::string& text);

}  // namespace joulecast::clockd
