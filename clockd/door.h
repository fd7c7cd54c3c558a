#pragma once

#include <memory>
#include <string>

#include "clockd/client.h"

namespace joulecast::clockd {

/// The socket that the service listens on. Removed when this object goes.
class Door {
  public:
    /// Members of the group (by name or number; empty: this process's own) may connect. Throws Error: another guard
    /// listens there, no such group, the folder cannot be written.
    Door(std::string path, const std::string& group);
    ~Door();
    Door(const Door&) = delete;
    Door& operator=(const Door&) = delete;

    int listener() const { return listener_; }
    /// The next client, named by process and user as the kernel knows them; null: gone already.
    std::unique_ptr<Client> admit(Cards& cards) const;

  private:
    std::string path_;
    int listener_ = -1;
};

}  // namespace joulecast::clockd
