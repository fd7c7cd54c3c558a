// The verb pack-worker: one wheel for a machine that has neither joulecast nor torch, with the worker in Python and
// joulecast-meter for that machine's processor.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "cli/verb.h"
#include "cli/wheel.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/units/replaced_file.h"

namespace joulecast::cli {
namespace {

namespace fs = std::filesystem;

struct PackWorkerOptions {
    std::string target;
    std::string file;
};

std::string content(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream || bytes.empty()) throw Error("cannot read " + file.string() + ". Install joulecast again.");
    return bytes;
}

/// The sources of a package in Python, in the order of their names.
std::vector<WheelFile> package(const std::string& name) {
    const fs::path folder = fs::path(shipped_folder("workers")) / name;
    std::vector<WheelFile> files;
    std::error_code missing;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, missing))
        if (entry.path().extension() == ".py")
            files.push_back({name + "/" + entry.path().filename().string(), content(entry.path())});
    if (files.empty()) throw Error("there is no package " + folder.string() + ". Install joulecast again.");
    std::ranges::sort(files, {}, &WheelFile::path);
    return files;
}

WheelFile meter(const std::string& target) {
    const fs::path program = fs::path(shipped_folder("boards")) / target / "joulecast-meter";
    std::error_code missing;
    if (!fs::exists(program, missing))
        throw Error("this joulecast was built without joulecast-meter for " + target + ". Install " + "g++-" +
                    (target == "x86_64" ? "x86-64" : target) +
                    "-linux-gnu, configure and build again with the target joulecast_boards.");
    return {"joulecast_measuring/joulecast-meter", content(program), true};
}

Wheel worker_wheel(const std::string& target) {
    Wheel wheel;
    wheel.name = "joulecast_onnxruntime";
    wheel.version = JOULECAST_VERSION;
    wheel.platform = "linux_" + target;
    wheel.summary = "Measures neural networks with ONNX Runtime for joulecast profile, and this machine's meters";
    wheel.python = ">=3.9";
    wheel.needs = {"onnxruntime>=1.19", "onnx>=1.16", "numpy"};
    wheel.programs = {"joulecast-onnxruntime = joulecast_onnxruntime.__main__:main"};
    for (const char* name : {"joulecast_measuring", "joulecast_onnxruntime"})
        std::ranges::move(package(name), std::back_inserter(wheel.files));
    wheel.files.push_back(
        {"joulecast_measuring/target.py",
         "\"\"\"The processor that this package was packed for.\"\"\"\nTARGET = \"" + target + "\"\n"});
    wheel.files.push_back(meter(target));
    return wheel;
}

/// The file to write. pip reads release and processor out of the name, so it has to be this one.
fs::path place_of(const std::string& asked, const std::string& name) {
    std::error_code missing;
    if (asked.empty()) return name;
    if (fs::is_directory(asked, missing)) return fs::path(asked) / name;
    if (fs::path(asked).filename() != name)
        throw UsageError("pip takes a wheel by its own name alone. Give -o a folder, or a file named " + name);
    return asked;
}

int run_pack_worker(const PackWorkerOptions& options) {
    const Wheel wheel = worker_wheel(options.target);
    const std::string name = file_name(wheel);
    const fs::path file = place_of(options.file, name);
    if (const int problem = replace_file(file, wheel_bytes(wheel)); problem != 0)
        throw Error("cannot write " + file.string() + ": " + std::strerror(problem));
    std::cout << file.string() << '\n';
    tell("Copy it to the board, and there: python3 -m venv joulecast && joulecast/bin/pip install " + name +
         "\nThen here: joulecast profile MODEL --db board.db --worker \"ssh board "
         "joulecast/bin/joulecast-onnxruntime\"");
    return Exit::done;
}

}  // namespace

Run declare_pack_worker(CLI::App& command) {
    const auto options = std::make_shared<PackWorkerOptions>();
    command.add_option("--target", options->target, "processor of the board, as `uname -m` prints it there")
        ->check(CLI::IsMember({"aarch64", "x86_64"}))
        ->required();
    command.add_option("-o,--output", options->file, "folder or file to write (default: this folder)");
    return [options] { return run_pack_worker(*options); };
}

}  // namespace joulecast::cli
