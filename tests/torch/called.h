#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>

#include <ATen/record_function.h>

namespace joulecast::torch_worker {

/// Names of the operations that torch calls while `run` runs, those within others too: "aten::linear", "aten::mm".
inline std::set<std::string> called(const std::function<void()>& run) {
    static std::set<std::string> names;  // a callback captures nothing
    names.clear();
    const auto note = [](const at::RecordFunction& function) -> std::unique_ptr<at::ObserverContext> {
        names.insert(function.name());
        return nullptr;
    };
    const auto handle =
        at::addThreadLocalCallback(at::RecordFunctionCallback(note).scopes({at::RecordScope::FUNCTION}));
    const at::RecordFunctionGuard recording(true);
    run();
    at::removeCallback(handle);
    return names;
}

}  // namespace joulecast::torch_worker
