// The guard as a service: a socket, clients that come and go, and clients that mean no good.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <fcntl.h>
#include <grp.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "joulecast/error.h"
#include "tests/clockd/guarded.h"

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Signal;
using ::testing::StartsWith;

/// joulecast-clockd with its journal on a pipe.
class Service {
  public:
    explicit Service(std::vector<std::string> arguments) {
        int journal[2] = {-1, -1};
        EXPECT_EQ(::pipe2(journal, O_CLOEXEC), 0);
        id_ = ::fork();
        if (id_ == 0) {
            ::dup2(journal[1], STDERR_FILENO);
            arguments.insert(arguments.begin(), JOULECAST_CLOCKD_PROGRAM);
            std::vector<char*> words;
            for (auto& argument : arguments) words.push_back(argument.data());
            words.push_back(nullptr);
            ::execv(words.front(), words.data());
            ::_exit(127);
        }
        ::close(journal[1]);
        journal_ = ::fdopen(journal[0], "r");
    }
    ~Service() {
        if (id_ > 0) end(SIGKILL);
        std::fclose(journal_);
    }
    Service(const Service&) = delete;
    Service& operator=(const Service&) = delete;

    /// Reads the journal up to the line that says so.
    std::string await(const std::string& text) {
        char line[2000];
        std::string all;
        while (std::fgets(line, sizeof line, journal_) != nullptr) {
            all += line;
            if (std::strstr(line, text.c_str()) != nullptr) return all;
        }
        ADD_FAILURE() << "the journal ends without '" << text << "':\n" << all;
        return all;
    }
    int end(int signal) {
        if (signal != 0) ::kill(id_, signal);
        int status = 0;
        ::waitpid(std::exchange(id_, -1), &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

  private:
    pid_t id_ = -1;
    std::FILE* journal_ = nullptr;
};

/// A client that may write anything.
class Stranger {
  public:
    explicit Stranger(const std::string& path) : file_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
        connected_ = ::connect(file_, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    }
    ~Stranger() { ::close(file_); }
    Stranger(const Stranger&) = delete;
    Stranger& operator=(const Stranger&) = delete;

    bool is_connected() const { return connected_; }
    void write(const std::string& text) const { ::send(file_, text.data(), text.size(), MSG_NOSIGNAL); }
    /// One line without its newline; empty at the end of the connection.
    std::string read_line() {
        std::string line;
        for (char byte = 0; ::recv(file_, &byte, 1, 0) == 1 && byte != '\n';) line += byte;
        return line;
    }
    std::string ask(const std::string& line) {
        write(line + '\n');
        return read_line();
    }

  private:
    int file_;
    bool connected_ = false;
};

class ClockService : public testing::Guarded {
  protected:
    /// Another user than root who may use the socket does that; 0: it was true.
    int as_somebody(const std::function<bool()>& does) const {
        constexpr uid_t nobody = 65534;
        EXPECT_EQ(::chown(socket.c_str(), 0, nobody), 0);
        const pid_t id = ::fork();
        if (id == 0) {
            const bool became = ::setgroups(0, nullptr) == 0 && ::setgid(nobody) == 0 && ::setuid(nobody) == 0;
            ::_exit(became && does() ? 0 : 1);
        }
        int status = -1;
        ::waitpid(id, &status, 0);
        return status;
    }

    std::vector<std::string> usual() const {
        return {"--socket", socket, "--state", folder.string(), "--nvml", fake.library()};
    }
    const std::string first_uuid = "GPU-00000000-fake-fake-fake-000000000000";
};

TEST_F(ClockService, HoldsClocksForWhoeverMayConnect) {
    Service service(usual());
    service.await("listens on");
    struct stat there{};
    ASSERT_EQ(::lstat(socket.c_str(), &there), 0);
    EXPECT_EQ(there.st_mode & 0777U, 0660U);
    {
        ClockGuard guard(gpu(), at_once());
        EXPECT_EQ(guard.hold(at(900, 120)).real.sm_clock_mhz, 900);
        EXPECT_FALSE(guard.child()) << "the service was asked";
        EXPECT_TRUE(is_held());
        EXPECT_THAT(service.await("hold"),
                    HasSubstr("process " + std::to_string(::getpid()) + " of user " + std::to_string(::getuid())));
    }
    EXPECT_FALSE(is_held());
    EXPECT_EQ(service.end(SIGTERM), 0);
    expect_restored();
    EXPECT_FALSE(std::filesystem::exists(socket));
}

TEST_F(ClockService, RestoresWhenAClientIsKilled) {
    Service service(usual());
    service.await("listens on");
    const Signal held;
    const pid_t client = start([&] {
        ClockGuard guard(gpu(), at_once());
        guard.hold(at(900, 120));
        held.give();
        for (;;) ::pause();
    });
    held.await();
    EXPECT_TRUE(is_held());
    ::kill(client, SIGKILL);
    service.await("restored GPU 0");
    EXPECT_FALSE(is_held());
    ::waitpid(client, nullptr, 0);
}

TEST_F(ClockService, TwoClientsHoldTwoCardsButNotTheSame) {
    fake.add_gpu();
    Service service(usual());
    service.await("listens on");
    ClockGuard first(gpu(0), at_once());
    ClockGuard second(gpu(1), at_once());
    first.hold(at(900, 120));
    second.hold(at(1200, 140));
    ClockGuard third(gpu(0), at_once());
    try {
        third.hold(at(600, 120));
        FAIL() << "two clients on one card";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), HasSubstr("held by another measurement"));
    }
    EXPECT_EQ(fake.gpu(0).locked_graphics_mhz, 900U);
    EXPECT_EQ(fake.gpu(1).locked_graphics_mhz, 1200U);
}

