#include "lab/verbs/study.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/own_options.h"
#include "cli/picture.h"
#include "cli/settings.h"
#include "lab/verbs/verbs.h"

namespace joulecast::cli {
namespace {

struct Study {
    const char* name;
    int (*run)(const StudyOptions&);
};

constexpr Study studies[] = {
    {"proportionality", &study_proportionality},
    {"startup", &study_startup},
    {"dataset-size", &study_dataset_size},
    {"features", &study_features},
    {"learners", &study_learners},
    {"layers", &study_layers},
    {"augmentation", &study_augmentation},
    {"latency", &study_latency},
    {"fusion", &study_fusion},
    {"boards", &study_boards},
    {"what-next", &study_what_next},
};

std::vector<std::string> study_names() {
    std::vector<std::string> names;
    for (const Study& study : studies) names.emplace_back(study.name);
    return names;
}

void declare_measuring(CLI::App& command, StudyOptions& options, OwnOptions& own) {
    const std::vector<std::string> both{"proportionality", "startup"};
    own.add(command.add_option("OPERATION", options.operation, "operation to run, as joulecast extract prints it")
                ->capture_default_str(),
            both);
    own.add(command.add_option("--worker", options.worker, "command that starts the worker (default: joulecast-torch)")
                ->type_name("CMD"),
            both);
    own.add(command.add_option("--threads", options.threads, "threads to compute with (default: one for each core)")
                ->check(CLI::NonNegativeNumber),
            both);
    own.add(command.add_option("--longest", options.longest, "proportionality: longest run")
                ->type_name("TIME")
                ->capture_default_str(),
            {"proportionality"});
    own.add(command.add_option("--points", options.points, "proportionality: most runs")
                ->check(CLI::Range(5, 2000))
                ->capture_default_str(),
            {"proportionality"});
    own.add(command.add_option("--meter", options.meter, "startup: meter of energy")
                ->type_name("METER")
                ->capture_default_str(),
            {"startup"});
    own.add(
        command.add_option("--runs", options.runs, "startup: runs")->check(CLI::Range(1, 1000))->capture_default_str(),
        {"startup"});
    own.add(
        command.add_option("--run", options.run, "startup: length of a run")->type_name("TIME")->capture_default_str(),
        {"startup"});
    own.add(command.add_option("--rest", options.rest, "startup: rest before each run; 0: none")
                ->type_name("TIME")
                ->capture_default_str(),
            {"startup"});
    own.add(command.add_option("--power-log", options.power_log, "startup: read this trace instead of measuring")
                ->type_name("FILE.csv"),
            {"startup"});
}

void declare_database(CLI::App& command, StudyOptions& options, OwnOptions& own) {
    own.add(
        command.add_option("--db", options.database, "database of measurements")->type_name("FILE.db"),
        {"dataset-size", "features", "learners", "layers", "augmentation", "latency", "fusion", "boards", "what-next"});
    own.add(command
                .add_option("--folds", options.folds,
                            "parts to split the operations into (default: dataset-size 3, else 5)")
                ->check(CLI::Range(2, 100)),
            {"dataset-size", "features", "learners", "layers", "augmentation"});
    own.add(command.add_option("--by", options.by, "dataset-size: all families together, or also each family")
                ->check(CLI::IsMember({"all", "family"}))
                ->capture_default_str(),
            {"dataset-size"});
    own.add(command.add_option("--split", options.split, "layers: what is held out; random rows leak")
                ->check(CLI::IsMember({"operation", "random", "test-set"}))
                ->capture_default_str(),
            {"layers"});
    own.add(command.add_option("--baselines", options.baselines, "layers: also score these published methods")
                ->type_name("NAME,...")
                ->delimiter(','),
            {"layers"});
    own.add(
        command.add_option("--seeds", options.seeds, "repeats with other seeds (default: dataset-size 1, what-next 3)")
            ->check(CLI::Range(1, 1000)),
        {"dataset-size", "what-next"});
    own.add(command.add_option("--steps", options.steps, "dataset-size: number of training sets")
                ->check(CLI::Range(1, 1000))
                ->capture_default_str(),
            {"dataset-size"});
    own.add(command.add_option("--learner", options.learners, "learner to train; learners: those to compare")
                ->check(CLI::IsMember(learner_words())),
            {"dataset-size", "features", "learners", "layers", "augmentation", "what-next"});
    own.add(
        command
            .add_option("--repeats", options.repeats, "features: shuffles (default 3); latency: timings (default 20)")
            ->check(CLI::Range(1, 10000)),
        {"features", "latency"});
    own.add(command.add_option("--predictor", options.predictor, "latency: use this predictor, do not train one")
                ->type_name("FILE.jcp"),
            {"latency"});
}

}  // namespace

Run declare_study(CLI::App& command) {
    const auto options = std::make_shared<StudyOptions>();
    const auto own = std::make_shared<OwnOptions>();
    command.add_option("STUDY", options->study, joined(study_names()))->required()->check(CLI::IsMember(study_names()));
    command.option_defaults()->group("Studies that measure");
    declare_measuring(command, *options, *own);
    auto* device = command.add_option("--device", options->device,
                                      "device of the worker (cpu, cuda:0), or a device of the database");
    device->type_name("ID");
    command.option_defaults()->group("Studies of a database");
    declare_database(command, *options, *own);
    command.option_defaults()->group("Output");
    command.add_option("--csv", options->csv, "write the points as CSV")->type_name("FILE.csv");
    command.add_option("--picture", options->picture, "draw the figures")->type_name("FILE.html");
    options->output.declare(command);
    return [options, own, device] {
        own->check("study " + options->study, options->study);
        if (device->count() > 0) options->devices = {options->device};
        if (!options->picture.empty() && !picture_missing_reason().empty())
            std::cerr << "joulecast: " << picture_missing_reason() << '\n';
        const auto* study =
            std::ranges::find(studies, options->study, [](const Study& s) { return std::string(s.name); });
        return study->run(*options);
    };
}

}  // namespace joulecast::cli
