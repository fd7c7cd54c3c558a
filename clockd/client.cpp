#include "clockd/client.h"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/units/printable.h"

namespace joulecast::clockd {

void log(std::initializer_list<std::string_view> parts) noexcept {
    try {
        std::string line;
        for (const std::string_view part : parts) line += part;
        std::ranges::replace_if(line, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
        write_error_line("joulecast-clockd", line);
    } catch (const std::bad_alloc&) {
        write_error_line("joulecast-clockd", "out of memory");
    }
}

NvmlGpu Cards::card(const std::string& uuid) {
    if (!nvml_) {
        std::string reason;
        nvml_ = Nvml::open(library, reason);
        if (!nvml_) throw Error("cannot lock clocks: " + reason);
    }
    const auto gpu = nvml_->gpu(uuid);
    if (!gpu || gpu->facts().uuid != uuid) throw Error("cannot lock clocks: no GPU " + uuid + " answers here");
    return *gpu;
}

Client::Client(int connection, Peer peer, Cards& cards)
    : connection_(connection), peer_(std::move(peer)), cards_(cards) {}

Client::~Client() {
    if (lease_) {
        try {
            lease_->restore();
            log({"restored ", lease_->gpu().label(), " after ", peer_.name});
        } catch (const std::exception& error) {
            log({error.what()});
        }
    }
    // Before the connection: whoever waits for its end may count on the card being free for the next lease.
    lease_.reset();
    ::close(connection_);
    if (peer_.file >= 0) ::close(peer_.file);
}

bool Client::greet() {
    return send(std::string(guard_greeting));
}

bool Client::send(const std::string& line) const {
    const std::string whole = line + '\n';
    // A client that does not read its answers is none.
    return ::send(connection_, whole.data(), whole.size(), MSG_NOSIGNAL | MSG_DONTWAIT) ==
           static_cast<ssize_t>(whole.size());
}

bool Client::receive() {
    std::array<char, 1024> buffer{};
    const ssize_t got = ::recv(connection_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (got <= 0) return false;
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
    for (auto end = pending_.find('\n'); end != std::string::npos; end = pending_.find('\n')) {
        const std::string line = pending_.substr(0, end);
        pending_.erase(0, end + 1);
        if (!send(answer_line(carry_out(line)))) return false;
    }
    if (pending_.size() <= most_guard_line_bytes) return true;
    log({peer_.name, " sends lines that are too long"});
    return false;
}

ClockLease& Client::lease(const std::string& uuid) {
    if (!lease_) {
        lease_ = std::make_unique<ClockLease>(cards_.card(uuid), cards_.state_folder);
    } else if (lease_->gpu().facts().uuid != uuid) {
        throw Error("a connection holds one card: " + lease_->gpu().label());
    }
    return *lease_;
}

std::string Client::carry_out(const std::string& line) {
    try {
        const GuardRequest request = parse_guard_request(line);
        idle_since_.reset();
        if (request.kind == GuardRequest::Kind::reset && peer_.has_our_rights) {
            lease(request.uuid).reset();
        } else if (request.kind == GuardRequest::Kind::reset) {
            // What an administrator set is no member's to undo: only what joulecast itself has left changed.
            lease(request.uuid).restore();
        } else {
            lease(request.uuid).hold(request.clocks);
        }
        log({peer_.name, ": ", line});
        return "";
    } catch (const std::exception& error) {
        log({peer_.name, ": ", std::string_view(line).substr(0, most_guard_line_bytes), ": ", error.what()});
        return error.what();
    }
}

}  // namespace joulecast::clockd
