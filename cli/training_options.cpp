#include "cli/training_options.h"

#include "joulecast/error.h"
#include "joulecast/forecast/issue_order.h"

namespace joulecast::cli {

void TrainingOptions::declare(CLI::App& command) {
    command.option_defaults()->group("Training step");
    command.add_option("--optimizer", optimizer, "add the update of this optimizer")
        ->check(CLI::IsMember({"none", "sgd", "momentum", "adam", "adamw"}))
        ->capture_default_str();
    command
        .add_option("--optimizer-form", form,
                    "how the update is issued (default: as torch does, foreach on a GPU, loop on a CPU)")
        ->check(CLI::IsMember({"loop", "foreach", "fused"}));
    command.add_option("--accumulate", accumulate, "forward and backward passes before each update")
        ->check(CLI::Range(std::int64_t{1}, most_accumulation))
        ->capture_default_str();
    command.add_flag("--checkpointing", checkpointing,
                     "torch.utils.checkpoint around each block: less memory, the forward pass runs twice");
}

TrainingSetup TrainingOptions::setup() const {
    TrainingSetup training;
    training.optimizer = parse_optimizer(optimizer).value();
    training.accumulation = accumulate;
    training.checkpointing = checkpointing;
    if (form.empty()) return training;
    if (training.optimizer == Optimizer::none) throw UsageError("--optimizer-form needs --optimizer");
    training.form = parse_update_form(form);
    return training;
}

}  // namespace joulecast::cli
