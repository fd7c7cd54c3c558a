#include "joulecast/meter/line_stream.h"

#include <utility>

#include "joulecast/meter/meter.h"

namespace joulecast {

namespace {

constexpr std::size_t most_line_bytes = 16384;

/// The last line, printable and short enough for a message.
std::string last_words(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    const auto start = text.rfind('\n');
    std::string words = text.substr(start == std::string::npos ? 0 : start + 1, 200);
    for (char& c : words) {
        if (c < ' ' || c > '~') c = '?';
    }
    return words;
}

}  // namespace

LineStream::LineStream(const std::string& command, std::string name, double longest_silence_s, TimeSource now_s)
    : child_(command, most_line_bytes),
      name_(std::move(name)),
      longest_silence_s_(longest_silence_s),
      now_s_(std::move(now_s)),
      last_line_s_(now_s_()) {}

void LineStream::lose(const std::string& what) {
    const std::string ending = child_.stop();
    const std::string words = last_words(child_.error_tail());
    throw MeterLost(name_ + " " + what + (what == "ended" ? " (" + ending + ")" : "") +
                    (words.empty() ? "" : ": " + words));
}

std::optional<std::string> LineStream::next(std::chrono::milliseconds wait) {
    ChildProcess::Reply reply = child_.next_line(wait);
    switch (reply.ending) {
        case ChildProcess::Ending::line:
            last_line_s_ = now_s_();
            return std::move(reply.line);
        case ChildProcess::Ending::closed:
            lose("ended");
        case ChildProcess::Ending::too_long:
            lose("wrote a line that does not end");
        case ChildProcess::Ending::timeout:
            break;
    }
    if (now_s_() - last_line_s_ > longest_silence_s_) lose("has been silent for too long");
    return std::nullopt;
}

}  // namespace joulecast