TEST_F(ClockService, AClientThatLeavesLetsTheNextHaveTheCard) {
    Service service(usual());
    service.await("listens on");
    {
        ClockGuard first(gpu(), at_once());
        first.hold(at(900, 120));
    }
    ClockGuard second(gpu(), at_once());
    EXPECT_NO_THROW(second.hold(at(600, 120)));
}

TEST_F(ClockService, EndsOnSigtermWithEveryCardRestored) {
    Service service(usual());
    service.await("listens on");
    ClockGuard guard(gpu(), at_once());
    guard.hold(at(900, 120));
    EXPECT_EQ(service.end(SIGTERM), 0);
    expect_restored();
}

TEST_F(ClockService, UndoesAtItsStartWhatOneThatWasKilledLeft) {
    {
        Service service(usual());
        service.await("listens on");
        Stranger client(socket);
        client.read_line();
        EXPECT_EQ(client.ask("hold " + first_uuid + " 900 - 120000"), "ok");
        service.end(SIGKILL);
    }
    EXPECT_TRUE(is_held());
    Service next(usual());
    next.await("which an earlier guard had left changed");
    next.await("listens on");  // although the dead one's socket lay there
    expect_restored();
}

TEST_F(ClockService, HostileLinesAreRefusedAndChangeNothing) {
    Service service(usual());
    service.await("listens on");
    Stranger stranger(socket);
    EXPECT_EQ(stranger.read_line(), "joulecast-clockd 1");
    for (const std::string& line :
         std::vector<std::string>{"", "exec /bin/sh", "hold", "hold ../../etc/passwd 900 - -", "hold GPU-1 900; - -",
                                  "hold " + first_uuid + " 901 - -", "hold " + first_uuid + " 9000 - -",
                                  "hold " + first_uuid + " - - 9999999", "hold " + first_uuid + " - - 1",
                                  "hold " + first_uuid + " - 405 -", "hold GPU-no-such-card 900 - -",
                                  "reset GPU-no-such-card", std::string("\0\xff\x1b[2J", 6), std::string(250, 'x')}) {
        EXPECT_THAT(stranger.ask(line), StartsWith("no ")) << line;
    }
    EXPECT_FALSE(is_held());
    EXPECT_EQ(fake.gpu().locks + fake.gpu().limit_changes, 0U);
    EXPECT_EQ(stranger.ask("hold " + first_uuid + " 900 - -"), "ok") << "the service goes on";
}

TEST_F(ClockService, ALineWithoutEndEndsTheConnection) {
    Service service(usual());
    service.await("listens on");
    Stranger stranger(socket);
    EXPECT_EQ(stranger.ask("hold " + first_uuid + " 900 - -"), "joulecast-clockd 1");
    EXPECT_EQ(stranger.read_line(), "ok");
    stranger.write(std::string(2000, 'x'));
    EXPECT_EQ(stranger.read_line(), "");
    expect_restored();
}

TEST_F(ClockService, HalfALineIsNoRequest) {
    Service service(usual());
    service.await("listens on");
    {
        Stranger stranger(socket);
        stranger.read_line();
        stranger.write("hold " + first_uuid + " 900 - 120000");
    }
    Stranger other(socket);
    EXPECT_EQ(other.read_line(), "joulecast-clockd 1");
    EXPECT_FALSE(is_held());
}

TEST_F(ClockService, AConnectionKeepsToOneCard) {
    fake.add_gpu();
    Service service(usual());
    service.await("listens on");
    Stranger client(socket);
    client.read_line();
    EXPECT_EQ(client.ask("hold " + first_uuid + " 900 - -"), "ok");
    EXPECT_THAT(client.ask("hold GPU-00000001-fake-fake-fake-000000000000 900 - -"),
                StartsWith("no a connection holds one card"));
    EXPECT_EQ(fake.gpu(1).locks, 0U);
}

