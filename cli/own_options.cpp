#include "cli/own_options.h"

#include <algorithm>

#include "cli/settings.h"
#include "joulecast/error.h"

namespace joulecast::cli {

void OwnOptions::check(const std::string& asked, const std::string& way) const {
    for (const auto& [option, of] : options_) {
        if (option->count() == 0 || std::ranges::find(of, way) != of.end()) continue;
        throw UsageError(asked + " has no " + option->get_name() + ": it is for " + joined(of));
    }
}

}  // namespace joulecast::cli
