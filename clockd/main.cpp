// joulecast-clockd, the guard of GPU clocks: the only program of joulecast that changes a card. As a child of whoever
// measures it serves the one connection on its standard input; as a service a socket. Every client's card is restored
// when the client goes, however it goes. docs/clocks.md tells how to install it.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "clockd/client.h"
#include "clockd/door.h"
#include "joulecast/error.h"
#include "joulecast/process/process_file.h"
#include "joulecast/units/printable.h"

namespace joulecast::clockd {
namespace {

constexpr std::size_t most_clients = 32;
/// One user's connections must leave room for the others'.
constexpr std::ptrdiff_t most_clients_of_user = 8;

constexpr const char* usage =
    "usage: joulecast-clockd --child | --socket PATH [--group NAME]   [--state FOLDER] [--nvml LIBRARY]\n"
    "\n"
    "Locks GPU clocks and power limits for measuring programs and restores them when those end.\n"
    "  --child           serve the connection on standard input (joulecast starts it so)\n"
    "  --socket PATH     be the service of this machine, for the members of one group\n"
    "  --group NAME      who may connect; default: the group this program runs as\n"
    "  --state FOLDER    where it is kept what has to be undone (default: /var/lib/joulecast for root)\n"
    "  --idle SECONDS    how long a connection may ask for nothing at first (default: 60)\n"
    "  --nvml LIBRARY    instead of libnvidia-ml.so.1\n"
    "  --version\n";

struct Options {
    bool child = false;
    std::string socket;
    std::string group;
    std::string idle = "60";
    Cards cards;

    std::chrono::seconds longest_idle() const {
        int seconds = 0;
        const auto [end, error] = std::from_chars(idle.data(), idle.data() + idle.size(), seconds);
        if (error != std::errc() || end != idle.data() + idle.size() || seconds < 1)
            throw UsageError("--idle takes a whole number of seconds above zero, not '" + idle + "'");
        return std::chrono::seconds(seconds);
    }
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--child") {
            options.child = true;
            continue;
        }
        std::string* value = name == "--socket"  ? &options.socket
                             : name == "--group" ? &options.group
                             : name == "--idle"  ? &options.idle
                             : name == "--nvml"  ? &options.cards.library
                                                 : nullptr;
        if (i + 1 == argc || (value == nullptr && name != "--state"))
            throw UsageError("option '" + name + "'\n" + usage);
        ++i;
        if (value != nullptr) *value = argv[i];
        if (name == "--state") options.cards.state_folder = argv[i];
    }
    if (options.child == !options.socket.empty()) throw UsageError(usage);
    if (options.cards.state_folder.empty()) options.cards.state_folder = default_clock_state_folder();
    // A service takes no library from its environment.
    if (options.cards.library.empty()) {
        options.cards.library = options.child ? default_nvml_library() : "libnvidia-ml.so.1";
    }
    return options;
}

/// Clients come and go until the last file that brings new ones, or a signal to end, is done.
class Guard {
  public:
    Guard(Cards& cards, const Door* door, int signals, std::chrono::seconds longest_idle)
        : cards_(cards), door_(door), signals_(signals), longest_idle_(longest_idle) {}

    void add(std::unique_ptr<Client> client) {
        if (client && client->greet()) clients_.push_back(std::move(client));
    }

    void run() {
        while (door_ != nullptr || !clients_.empty()) {
            std::vector<pollfd> files = {{signals_, POLLIN, 0}, {door_ != nullptr ? door_->listener() : -1, POLLIN, 0}};
            for (const auto& client : clients_) {
                files.push_back({client->connection(), POLLIN, 0});
                files.push_back({client->peer().file, POLLIN, 0});
            }
            if (::poll(files.data(), files.size(), wait_ms()) < 0) continue;
            if (files[0].revents != 0) return;
            serve(files);
            end_idle();
            if (files[1].revents != 0) admit();
        }
    }

  private:
    void serve(const std::vector<pollfd>& files) {
        std::size_t at = 2;
        for (auto client = clients_.begin(); client != clients_.end(); at += 2) {
            const bool is_gone = files[at + 1].revents != 0;
            const bool stays = !is_gone && (files[at].revents == 0 || (*client)->receive());
            client = stays ? std::next(client) : clients_.erase(client);
        }
    }

