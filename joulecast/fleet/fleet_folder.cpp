#include "joulecast/fleet/fleet_folder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "joulecast/dataset/schema.h"
#include "joulecast/error.h"
#include "joulecast/units/bounded_json.h"
#include "joulecast/units/replaced_file.h"

namespace joulecast {
namespace {

namespace fs = std::filesystem;

constexpr const char* schema = "joulecast.fleet/1";
constexpr int most_shards = 1'000'000;
constexpr std::uintmax_t longest_description = 1 << 20;

void write(const fs::path& file, const std::string& text) {
    if (const int code = replace_file(file, text); code != 0)
        throw Error("cannot write " + file.string() + ": " + std::generic_category().message(code) + ".");
}

std::string read_small(const fs::path& file) {
    std::error_code failure;
    const auto size = fs::file_size(file, failure);
    std::ifstream input(file, std::ios::binary);
    if (failure || !input)
        throw Error("'" + file.parent_path().string() +
                    "' is no fleet. Make one with: joulecast fleet plan PLAN --slurm --array N --folder FOLDER");
    if (size > longest_description) throw FormatError(file.string() + " is too long to be ours.");
    return {std::istreambuf_iterator<char>(input), {}};
}

std::vector<std::string> texts(const nlohmann::json& json, const char* key, const fs::path& file) {
    std::vector<std::string> list;
    const auto found = json.find(key);
    const bool is_list = found != json.end() && found->is_array() &&
                         std::ranges::all_of(*found, [](const auto& text) { return text.is_string(); });
    if (!is_list) throw FormatError(file.string() + ": " + key + " is no list of texts.");
    for (const auto& text : *found) list.push_back(text.get<std::string>());
    return list;
}

/// Bytes 60 to 63 of SQLite's header, big-endian: PRAGMA user_version (sqlite.org/fileformat.html).
std::int64_t version_of(const fs::path& database) {
    std::ifstream input(database, std::ios::binary);
    std::array<char, 64> head{};
    if (!input.read(head.data(), head.size())) return 0;
    std::int64_t version = 0;
    for (std::size_t i = 60; i < 64; ++i) version = version << 8 | static_cast<unsigned char>(head[i]);
    return version;
}

}  // namespace

std::string shard_name(int shard) {
    const std::string digits = std::to_string(shard);
    return "shard-" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

std::optional<int> shard_number(const std::string& name) {
    if (!name.starts_with("shard-")) return {};
    int number = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + 6, end, number);
    if (read.ec != std::errc() || read.ptr != end || number < 1 || shard_name(number) != name) return {};
    return number;
}

FleetFolder make_fleet_folder(const FleetPlan& plan) {
    const std::string script = sbatch_script(plan);
    FleetFolder fleet{plan.folder, plan.shards, plan.what, plan.how};
    const fs::path description = plan.folder / "fleet.json";
    if (fs::exists(description)) {
        const FleetFolder before = open_fleet_folder(plan.folder);
        if (before.shards != plan.shards || before.what != plan.what || before.how != plan.how)
            throw Error(
                "'" + plan.folder.string() +
                "' holds a fleet that measures something else, or in another number of tasks. Choose another --folder");
    }
    std::error_code failure;
    for (const char* name : {"plans", "logs", "shards"}) {
        if (!failure) fs::create_directories(plan.folder / name, failure);
    }
    if (failure) throw Error("cannot make " + plan.folder.string() + ": " + failure.message() + ".");
    const nlohmann::ordered_json json{
        {"schema", schema}, {"shards", plan.shards}, {"what", plan.what}, {"how", plan.how}};
    write(description, json.dump(2) + '\n');
    write(fleet.script(), script);
    return fleet;
}

FleetFolder open_fleet_folder(const fs::path& path) {
    const fs::path file = path / "fleet.json";
    const auto json = parse_bounded(read_small(file), {.depth = 3, .values = 20'000});
    if (!json.is_object() || json.value("schema", nlohmann::json()) != schema)
        throw FormatError(file.string() + " is not of " + schema + ": it is damaged, or of a newer joulecast.");
    const auto shards = json.find("shards");
    if (shards == json.end() || !shards->is_number_integer() || *shards < 1 || *shards > most_shards)
        throw FormatError(file.string() + ": shards is no number from 1 to " + std::to_string(most_shards) + ".");
    return {fs::absolute(path).lexically_normal(), shards->get<int>(), texts(json, "what", file),
            texts(json, "how", file)};
}

std::vector<std::string> stored_names(const FleetFolder& fleet) {
    std::vector<std::string> names;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(fleet.path / "shards", ignored)) {
        const std::string name = entry.path().stem().string();
        if (entry.path().extension() != ".db") continue;
        const auto number = shard_number(name);
        if (name.starts_with("card-") || (number && *number <= fleet.shards)) names.push_back(name);
    }
    std::ranges::sort(names);
    return names;
}

ShardCopy::ShardCopy(const fs::path& file) : folder_("joulecast-fleet") {
    try {
        const fs::path copy = folder_.path() / file.filename();
        fs::copy_file(file, copy);
        const std::int64_t version = version_of(copy);
        const auto newest = static_cast<std::int64_t>(dataset_migrations().size());
        if (version > 0 && version < newest)
            remark_ = "written by an older joulecast (version " + std::to_string(version) + " of " +
                      std::to_string(newest) + ")";
        dataset_ = std::make_unique<Dataset>(copy, Dataset::Access::read_only);
    } catch (const std::exception& error) {
        throw Error(file.string() + " cannot be read: " + error.what());
    }
}

}  // namespace joulecast
