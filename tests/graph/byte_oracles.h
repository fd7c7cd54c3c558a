#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "joulecast/graph/readers/read_graph.h"

namespace joulecast {

/// The networks of the zoo that have such an oracle.
inline std::vector<std::string> networks_with_byte_oracle() {
    std::vector<std::string> networks;
    for (const auto& entry : std::filesystem::directory_iterator(JOULECAST_SOURCE_DIR "/tests/graph/oracles_bytes"))
        networks.push_back(entry.path().stem().string());
    std::ranges::sort(networks);
    return networks;
}

/// What PyTorch says of the bytes of one form of a network (tests/graph/oracles_bytes, tools/make_byte_oracles.py).
class ByteOracle {
  public:
    ByteOracle(const std::string& network, Mode form) {
        std::ifstream file(std::string(JOULECAST_SOURCE_DIR) + "/tests/graph/oracles_bytes/" + network + ".json");
        const auto document = nlohmann::json::parse(file);
        lines_ = document.at("lines");
        form_ = document.at("forms").at(form == Mode::training ? "train" : "eval");
    }

    std::vector<SymbolValues> settings() const { return form_.at("settings"); }
    std::size_t calls() const { return form_.at("nodes").size(); }

    /// Bytes read and written by one call at one setting.
    std::pair<std::int64_t, std::int64_t> bytes(std::size_t call, std::size_t setting) const {
        std::istringstream line(lines_.at(form_.at("nodes").at(call).get<std::size_t>()));
        std::pair<std::int64_t, std::int64_t> found;
        for (std::size_t i = 0; i <= setting; ++i) line >> found.first >> found.second;
        return found;
    }

    /// Bytes that autograd keeps at each setting; "cuda" or "cpu".
    std::vector<std::int64_t> saved(const std::string& device) const { return form_.at("saved_" + device); }

  private:
    std::vector<std::string> lines_;
    nlohmann::json form_;
};

}  // namespace joulecast
