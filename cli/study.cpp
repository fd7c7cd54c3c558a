#include "cli/study.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "cli/own_options.h"
#include "cli/picture.h"
#include "cli/settings.h"

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
    {"what-next", &study_what_next},
};

std::vector<std::string> study_names() {
    std::vector<std::string> names;
    for (const Study& study : studies) names.emplace_back(study.name);
    return names;
}

void declare_measuring(CLI::App& command, StudyOptions& options, OwnOptions& own) {
    const std::vector<std::string> both{"proportionality", "startup"};
    own.add(
        command.add_option("OPERATION", options.operation, "signature of the operation to run")->capture_default_str(),
        both);
    own.add(command.add_option("--worker", options.worker, "command that starts the worker (default: joulecast-torch)"),
            both);
    own.add(command.add_option("--threads", options.threads, "CPU threads (default: one for each core)")
                ->check(CLI::NonNegativeNumber),
            both);
    own.add(command.add_option("--longest", options.longest, "proportionality: the longest run")->capture_default_str(),
            {"proportionality"});
    own.add(command.add_option("--points", options.points, "proportionality: runs, at most")
                ->check(CLI::Range(5, 2000))
                ->capture_default_str(),
            {"proportionality"});
    own.add(command.add_option("--meter", options.meter, "startup: which meter")->capture_default_str(), {"startup"});
    own.add(command.add_option("--runs", options.runs, "startup: how many runs")
                ->check(CLI::Range(1, 1000))
                ->capture_default_str(),
            {"startup"});
    own.add(command.add_option("--run", options.run, "startup: length of a run")->capture_default_str(), {"startup"});
    own.add(
        command.add_option("--rest", options.rest, "startup: rest before each run, 0 for none")->capture_default_str(),
        {"startup"});
    own.add(command.add_option("--power-log", options.power_log, "startup: a recorded trace instead of measuring"),
            {"startup"});
}

void declare_database(CLI::App& command, StudyOptions& options, OwnOptions& own) {
    own.add(command.add_option("--db", options.database, "database of measurements"),
            {"dataset-size", "features", "learners", "layers", "augmentation", "latency", "what-next"});
    own.add(
        command.add_option("--folds", options.folds, "parts that operations are split into (dataset-size: 3, else 5)")
            ->check(CLI::Range(2, 100)),
        {"dataset-size", "features", "learners", "layers", "augmentation"});
    own.add(command.add_option("--by", options.by, "dataset-size: all families together, or each of them too")
                ->check(CLI::IsMember({"all", "family"}))
                ->capture_default_str(),
            {"dataset-size"});
    own.add(command.add_option("--split", options.split, "layers: hold out whole operations, or random rows (leaks)")
                ->check(CLI::IsMember({"operation", "random"}))
                ->capture_default_str(),
            {"layers"});
    own.add(command.add_option("--baselines", options.baselines, "layers: published methods beside joulecast's")
                ->delimiter(','),
            {"layers"});
    own.add(command.add_option("--seeds", options.seeds, "how often all is repeated (dataset-size: 1, what-next: 3)")
                ->check(CLI::Range(1, 1000)),
            {"dataset-size", "what-next"});
    own.add(command.add_option("--steps", options.steps, "dataset-size: growing training sets")
                ->check(CLI::Range(1, 1000))
                ->capture_default_str(),
            {"dataset-size"});
    own.add(command.add_option("--learner", options.learners, "learners: those to compare; else the one to train")
                ->check(CLI::IsMember(learner_words())),
            {"dataset-size", "features", "learners", "layers", "augmentation", "what-next"});
    own.add(command.add_option("--repeats", options.repeats, "features: shufflings (3); latency: timings (20)")
                ->check(CLI::Range(1, 10000)),
            {"features", "latency"});
    own.add(command.add_option("--predictor", options.predictor, "latency: this .jcp file, not one trained from --db"),
            {"latency"});
}

}  // namespace

Run declare_study(CLI::App& command) {
    const auto options = std::make_shared<StudyOptions>();
    const auto own = std::make_shared<OwnOptions>();
    command.add_option("STUDY", options->study, joined(study_names()))->required()->check(CLI::IsMember(study_names()));
    declare_measuring(command, *options, *own);
    auto* device = command.add_option("--device", options->device,
                                      "what the worker measures on: cpu, cuda:0; or a device of the database");
    declare_database(command, *options, *own);
    command.add_option("--csv", options->csv, "write the points as CSV");
    command.add_option("--picture", options->picture, "write the figures as an HTML page");
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
