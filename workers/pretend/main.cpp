// joulecast-pretend: a worker that answers by documented laws (docs/pretend.md). JSON lines in, JSON lines out
// (docs/worker-protocol.md), until `quit` or the end of input.
#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <unistd.h>

#include "joulecast/error.h"
#include "joulecast/units/printable.h"
#include "workers/pretend/card_file.h"
#include "workers/pretend/options.h"
#include "workers/pretend/service.h"

int main(int count, char** words) {
    using namespace joulecast;
    try {
        const pretend::Options options = pretend::parse_options({words + 1, words + count});
        if (options.help || options.version || options.print_laws) {
            const std::string text = options.help      ? pretend::usage
                                     : options.version ? "joulecast-pretend " JOULECAST_VERSION "\n"
                                                       : pretend::cards_to_json(options.cards);
            return std::fputs(text.c_str(), stdout) < 0 ? 1 : 0;
        }
        // Whoever asked is gone: the next write fails, and that ends the loop in good order.
        std::signal(SIGPIPE, SIG_IGN);
        return protocol::serve(pretend::service(options), STDIN_FILENO, STDOUT_FILENO);
    } catch (const UsageError& error) {
        write_error_line("joulecast-pretend", error.what());
        return 2;
    } catch (const std::exception& error) {
        write_error_line("joulecast-pretend", error.what());
        return 1;
    }
}
