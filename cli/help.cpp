#include <memory>
#include <string>

#include "cli/guide.h"
#include "cli/verb.h"
#include "joulecast/error.h"

namespace joulecast::cli {

Run declare_help(CLI::App& command) {
    const auto topic = std::make_shared<std::string>();
    command.add_option("TOPIC", *topic, "a verb, or exporting: how to get a model file")->required();
    return [topic] {
        const std::string_view guide = guide_text(*topic);
        if (guide.empty())
            throw UsageError("there is no guide on " + *topic +
                             ". See joulecast --help for the verbs; other topics: " + "exporting");
        Output().write(std::string(guide));
        return static_cast<int>(done);
    };
}

}  // namespace joulecast::cli
