#include "clockd/door.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/process/process_file.h"

namespace joulecast::clockd {

namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
    throw Error("cannot " + what + " " + path + ": " + std::strerror(errno));
}

gid_t group_number(const std::string& name) {
    gid_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) return number;
    const group* found = ::getgrnam(name.c_str());
    if (found == nullptr) throw Error("no group is called '" + name + "'");
    return found->gr_gid;
}

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path) {
        throw Error("the path of a socket has 1 to 107 bytes: '" + path.substr(0, 200) + "'");
    }
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

bool somebody_listens(const sockaddr_un& address) {
    const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool answered = ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(probe);
    return answered;
}

}  // namespace

Door::Door(std::string path, const std::string& group) : path_(std::move(path)) {
    const sockaddr_un address = address_of(path_);
    if (somebody_listens(address)) throw Error("another joulecast-clockd listens on " + path_);
    struct stat there{};
    if (::lstat(path_.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) ::unlink(path_.c_str());
    listener_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener_ < 0) fail("make a socket for", path_);
    // Nobody but the owner, until the group is set.
    const mode_t before = ::umask(0177);
    const int bound = ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
    ::umask(before);
    try {
        if (bound != 0) fail("listen on", path_);
        if (!group.empty() && ::lchown(path_.c_str(), static_cast<uid_t>(-1), group_number(group)) != 0) {
            fail("give to its group", path_);
        }
        if (::chmod(path_.c_str(), 0660) != 0 || ::listen(listener_, 16) != 0) fail("listen on", path_);
    } catch (...) {
        ::close(listener_);
        if (bound == 0) ::unlink(path_.c_str());
        throw;
    }
}

Door::~Door() {
    ::unlink(path_.c_str());
    ::close(listener_);
}

std::unique_ptr<Client> Door::admit(Cards& cards) const {
    const int connection = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (connection < 0) return nullptr;
    ucred who{};
    socklen_t size = sizeof who;
    if (::getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
        ::close(connection);
        return nullptr;
    }
    Peer peer;
    peer.user = who.uid;
    peer.name = "process " + std::to_string(who.pid) + " of user " + std::to_string(who.uid);
    peer.has_our_rights = who.uid == ::geteuid();
    // Process 0 is one of another namespace (a container): only its connection tells of its end.
    peer.file = who.pid > 0 ? file_of_process(who.pid) : -1;
    const bool is_gone = who.pid > 0 && peer.file < 0 && errno == ESRCH;
    auto client = std::make_unique<Client>(connection, std::move(peer), cards);
    if (is_gone) return nullptr;
    log({client->peer().name, " connects"});
    return client;
}

}  // namespace joulecast::clockd
