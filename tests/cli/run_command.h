#pragma once

#include <filesystem>
#include <string>

#include "joulecast/units/scratch_folder.h"

namespace joulecast::testing {

/// What a command left behind; status is the exit status, or 128 + the signal that ended it.
struct Ran {
    int status = -1;
    std::string out;
    std::string err;
};

/// Runs `joulecast <arguments>` through /bin/sh, so quoting and redirections are the shell's.
Ran run_joulecast(const std::string& arguments, const std::string& input = "");
/// The same with joulecast-lab, beside it.
Ran run_laboratory(const std::string& arguments, const std::string& input = "");
/// Runs any shell command the same way; $JOULECAST and $JOULECAST_LAB are the programs under test.
Ran run_shell(const std::string& command, const std::string& input = "");

/// A fresh folder, removed with everything in it at the end.
class TemporaryFolder {
  public:
    const std::filesystem::path& path() const { return folder_.path(); }
    /// The path of a file in it, as text for a command line.
    std::string file(const std::string& name) const { return (path() / name).string(); }

  private:
    ScratchFolder folder_{"joulecast-test"};
};

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& text);

}  // namespace joulecast::testing
