// The verb export-hf: a network of Hugging Face becomes a .pt2 file. torch does that, so a Python that has it is
// started.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"

namespace joulecast::cli {
namespace {

struct ExportHfOptions {
    std::string model;
    std::string file;
    int sequence = 128;
    bool decode = false;
    int past = 128;
    std::string network_class;
    std::string attention = "sdpa";
};

std::string python() {
    const char* const named = std::getenv("JOULECAST_PYTHON");
    return named != nullptr && *named != '\0' ? named : "python3";
}

std::string script() {
    const std::filesystem::path file = std::filesystem::path(shipped_folder("scripts")) / "export_hf.py";
    std::error_code missing;
    if (!std::filesystem::exists(file, missing))
        throw Error("no file " + file.string() +
                    ". Set JOULECAST_HOME to the folder that holds zoo/ and scripts/, or install joulecast again");
    return file.string();
}

std::vector<std::string> command_line(const ExportHfOptions& options) {
    std::vector<std::string> words{python(),      script(),
                                   "-o",          options.file,
                                   "--sequence",  std::to_string(options.sequence),
                                   "--past",      std::to_string(options.past),
                                   "--attention", options.attention};
    if (options.decode) words.emplace_back("--decode");
    if (!options.network_class.empty()) words.insert(words.end(), {"--class", options.network_class});
    words.insert(words.end(), {"--", options.model});
    return words;
}

/// Becomes that Python; returns only by an Error.
int run_export_hf(const ExportHfOptions& options) {
    std::vector<std::string> words = command_line(options);
    std::vector<char*> line;
    for (std::string& word : words) line.push_back(word.data());
    line.push_back(nullptr);
    ::execvp(line.front(), line.data());
    throw Error(
        "cannot start " + words.front() + ": " + std::generic_category().message(errno) +
        ". Set JOULECAST_PYTHON to the python of an environment with torch and transformers: python3 -m venv env; "
        "env/bin/pip install torch transformers; export JOULECAST_PYTHON=$PWD/env/bin/python");
}

}  // namespace

Run declare_export_hf(CLI::App& command) {
    const auto options = std::make_shared<ExportHfOptions>();
    command
        .add_option("MODEL", options->model,
                    "a config.json, a folder that holds one, or the name of a model that was downloaded before")
        ->required();
    command.add_option("-o,--output", options->file, "file to write; its name ends in .pt2")->required();
    command.add_option("--sequence", options->sequence, "tokens of the example; --set changes them afterwards")
        ->capture_default_str();
    command.add_flag("--decode", options->decode,
                     "one step that writes a token; keys and values of the tokens before it are inputs");
    command.add_option("--past", options->past, "with --decode: slots of the example's cache")->capture_default_str();
    command.add_option("--class", options->network_class,
                       "class of transformers, as BertModel (default: the one that the configuration names)");
    command.add_option("--attention", options->attention, "how attention is computed")
        ->check(CLI::IsMember({"sdpa", "eager"}))
        ->capture_default_str();
    return [options] { return run_export_hf(*options); };
}

}  // namespace joulecast::cli