TEST_F(ClockService, ConnectionsHaveABound) {
    Service service(usual());
    service.await("listens on");
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 8; ++i) {
        crowd.push_back(std::make_unique<Stranger>(socket));
        EXPECT_EQ(crowd.back()->read_line(), "joulecast-clockd 1");
    }
    EXPECT_EQ(Stranger(socket).read_line(), "") << "the ninth of one user is turned away";
    crowd.pop_back();
    // Two of them still know it, and one place is free.
    crowd.front()->write("nonsense\n");
    EXPECT_THAT(crowd.front()->read_line(), StartsWith("no "));
    EXPECT_EQ(Stranger(socket).read_line(), "joulecast-clockd 1");
}

TEST_F(ClockService, AnotherUserGetsAPlaceAlthoughOneHasTakenAllOfHis) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may become another user";
    Service service(usual());
    service.await("listens on");
    std::vector<std::unique_ptr<Stranger>> crowd;
    for (int i = 0; i < 9; ++i) crowd.push_back(std::make_unique<Stranger>(socket));
    EXPECT_EQ(crowd.back()->read_line(), "");
    EXPECT_EQ(as_somebody([&] { return Stranger(socket).read_line() == "joulecast-clockd 1"; }), 0);
}

TEST_F(ClockService, AConnectionThatAsksForNothingIsEnded) {
    auto arguments = usual();
    arguments.insert(arguments.end(), {"--idle", "1"});
    Service service(arguments);
    service.await("listens on");
    Stranger measuring(socket), idle(socket);
    EXPECT_EQ(measuring.ask("hold " + first_uuid + " 900 - -"), "joulecast-clockd 1");
    EXPECT_EQ(measuring.read_line(), "ok");
    EXPECT_EQ(idle.read_line(), "joulecast-clockd 1");
    EXPECT_EQ(idle.read_line(), "");
    EXPECT_EQ(measuring.ask("hold " + first_uuid + " - - -"), "ok") << "whoever measures may be silent";
}

TEST_F(ClockService, AMemberOfTheGroupUndoesOnlyWhatJoulecastDid) {
    if (::geteuid() != 0) GTEST_SKIP() << "only root may become another user";
    fake.gpu().power_limit_mw = 120000;  // an administrator's
    Service service(usual());
    service.await("listens on");
    EXPECT_EQ(as_somebody([&] {
                  Stranger member(socket);
                  member.read_line();
                  return member.ask("reset " + first_uuid) == "ok";
              }),
              0);
    EXPECT_EQ(fake.gpu().power_limit_mw, 120000U);
    Stranger root(socket);
    root.read_line();
    EXPECT_EQ(root.ask("reset " + first_uuid), "ok");
    EXPECT_EQ(fake.gpu().power_limit_mw, 165000U);
}

TEST_F(ClockService, TwoServicesDoNotShareASocket) {
    Service first(usual());
    first.await("listens on");
    Service second(usual());
    second.await("another joulecast-clockd listens on");
    EXPECT_EQ(second.end(0), 1);
    Stranger client(socket);
    EXPECT_EQ(client.read_line(), "joulecast-clockd 1") << "the first goes on";
}

// What a member of the group asks, and what stands on a command line, reached the administrator's terminal as it was.
TEST_F(ClockService, ItsJournalSteersNoTerminal) {
    Service service(usual());
    service.await("listens on");
    Stranger client(socket);
    client.read_line();
    client.ask(
        "hold \xc2\x9b"
        "2J\x1b[31m\xe2\x80\xae 900 - -");
    const std::string said = service.await("hold");
    EXPECT_THAT(said, HasSubstr("hold \\u009b2J\\u001b[31m\\u202e 900 - -"));
    EXPECT_THAT(said, Not(HasSubstr("\x1b")));
    Service wrong_option({"--state", folder.string(), "--so\x1b[2J"});
    EXPECT_THAT(wrong_option.await("option '"), HasSubstr("'--so\\u001b[2J'"));
}

TEST_F(ClockService, AnUnknownGroupOrOptionIsAnError) {
    auto arguments = usual();
    arguments.insert(arguments.end(), {"--group", "no-such-group-here"});
    Service wrong_group(arguments);
    wrong_group.await("no group is called 'no-such-group-here'");
    EXPECT_EQ(wrong_group.end(0), 1);
    EXPECT_FALSE(std::filesystem::exists(socket));
    Service wrong_option({"--sockets", socket});
    wrong_option.await("usage:");
    EXPECT_EQ(wrong_option.end(0), 2);
    Service nothing_asked({});
    nothing_asked.await("usage:");
    EXPECT_EQ(nothing_asked.end(0), 2);
}

TEST_F(ClockService, WithoutADriverItWaitsForOne) {
    Service service({"--socket", socket, "--state", folder.string(), "--nvml", "/nowhere/libnvidia-ml.so.1"});
    service.await("listens on");
    Stranger client(socket);
    client.read_line();
    EXPECT_THAT(client.ask("hold " + first_uuid + " 900 - -"), HasSubstr("no NVIDIA driver on this machine"));
}

}  // namespace
}  // namespace joulecast
