// joulecast's validate with what a researcher compares: learners, published methods, training without outliers.
#include <memory>
#include <string>
#include <vector>

#include "cli/own_options.h"
#include "cli/settings.h"
#include "cli/validation.h"
#include "joulecast/error.h"
#include "lab/verbs/choose_baselines.h"
#include "lab/verbs/verbs.h"

namespace joulecast::cli {
namespace {

struct Options {
    ValidationOptions of_product;
    std::vector<std::string> learners;
    const CLI::Option* baselines_given = nullptr;
    std::vector<std::string> baselines;  ///< by name; none named: all
    std::string outliers = "keep";
    OwnOptions own;
};

/// The thesis' forest has the clock as a column and always stands in the table; the other methods know no clock.
void check_baselines_over_clocks(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        if (name != "thesis_forest")
            throw UsageError("--split clock has no baseline " + name +
                             ", only thesis_forest: the others do not model the clock");
    }
}

ValidationSettings settings_of(const Options& options) {
    const std::string& split = options.of_product.split;
    ValidationSettings settings;
    settings.drop_outliers = options.outliers == "drop";
    if (settings.drop_outliers && (split == "device" || split == "clock"))
        throw UsageError("--split " + split + " has no --outliers drop. Choose another --split");
    if (split == "device" && options.learners.size() > 1)
        throw UsageError("--split device takes at most one --learner");
    for (const std::string& learner : options.learners) settings.learners.push_back(parse_learner(learner));
    if (options.baselines_given->empty()) return settings;
    if (split == "clock") {
        check_baselines_over_clocks(options.baselines);
    } else {
        choose_baselines(options.baselines, settings);
    }
    return settings;
}

}  // namespace

Run declare_comparison(CLI::App& command) {
    const auto options = std::make_shared<Options>();
    declare(command, options->of_product);
    CLI::Option* const predictor = command.get_option("--predictor");
    command.option_defaults()->group("Held-out test");
    options->own.add(command.add_option("--learner", options->learners, "learners to compare")
                         ->check(CLI::IsMember(learner_words()))
                         ->excludes(predictor),
                     {"operation", "network", "device", "random"});
    options->baselines_given =
        command.add_option("--baselines", options->baselines, "also score published methods, all or those named")
            ->type_name("NAME,...")
            ->expected(0, -1)
            ->delimiter(',')
            ->excludes(predictor);
    command
        .add_option("--outliers", options->outliers, "drop leaves out of training what an isolation forest finds odd")
        ->check(CLI::IsMember({"keep", "drop"}))
        ->capture_default_str()
        ->excludes(predictor);
    return [options] {
        options->own.check("--split " + options->of_product.split, options->of_product.split);
        options->of_product.settings = settings_of(*options);
        return validate(options->of_product);
    };
}

}  // namespace joulecast::cli