    void admit() {
        auto client = door_->admit(cards_);
        if (!client) return;
        const auto of_user = std::ranges::count_if(
            clients_, [&](const auto& other) { return other->peer().user == client->peer().user; });
        if (clients_.size() < most_clients && of_user < most_clients_of_user) return add(std::move(client));
        log({"too many connections: that of ", client->peer().name, " is refused"});
    }

    /// Until the next client has asked for nothing for too long; -1: none is about to.
    int wait_ms() const {
        std::optional<Client::Clock::time_point> first;
        for (const auto& client : clients_)
            if (const auto since = client->idle_since(); since && (!first || *since < *first)) first = since;
        if (!first || door_ == nullptr) return -1;
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(*first + longest_idle_ - Client::Clock::now());
        return static_cast<int>(std::max<std::int64_t>(0, left.count()));
    }

    /// A place is for somebody who measures. The child's only client may take its time: nobody waits for its place.
    void end_idle() {
        if (door_ == nullptr) return;
        const auto latest = Client::Clock::now() - longest_idle_;
        std::erase_if(clients_, [&](const auto& client) {
            const auto since = client->idle_since();
            if (!since || *since > latest) return false;
            log({client->peer().name, " asks for nothing"});
            return true;
        });
    }

    Cards& cards_;
    const Door* door_;
    int signals_;
    std::chrono::seconds longest_idle_;
    std::list<std::unique_ptr<Client>> clients_;
};

/// Cards that a guard before us left changed (it was killed, or the machine went down).
void restore_leftovers(Cards& cards) {
    std::string reason;
    const auto nvml = Nvml::open(cards.library, reason);
    if (!nvml) return log({reason, "; it is tried again when a client asks"});
    for (const NvmlGpu& gpu : nvml->gpus()) {
        try {
            if (gpu.facts().uuid.empty() || !left_behind(cards.state_folder, gpu)) continue;
            const ClockLease undoes_at_once(gpu, cards.state_folder);
            log({"restored ", gpu.label(), ", which an earlier guard had left changed"});
        } catch (const Error& error) {
            log({error.what()});
        }
    }
}

int run_service(Options& options) {
    sigset_t ending;
    ::sigemptyset(&ending);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ending, signal);
    ::sigprocmask(SIG_BLOCK, &ending, nullptr);
    const int signals = ::signalfd(-1, &ending, SFD_CLOEXEC);
    const std::chrono::seconds longest_idle = options.longest_idle();
    restore_leftovers(options.cards);
    const Door door(options.socket, options.group);
    log({"listens on ", options.socket});
    Guard(options.cards, &door, signals, longest_idle).run();
    log({"ends; all cards are restored"});
    return 0;
}

int run_child(Options& options) {
    // Only the end of the connection, or of the process at its other side, ends the guard: then it restores.
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) std::signal(signal, SIG_IGN);
    const int parent = ::getppid();
    Guard guard(options.cards, nullptr, -1, options.longest_idle());
    Peer peer;
    peer.file = file_of_process(parent);
    peer.user = ::getuid();
    peer.name = "process " + std::to_string(parent);
    peer.has_our_rights = true;  // who started us could do all of it without us
    guard.add(std::make_unique<Client>(::dup(STDIN_FILENO), std::move(peer), options.cards));
    // Only the client's copy of the connection counts: its closing tells the other side that all is restored.
    ::close(STDIN_FILENO);
    guard.run();
    return 0;
}

}  // namespace
}  // namespace joulecast::clockd

int main(int argc, char** argv) {
    using namespace joulecast;
    try {
        const std::string first = argc == 2 ? argv[1] : "";
        if (first == "--version" || first == "--help") {
            std::cout << (first == "--help" ? clockd::usage : "joulecast-clockd " JOULECAST_VERSION "\n");
            return 0;
        }
        auto options = clockd::parse(argc, argv);
        return options.child ? clockd::run_child(options) : clockd::run_service(options);
    } catch (const UsageError& error) {
        write_error_line("joulecast-clockd", error.what());
        return 2;
    } catch (const std::exception& error) {
        write_error_line("joulecast-clockd", error.what());
        return 1;
    }
}
