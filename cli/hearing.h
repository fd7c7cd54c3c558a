#pragma once

#include <string>
#include <vector>

namespace joulecast::cli {

/// While it lives, what verbs write to standard output and tell() the user in this thread is kept here and printed
/// nowhere: for programs that have a verb's code inside. Files named with -o are written all the same. Hearings nest.
class Hearing {
  public:
    Hearing();
    ~Hearing();
    Hearing(const Hearing&) = delete;
    Hearing& operator=(const Hearing&) = delete;

    /// The innermost one of this thread; null where nobody hears.
    static Hearing* of_this_thread();

    std::string text;               ///< for standard output
    std::vector<std::string> said;  ///< one entry for each tell()

  private:
    Hearing* outer_;
};

}  // namespace joulecast::cli
