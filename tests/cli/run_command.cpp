#include "tests/cli/run_command.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace joulecast::testing {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& path, const std::string& text) {
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path.string());
}

Ran run_shell(const std::string& command, const std::string& input) {
    const TemporaryFolder folder;
    write_file(folder.path() / "in", input);
    const std::string line = "JOULECAST='" JOULECAST_CLI "'; JOULECAST_LAB='" JOULECAST_CLI "-lab'; ( " + command +
                             "\n) <'" + folder.file("in") + "' >'" + folder.file("out") + "' 2>'" + folder.file("err") +
                             "'";
    const int status = std::system(line.c_str());
    Ran ran;
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    ran.out = read_file(folder.path() / "out");
    ran.err = read_file(folder.path() / "err");
    return ran;
}

Ran run_joulecast(const std::string& arguments, const std::string& input) {
    return run_shell("\"$JOULECAST\" " + arguments, input);
}

Ran run_laboratory(const std::string& arguments, const std::string& input) {
    return run_shell("\"$JOULECAST_LAB\" " + arguments, input);
}

}  // namespace joulecast::testing
