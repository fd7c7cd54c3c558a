// joulecast-meter: reads this machine's meters and sensors for a worker in Python. JSON lines in, JSON lines out
// (docs/energy.md, "The program joulecast-meter"), until the end of input. It is linked statically where it is packed
// for a board, so that it runs with any C library.
#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "joulecast/measure/calibration_file.h"
#include "joulecast/units/printable.h"
#include "workers/metering/metering_service.h"

namespace {

constexpr const char* usage =
    "joulecast-meter: reads this machine's meters for a worker; docs/energy.md has its lines.\n"
    "    --root FOLDER    looks for meters and sensors there instead of /: a copy of /sys and /proc, as tests make\n"
    "    --version        its release\n";

int ask_for_help(const std::string& word) {
    using joulecast::write_error_line;
    write_error_line("joulecast-meter", "\"" + word.substr(0, 80) + "\" is none of --root FOLDER, --version, --help");
    return 2;
}

}  // namespace

int main(int count, char** words) {
    using namespace joulecast;
    const std::string asked = count > 1 ? words[1] : "";
    if (asked == "--version" || asked == "--help")
        return std::fputs(asked == "--help" ? usage : "joulecast-meter " JOULECAST_VERSION "\n", stdout) < 0 ? 1 : 0;
    const bool elsewhere = asked == "--root" && count == 3;
    if (count > 1 && !elsewhere) return ask_for_help(asked);
    try {
        // Whoever asked is gone: the next read ends the loop.
        std::signal(SIGPIPE, SIG_IGN);
        metering::serve_meter(std::cin, std::cout,
                              elsewhere ? metering::Places{words[2], ""} : metering::Places{"/", calibration_folder()});
        return 0;
    } catch (const std::exception& error) {
        write_error_line("joulecast-meter", error.what());
        return 1;
    }
}
