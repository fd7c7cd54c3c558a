#include "cli/report_pdf.h"

#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <unistd.h>

#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "joulecast/process/child_process.h"
#include "joulecast/process/shell_word.h"
#include "joulecast/units/scratch_folder.h"

namespace joulecast::cli {
namespace {

constexpr std::array browsers = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"};
constexpr auto longest_print = std::chrono::minutes(3);

std::string browser() {
    for (const char* program : browsers) {
        if (is_on_path(program)) return program;
    }
    return "";
}

/// RFC 8089; every byte that is not plain is written as %20.
std::string file_address(const std::string& path) {
    constexpr const char* digits = "0123456789ABCDEF";
    std::string address = "file://";
    for (const char c : path) {
        const auto byte = static_cast<unsigned char>(c);
        const bool is_plain = std::isalnum(byte) != 0 || std::strchr("/-_.~", c) != nullptr;
        if (is_plain)
            address += c;
        else
            address += std::string("%") + digits[byte >> 4U] + digits[byte & 15U];
    }
    return address;
}

bool is_pdf(const std::filesystem::path& file) {
    std::ifstream input(file, std::ios::binary);
    std::array<char, 5> begin{};
    input.read(begin.data(), begin.size());
    return input && std::string_view(begin.data(), begin.size()) == "%PDF-";
}

}  // namespace

std::string pdf_missing_reason() {
    if (!browser().empty()) return "";
    return "no PDF can be printed: there is no Chromium here (apt-get install chromium). Write a page (-o report.html) "
           "and print it from any browser";
}

void print_pdf(const std::string& html, const std::string& file) {
    if (const std::string why = pdf_missing_reason(); !why.empty()) throw Error(why);
    // Not where temporary files go: a browser in a sandbox of its own may not see /tmp.
    const ScratchFolder folder("joulecast-page", std::filesystem::absolute(file).parent_path());
    const auto page = folder.path() / "page.html";
    const auto paper = folder.path() / "page.pdf";
    Output{.format = "html", .file = page.string()}.write(html);
    // Chromium refuses to be root in its sandbox; what it opens here is our own page, which fetches nothing.
    const std::string as_root = geteuid() == 0 ? " --no-sandbox" : "";
    ChildProcess process("exec " + browser() + " --headless --disable-gpu --disable-dev-shm-usage" + as_root +
                             " --virtual-time-budget=60000 --no-pdf-header-footer --user-data-dir=" +
                             shell_word((folder.path() / "profile").string()) + " --print-to-pdf=" +
                             shell_word(paper.string()) + " " + shell_word(file_address(page.string())),
                         1'000'000);
    const auto status = process.finish(longest_print);
    if (!status) throw Error(browser() + " did not print the page within three minutes");
    if (*status != 0 || !is_pdf(paper))
        throw Error(browser() + " did not print the page (exit status " + std::to_string(*status) +
                    "): " + process.error_tail());
    std::filesystem::rename(paper, file);
}

}  // namespace joulecast::cli
