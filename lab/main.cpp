// The program joulecast-lab: its table of verbs.
#include "cli/program.h"
#include "lab/verbs/verbs.h"

namespace joulecast::cli {
namespace {

Program laboratory() {
    return {"joulecast-lab",
            "Compares joulecast with published methods and tables, and redoes the figures of the papers it follows.\n"
            "\n"
            "Usage: joulecast-lab VERB ...\n"
            "\n"
            "Examples:\n"
            "  joulecast-lab import neusight ops_*.csv networks_*.csv --db gpus.db\n"
            "  joulecast-lab validate --db gpus.db --split device --baselines roofline,habitat\n"
            "  joulecast-lab study dataset-size --db measurements.db --picture size.html\n",
            "joulecast-lab VERB --help lists the options of a verb; joulecast-lab help VERB prints its guide.\n"
            "Measuring, training and forecasts: joulecast --help. joulecast-lab --version: the version.",
            {
                {"Published work", {"import", declare_published_import}},
                {"Published work", {"baselines", declare_baselines}},
                {"Published work", {"figures", declare_figures}},
                {"Compare and study", {"validate", declare_comparison}},
                {"Compare and study", {"study", declare_study}},
            },
            {{"seeds", "the two papers that joulecast follows"}},
            laboratory_guide};
}

}  // namespace
}  // namespace joulecast::cli

int main(int argc, char** argv) {
    return joulecast::cli::run_program(joulecast::cli::laboratory(), argc, argv);
}
