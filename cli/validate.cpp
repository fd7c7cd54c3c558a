#include <memory>

#include "cli/validation.h"

namespace joulecast::cli {

Run declare_validate(CLI::App& command) {
    const auto options = std::make_shared<ValidationOptions>();
    declare(command, *options);
    return [options] { return validate(*options); };
}

}  // namespace joulecast::cli
