#include "cli/hearing.h"

namespace joulecast::cli {
namespace {

thread_local Hearing* innermost = nullptr;

}  // namespace

Hearing::Hearing() : outer_(innermost) {
    innermost = this;
}

Hearing::~Hearing() {
    innermost = outer_;
}

Hearing* Hearing::of_this_thread() {
    return innermost;
}

}  // namespace joulecast::cli
