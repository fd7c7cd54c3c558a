#include "cli/predict_stdin.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct Line {
    std::string text;
    bool is_too_long = false;
};

/// Lines of standard input, of bounded length: what is too long is passed over to its end.
class LineReader {
  public:
    std::optional<Line> next() {
        Line line;
        bool any = false;
        while (at_ < filled_ || fill()) {
            any = true;
            const char* const begin = buffer_.data() + at_;
            const std::string_view here(begin, filled_ - at_);
            const std::size_t end = here.find('\n');
            const std::string_view part = here.substr(0, end);
            if (line.text.size() + part.size() > longest_request) line.is_too_long = true;
            if (!line.is_too_long) line.text += part;
            at_ += end == std::string_view::npos ? part.size() : end + 1;
            if (end != std::string_view::npos) return line;
        }
        if (!any) return std::nullopt;
        return line;
    }

  private:
    bool fill() {
        ssize_t count = 0;
        do {
            count = ::read(STDIN_FILENO, buffer_.data(), buffer_.size());
        } while (count < 0 && errno == EINTR);
        if (count < 0) throw Error("cannot read standard input: " + std::generic_category().message(errno));
        at_ = 0;
        filled_ = static_cast<std::size_t>(count);
        return count > 0;
    }

    std::array<char, 65536> buffer_{};
    std::size_t at_ = 0;
    std::size_t filled_ = 0;
};

std::string too_long() {
    return R"({"id":null,"error":"the line is longer than )" + std::to_string(longest_request >> 20U) +
           R"( MB: write the graph to a file and name it as \"model\"","status":2})";
}

bool is_blank(const Line& line) {
    return !line.is_too_long && line.text.find_first_not_of(" \t\r") == std::string::npos;
}

}  // namespace

int answer_requests(RequestSource source) {
    PredictService service(std::move(source));
    LineReader lines;
    const Output answers;
    while (const auto line = lines.next()) {
        if (is_blank(*line)) continue;
        answers.write((line->is_too_long ? too_long() : service.answer(line->text)) + "\n");
    }
    return service.parts_were_unknown() ? parts_unknown : done;
}

}  // namespace joulecast::cli
