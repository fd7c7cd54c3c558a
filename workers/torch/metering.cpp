#include "workers/torch/metering.h"

#include "joulecast/error.h"

namespace joulecast::torch_worker {

Metering::Opened Metering::open(const std::string& name) {
    if (found_.meter == nullptr || name != request_.name) {
        request_.name = name;
        found_ = open_meter(request_);
        if (found_.meter != nullptr) traits_ = traits_from(found_.meter->facts());
    }
    return {found_.meter.get(), found_.missing_reason, traits_};
}

}  // namespace joulecast::torch_worker
