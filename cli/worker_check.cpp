#include <algorithm>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/json_tree.h"
#include "cli/verb.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/worker/supervision/conformance.h"

namespace joulecast::cli {
namespace {

const std::vector<Column<Claim>>& claim_columns() {
    static const std::vector<Column<Claim>> list = {
        {"claim", "a worker's claim", Show::text, [](const Claim& c) { return c.name; }},
        {"held", "held", Show::text, [](const Claim& c) { return c.held; }},
        {"found", "found", Show::text, [](const Claim& c) { return c.found; }},
    };
    return list;
}

struct WorkerCheckOptions {
    std::string command;
    double timeout_s = 120.0;
    Output output;
};

std::string text_of(const WorkerCheckOptions& options, const std::vector<Claim>& claims, std::int64_t broken) {
    const Table table = fill(claim_columns(), claims);
    if (options.output.format == "csv") return to_csv(table);
    if (options.output.format == "json") {
        const nlohmann::ordered_json json = {{"schema", "joulecast.worker_check/1"},
                                             {"command", options.command},
                                             {"failed", broken},
                                             {"claims", rows_json(table)}};
        return printed(json);
    }
    const auto count = std::to_string(claims.size());
    const std::string verdict =
        broken == 0 ? "all " + count + " claims hold\n" : std::to_string(broken) + " of " + count + " claims failed\n";
    return "worker: " + options.command + "\n" + to_text(table) + verdict;
}

int run_worker_check(const WorkerCheckOptions& options) {
    ConformanceOptions check{options.command};
    check.request_timeout = std::chrono::milliseconds(static_cast<std::int64_t>(options.timeout_s * 1000.0));
    check.hello_timeout = check.request_timeout;
    const auto claims = check_worker(check);
    const auto broken = std::count_if(claims.begin(), claims.end(), [](const Claim& claim) { return !claim.held; });
    options.output.write(text_of(options, claims, broken));
    return broken == 0 ? done : failed;
}

}  // namespace

Run declare_worker_check(CLI::App& command) {
    const auto options = std::make_shared<WorkerCheckOptions>();
    command.add_option("CMD", options->command, "command that starts the worker (default: joulecast-torch)");
    command.add_option("--timeout", options->timeout_s, "longest time of one answer")
        ->type_name("S")
        ->check(CLI::Range(0.1, 86400.0));
    options->output.declare(command);
    return [options] {
        if (options->command.empty()) options->command = default_worker();
        return run_worker_check(*options);
    };
}

}  // namespace joulecast::cli
