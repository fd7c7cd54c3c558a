#include "joulecast/fleet/slurm.h"

#include <charconv>
#include <chrono>

#include "joulecast/process/child_process.h"

namespace joulecast {
namespace {

constexpr std::size_t longest_line = 64 << 10;
constexpr std::chrono::seconds longest_wait{20};

/// The standard output of a command that ends with status 0.
std::optional<std::string> output_of(const std::string& command) {
    const auto deadline = std::chrono::steady_clock::now() + longest_wait;
    ChildProcess process(command, longest_line);
    std::string text;
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        if (left.count() <= 0) return {};
        const auto reply = process.next_line(left);
        if (reply.ending == ChildProcess::Ending::closed) break;
        if (reply.ending != ChildProcess::Ending::line) return {};
        text += reply.line + '\n';
    }
    if (process.finish(longest_wait) != 0) return {};
    return text;
}

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

}  // namespace

std::optional<int> parse_max_array_size(std::string_view text) {
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::size_t sign = line.find('=');
        if (!line.starts_with("MaxArraySize") || sign == std::string_view::npos) continue;
        const std::string_view value = line.substr(std::min(line.find_first_not_of(' ', sign + 1), line.size()));
        int size = 0;
        const auto read = std::from_chars(value.data(), value.data() + value.size(), size);
        if (read.ec == std::errc() && size > 0) return size;
    }
    return {};
}

std::map<std::string, std::string> parse_tasks(std::string_view text) {
    std::map<std::string, std::string> tasks;
    while (!text.empty()) {
        const std::string_view line = take_line(text);
        const std::size_t space = line.find(' ');
        if (space != std::string_view::npos) tasks.emplace(line.substr(0, space), line.substr(space + 1));
    }
    return tasks;
}

std::optional<int> max_array_size() {
    const auto text = output_of("exec scontrol show config 2>/dev/null");
    return text ? parse_max_array_size(*text) : std::nullopt;
}

std::optional<std::map<std::string, std::string>> tasks_of_slurm() {
    const auto text = output_of("exec squeue --noheader --me --array --format='%i %T' 2>/dev/null");
    return text ? std::optional(parse_tasks(*text)) : std::nullopt;
}

}  // namespace joulecast
