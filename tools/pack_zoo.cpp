// Writes the packed form of every network of the zoo into a folder, which is made where it is missing.
// usage: joulecast_pack_zoo ZOO FOLDER
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "joulecast/error.h"
#include "joulecast/graph/readers/packed_graph.h"
#include "joulecast/graph/readers/read_graph.h"

namespace {

namespace fs = std::filesystem;

void pack(const fs::path& source, const fs::path& target) {
    std::ifstream in(source, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    const std::string packed = joulecast::pack_graph(joulecast::read_pt2(source), joulecast::source_mark(bytes));
    std::ofstream out(target, std::ios::binary | std::ios::trunc);
    out.write(packed.data(), static_cast<std::streamsize>(packed.size()));
    out.close();
    if (!in || !out) throw joulecast::Error("cannot write " + target.string());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: joulecast_pack_zoo ZOO FOLDER\n", stderr);
        return 2;
    }
    try {
        const fs::path folder = argv[2];
        fs::create_directories(folder);
        for (const auto& entry : fs::directory_iterator(argv[1])) {
            if (entry.path().extension() == ".pt2")
                pack(entry.path(), folder / (entry.path().stem().string() + ".graph"));
        }
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "joulecast_pack_zoo: %s\n", error.what());
        return 1;
    }
}
