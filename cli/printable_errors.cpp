#include "cli/printable_errors.h"

#include <iostream>

#include "joulecast/units/printable.h"

namespace joulecast::cli {

namespace {

std::streambuf*& unfiltered() {
    static std::streambuf* buffer = nullptr;
    return buffer;
}

}  // namespace

PrintableErrors::PrintableErrors() : before_(std::cerr.rdbuf(this)) {
    unfiltered() = before_;
}

PrintableErrors::~PrintableErrors() {
    PrintableErrors::sync();
    std::cerr.rdbuf(before_);
    unfiltered() = nullptr;
}

PrintableErrors::int_type PrintableErrors::overflow(int_type c) {
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    const char byte = traits_type::to_char_type(c);
    return PrintableErrors::xsputn(&byte, 1) == 1 ? c : traits_type::eof();
}

std::streamsize PrintableErrors::xsputn(const char* text, std::streamsize count) {
    unfinished_.append(text, static_cast<std::size_t>(count));
    const std::size_t kept = unfinished_bytes(unfinished_);
    const std::string shown = printable_text(std::string_view(unfinished_).substr(0, unfinished_.size() - kept));
    unfinished_.erase(0, unfinished_.size() - kept);
    const auto length = static_cast<std::streamsize>(shown.size());
    return before_->sputn(shown.data(), length) == length ? count : 0;
}

/// std::cerr syncs after each piece; the rest of a character may still come.
int PrintableErrors::sync() {
    return before_->pubsync();
}

std::ostream& drawn_errors() {
    static std::ostream drawn(nullptr);
    drawn.rdbuf(unfiltered() != nullptr ? unfiltered() : std::cerr.rdbuf());
    return drawn;
}

}  // namespace joulecast::cli
