#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace joulecast::cli {

/// While it lives, what is written to std::cerr is printable text: names and messages come out of files and workers.
class PrintableErrors final : public std::streambuf {
  public:
    PrintableErrors();
    ~PrintableErrors() override;
    PrintableErrors(const PrintableErrors&) = delete;
    PrintableErrors& operator=(const PrintableErrors&) = delete;

  protected:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int sync() override;

  private:
    std::streambuf* const before_;
    /// The beginning of a character that was written byte by byte.
    std::string unfinished_;
};

/// std::cerr as it was: for progress lines, which are drawn over each other and are printable by themselves.
std::ostream& drawn_errors();

}  // namespace joulecast::cli
