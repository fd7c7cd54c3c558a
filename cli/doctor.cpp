#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli/finding.h"
#include "cli/json_tree.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/dataset/dataset.h"
#include "joulecast/device/device.h"
#include "joulecast/error.h"
#include "joulecast/graph/readers/read_graph.h"
#include "joulecast/meter/nvml.h"
#include "joulecast/units/scratch_folder.h"
#include "joulecast/worker/supervision/supervisor.h"

namespace joulecast::cli {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

std::string state_name(State state) {
    switch (state) {
        case State::works:
            return "works";
        case State::limited:
            return "limited";
        case State::missing:
            return "missing";
        case State::broken:
            break;
    }
    return "broken";
}

const std::vector<Column<Finding>>& finding_columns() {
    static const std::vector<Column<Finding>> list = {
        {"part", "part", Show::text, [](const Finding& f) { return f.part; }},
        {"state", "state", Show::text, [](const Finding& f) { return state_name(f.state); }},
        {"found", "found", Show::text, [](const Finding& f) { return f.found; }},
        {"what_to_do", "what to do", Show::text, [](const Finding& f) { return f.what_to_do; }},
    };
    return list;
}

Finding processor() {
    const Device cpu = this_cpu();
    return {"processor", State::works, cpu.display_name + ", " + std::to_string(cpu.units) + " cores (" + cpu.id + ")",
            ""};
}

Finding zoo() {
    const fs::path folder = shipped_folder("zoo");
    std::error_code none;
    if (!fs::is_directory(folder, none)) {
        return {"zoo", State::missing, "no folder " + folder.string(),
                "set JOULECAST_HOME to the folder that holds zoo/ and predictors/, or install joulecast again"};
    }
    const auto names = zoo_names(folder);
    for (const std::string& name : names) {
        try {
            open_model(name, folder);
        } catch (const Error& error) {
            return {"zoo", State::broken, error.what(), "install joulecast again"};
        }
    }
    return {"zoo", names.empty() ? State::missing : State::works, std::to_string(names.size()) + " networks, all open",
            names.empty() ? "install joulecast again" : ""};
}

Finding predictors() {
    const fs::path folder = shipped_folder("predictors");
    std::error_code none;
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder, none)) {
        if (entry.path().extension() == ".jcp") names.push_back(entry.path().stem().string());
    }
    std::sort(names.begin(), names.end());
    std::string list;
    for (const auto& name : names) list += (list.empty() ? "" : ", ") + name;
    if (names.empty()) {
        return {"predictors", State::missing, "none in " + folder.string(),
                "train one: joulecast profile ..., then joulecast train; or set JOULECAST_HOME"};
    }
    return {"predictors", State::works, std::to_string(names.size()) + ": " + list, ""};
}

/// Creates a database where temporary files go, writes this machine into it and reads it back.
Finding dataset() {
    try {
        const ScratchFolder folder("joulecast-doctor");
        const fs::path file = folder.path() / "doctor.db";
        Dataset(file).insert(this_cpu());
        if (Dataset(file, Dataset::Access::read_only).devices().size() != 1) {
            throw Error("a device written to " + file.string() + " is not read back");
        }
    } catch (const Error& error) {
        return {"dataset", State::broken, error.what(), "see that there is space where temporary files go ($TMPDIR)"};
    }
    return {"dataset", State::works, "a database was written and read back", ""};
}

Finding torch_worker(const std::string& asked_command) {
    const std::string command = asked_command.empty() ? default_worker() : asked_command;
    if (command == "joulecast-torch" && !is_on_path(command)) {
        return {"torch worker", State::missing, "no joulecast-torch beside this program or on the PATH",
                "needed for measuring only: ./quickstart --measure builds it (torch takes about 5 GB of disk)"};
    }
    try {
        Supervisor supervisor({.command = command, .hello_timeout = std::chrono::seconds(60)});
        const auto& capabilities = supervisor.capabilities();
        std::string devices;
        for (const auto& name : capabilities.device_names) devices += " " + name;
        std::string found =
            capabilities.provenance.worker + ", " + capabilities.provenance.framework + ", on" + devices;
        if (!capabilities.measures_energy) found += "; no energy: " + capabilities.energy_missing_reason;
        return {"torch worker", State::works, found, ""};
    } catch (const Error& error) {
        return {"torch worker", State::broken, error.what(), "./quickstart --measure builds it again"};
    }
}

/// The cures stand below the table: as a column they would make it too wide for a terminal.
std::string text(Table table, const std::vector<Finding>& findings) {
    table.heads.pop_back();
    for (auto& row : table.rows) row.pop_back();
    std::string result = to_text(table);
    for (const Finding& finding : findings) {
        if (finding.what_to_do.empty()) continue;
        result += "\n" + finding.part + ": " + finding.what_to_do;
    }
    return result + "\n";
}

}  // namespace

Run declare_doctor(CLI::App& command) {
    struct Options {
        std::string worker;
        Output output;
    };
    const auto options = std::make_shared<Options>();
    command.add_option("--worker", options->worker, "worker command to try (default: joulecast-torch)")
        ->type_name("CMD");
    options->output.declare(command);
    return [options] {
        std::vector<Finding> findings = {processor(), zoo(), predictors(), dataset(), torch_worker(options->worker)};
        for (Finding& finding : energy_meters({})) findings.push_back(std::move(finding));
        findings.push_back(clock_governor("/"));
        findings.push_back(gpu_driver(default_nvml_library()));
        findings.push_back(gpu_clocks(default_nvml_library()));
        const Table table = fill(finding_columns(), findings);
        if (options->output.format == "csv") {
            options->output.write(to_csv(table));
        } else if (options->output.format == "json") {
            nlohmann::ordered_json answer{{"schema", "joulecast.doctor/1"}};
            answer["findings"] = rows_json(table);
            options->output.write(printed(answer));
        } else {
            options->output.write(text(table, findings));
        }
        // Forecasting is the main job; a machine that cannot measure is no failure.
        const bool forecasts = std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
            const bool optional = finding.part == "torch worker" || finding.part.starts_with("GPU ") ||
                                  finding.part.starts_with("meter ");
            return optional || finding.state == State::works || finding.state == State::limited;
        });
        return static_cast<int>(forecasts ? done : failed);
    };
}

}  // namespace joulecast::cli
