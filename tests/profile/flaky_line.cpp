// A bad line to a worker: flaky_line COUNTER LATENCY_MS COMMAND passes the lines of the protocol through, late, and
// each connection (their number stands in the file COUNTER) ends in another way after some lines: in the middle of an
// answer, with garbage, before the answer, after it, without an end. Every sixth connection is refused.
#include <fstream>
#include <iostream>
#include <string>
#include <thread>

#include <unistd.h>

#include "joulecast/process/child_process.h"
#include "joulecast/worker/protocol.h"

namespace {

long next_connection(const std::string& counter) {
    long number = 0;
    std::ifstream(counter) >> number;
    std::ofstream(counter) << number + 1;
    return number;
}

[[noreturn]] void fail(long kind, const std::string& answer) {
    if (kind == 0) std::cout << answer.substr(0, answer.size() / 2) << std::flush;
    if (kind == 1) std::cout << "\x7f@#" << answer.substr(answer.size() / 3) << std::endl;
    if (kind == 3) std::cout << answer << std::endl;
    if (kind == 4)
        while (true) ::pause();
    ::_exit(255);  // as ssh does when the connection is lost
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const long connection = next_connection(argv[1]);
    if (connection % 6 == 5) {
        std::cerr << "ssh: connect to host board port 22: No route to host\n";
        return 255;
    }
    joulecast::ChildProcess worker(argv[3], joulecast::protocol::max_line_bytes);
    // Hello, preparing and one result at least come through: a line that carries nothing is another test's.
    long lines_left = 3 + connection * 7 % 11;
    for (std::string line; std::getline(std::cin, line); --lines_left) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::stol(argv[2])));
        const auto reply = worker.exchange(line, std::chrono::minutes(1));
        if (reply.ending != joulecast::ChildProcess::Ending::line) return 255;
        if (lines_left == 0) fail(connection % 5, reply.line);
        std::cout << reply.line << std::endl;
    }
}
