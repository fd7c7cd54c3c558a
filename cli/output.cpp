#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "cli/terminal.h"
#include "cli/verb.h"
#include "joulecast/error.h"
#include "joulecast/units/printable.h"
#include "joulecast/units/replaced_file.h"

namespace joulecast::cli {
namespace {

[[noreturn]] void fail(const std::string& target, int code) {
    throw Error("cannot write " + target + ": " + std::generic_category().message(code) +
                (code == ENOSPC ? ". Free some space, or choose another file with -o" : ""));
}

/// 0, or the errno of what went wrong.
int write_all(int file, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(file, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

void write_to_standard_output(const std::string& text) {
    // Someone may have used stdio before us; what is in its buffer comes first.
    const int code = std::fflush(stdout) != 0 ? errno : write_all(STDOUT_FILENO, text);
    if (code == EPIPE) {
        // "joulecast ... | head": the reader has seen enough. End as any filter does (main ignores SIGPIPE so that
        // a dying worker does not take the sweep with it).
        std::signal(SIGPIPE, SIG_DFL);
        std::raise(SIGPIPE);
    }
    if (code != 0) fail("standard output", code);
}

/// Writes and closes; some file systems (NFS, quotas) report a full disk only when closing.
int create(const std::string& path, const std::string& text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return errno;
    const int code = write_all(file, text);
    const int close_code = ::close(file) == 0 ? 0 : errno;
    return code != 0 ? code : close_code;
}

void write_to_file(const std::string& path, const std::string& text) {
    namespace fs = std::filesystem;
    std::error_code ignored;
    const auto status = fs::status(path, ignored);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
        // A device or pipe (/dev/stdout, /dev/full) cannot be replaced.
        if (const int code = create(path, text); code != 0) fail(path, code);
        return;
    }
    // A plain file appears whole or not at all, so a full disk never costs the previous result.
    if (const int code = replace_file(path, text); code != 0) fail(path, code);
}

/// The format that a file's name asks for, or the one that --format says.
std::string format_for(const std::string& file, const std::string& format, bool is_asked) {
    const std::string suffix = std::filesystem::path(file).extension().string();
    if (suffix == ".html" || suffix == ".pdf")
        throw UsageError("-o " + file +
                         ": pages are made by joulecast report MODEL --device ID -o x.html; here are table, json "
                         "(-o x.json) and csv (-o x.csv)");
    if (suffix != ".json" && suffix != ".csv") return format;
    if (is_asked && format != suffix.substr(1))
        throw UsageError("-o " + file + " is a file of " + suffix.substr(1) + ", but --format says " + format +
                         ". Leave out one of them");
    return suffix.substr(1);
}

/// What goes to standard output for people: names out of files must not steer their terminal. Our own colour may.
std::string for_people(std::string_view text) {
    std::string shown;
    while (!text.empty()) {
        std::size_t own = std::string_view::npos;
        std::size_t length = 0;
        for (const std::string_view code : {colour_on, colour_off})
            if (const std::size_t at = text.find(code); at < own) {
                own = at;
                length = code.size();
            }
        shown += printable_text(text.substr(0, own));
        if (own == std::string_view::npos) break;
        shown += text.substr(own, length);
        text.remove_prefix(own + length);
    }
    return shown;
}

}  // namespace

void Output::declare(CLI::App& command) {
    command.option_defaults()->group("Output");
    const CLI::Option* const asked = command.add_option("--format", format, "table for people; json has every number")
                                         ->check(CLI::IsMember({"table", "json", "csv"}))
                                         ->capture_default_str();
    command.add_option("-o,--output", file, "write to this file; .json and .csv decide the format")->type_name("FILE");
    command.parse_complete_callback([this, asked] { format = format_for(file, format, asked->count() > 0); });
}

void Output::declare_verbose(CLI::App& command) {
    command.option_defaults()->group("Output");
    command.add_flag("-v,--verbose", verbose, "all rows and all notes");
}

void Output::write(const std::string& text) const {
    if (file.empty() || file == "-") {
        const bool is_for_people = format == "table" || ::isatty(STDOUT_FILENO) == 1;
        write_to_standard_output(is_for_people ? for_people(text) : text);
    } else {
        write_to_file(file, text);
    }
}

void tell(const std::string& note) {
    if (!note.empty()) std::cerr << "joulecast: " << note << '\n';
}

}  // namespace joulecast::cli
