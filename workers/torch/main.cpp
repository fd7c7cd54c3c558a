#include <csignal>
#include <cstdio>

#include <unistd.h>

#include "workers/torch/system_memory.h"
#include "workers/torch/torch_service.h"

/// joulecast-torch: JSON lines in, JSON lines out (docs/worker-protocol.md), until `quit` or the end of input.
int main() {
    // A library that prints must not do it between our lines: the real standard output is ours alone, and what is
    // printed goes to standard error.
    const int output = ::dup(STDOUT_FILENO);
    if (output < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        std::fputs("joulecast-torch: standard output and standard error must be open\n", stderr);
        return 1;
    }
    // Whoever asked is gone: the next write fails, and that ends the loop in good order.
    std::signal(SIGPIPE, SIG_IGN);
    joulecast::torch_worker::keep_freed_memory();
    return joulecast::protocol::serve(joulecast::torch_worker::torch_service(), STDIN_FILENO, output);
}
