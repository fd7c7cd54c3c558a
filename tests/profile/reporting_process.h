#pragma once

#include <unistd.h>

#include <cstdio>
#include <exception>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

namespace joulecast::testing {

/// Starts the sweep in a process of its own; the returned end of a pipe carries its progress.
template <class Profile>
std::pair<pid_t, int> start_reporting(Profile run) {
    int ends[2];
    if (::pipe(ends) != 0) return {-1, -1};
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        struct PipeBuffer : std::stringbuf {
            int file = -1;
            int sync() override {
                const std::string text = str();
                str("");
                return ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : -1;
            }
        } buffer;
        buffer.file = ends[1];
        std::ostream output(&buffer);
        try {
            run(output);
            ::_exit(0);
        } catch (const std::exception& error) {
            std::fprintf(stderr, "%s\n", error.what());
            ::_exit(1);
        }
    }
    ::close(ends[1]);
    return {child, ends[0]};
}

}  // namespace joulecast::testing
