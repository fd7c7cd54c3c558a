// The program joulecast: its table of verbs.
#include "cli/guide.h"
#include "cli/laboratory.h"
#include "cli/program.h"

namespace joulecast::cli {
namespace {

/// Every subcommand, in the order of --help.
Program joulecast_program() {
    return {
        "joulecast",
        "Forecasts what a neural network costs (seconds, watts, joules, bytes) on a GPU or CPU before anyone runs "
        "it.\n"
        "\n"
        "Usage: joulecast VERB ...\n"
        "\n"
        "Examples:\n"
        "  joulecast predict resnet50 --device cpu --set batch=8\n"
        "  joulecast predict gpt2 --device h100 --mode training\n"
        "  joulecast recommend resnet50 --device a100 h100 --minimise energy\n"
        "\n"
        "From a model file to a forecast:\n"
        "  model file --> graph --> profile --> dataset --> train --> predictor --> predict\n"
        "  .pt2 .onnx     extract   measure      .db                  .jcp          network forecast\n"
        "  .graph.json    diff      each operation once\n",
        "joulecast VERB --help lists the options of a verb; joulecast help VERB prints its guide.\n"
        "joulecast help exporting: how to get a model file. joulecast help boards: how to measure a board over ssh.\n"
        "joulecast --version: the version.\n"
        "Published tables, methods and studies: joulecast-lab --help",
        {
            {"Forecast", {"predict", declare_predict}},
            {"Forecast", {"recommend", declare_recommend}},
            {"Forecast", {"compare", declare_compare}},
            {"Forecast", {"report", declare_report}},
            {"Forecast", {"trace", declare_trace}},
            {"Read networks", {"networks", declare_networks}},
            {"Read networks", {"extract", declare_extract}},
            {"Read networks", {"diff", declare_diff}},
            {"Read networks", {"export-hf", declare_export_hf}},
            {"Measure", {"profile", declare_profile}},
            {"Measure", {"fleet", declare_fleet}},
            {"Measure", {"measure", declare_measure, true}},
            {"Measure", {"pack-worker", declare_pack_worker}},
            {"Learn", {"train", declare_train}},
            {"Learn", {"validate", declare_validate}},
            {"Databases and files", {"import", declare_import}},
            {"Databases and files", {"export", declare_export}},
            {"Databases and files", {"merge", declare_merge}},
            {"Databases and files", {"info", declare_info}},
            {"This machine", {"devices", declare_devices}},
            {"This machine", {"doctor", declare_doctor}},
            {"This machine", {"clocks", declare_clocks}},
            {"This machine", {"worker-check", declare_worker_check}},
        },
        {{"exporting", "how to get a model file"}, {"boards", "how to measure a board over ssh"}},
        guide_text,
        hand_over_to_laboratory};
}

}  // namespace
}  // namespace joulecast::cli

int main(int argc, char** argv) {
    return joulecast::cli::run_program(joulecast::cli::joulecast_program(), argc, argv);
}
