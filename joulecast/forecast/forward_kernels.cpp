#include "joulecast/forecast/forward_kernels.h"

#include <utility>

namespace joulecast {
namespace {

/// All that decides them: of one call family and counts may differ between inference and training.
std::vector<std::uint64_t> key_of(const DeviceModel& device, const PreparedOperation& operation) {
    constexpr std::size_t usual_words = 64;
    const Counts& counts = operation.dimensions.forward;
    std::vector<std::uint64_t> key;
    key.reserve(usual_words);
    key.assign({reinterpret_cast<std::uintptr_t>(&device), static_cast<std::uint64_t>(operation.family()),
                static_cast<std::uint64_t>(operation.math)});
    for (const std::int64_t count : {counts.flop, counts.other_flop, counts.bytes_read, counts.bytes_written})
        key.push_back(static_cast<std::uint64_t>(count));
    append_key_of_inference(operation.operation, key);
    return key;
}

}  // namespace

ForwardKernels::Made ForwardKernels::of(const DeviceModel& device, const PreparedOperation& operation,
                                        const std::function<Made()>& make) {
    auto key = key_of(device, operation);
    {
        const std::scoped_lock alone(asking_);
        if (const auto found = known_.find(key); found != known_.end()) return found->second;
    }
    const Made made = make();
    const std::scoped_lock alone(asking_);
    if (known_.size() >= most) known_.clear();
    known_.try_emplace(std::move(key), made);
    return made;
}

std::size_t ForwardKernels::size() const {
    const std::scoped_lock alone(asking_);
    return known_.size();
}

}  // namespace joulecast
