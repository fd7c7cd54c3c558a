#pragma once

#include <stdexcept>
#include <string>

namespace joulecast {

/// Stops a command. The message says what failed, on what, and what to do about it.
class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// The file or line cannot be understood: truncated, wrong version, hostile.
class FormatError : public Error {
  public:
    using Error::Error;
};

/// The command line is wrong; the program ends with exit status 2.
class UsageError : public Error {
  public:
    using Error::Error;
};

}  // namespace joulecast
