// Prints every record's target and parameters as JSON, for tools/check_records.py to hold against torch's schemas.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "joulecast/graph/record.h"

namespace {

using nlohmann::json;

struct DefaultWriter {
    json operator()(joulecast::None) const { return nullptr; }
    json operator()(joulecast::Dtype dtype) const { return std::string(joulecast::name(dtype)); }
    json operator()(const joulecast::TensorType&) const { return "tensor"; }
    json operator()(const joulecast::TensorList&) const { return "tensors"; }
    template <class Plain>
    json operator()(const Plain& value) const {
        return value;
    }
};

}  // namespace

int main() {
    json records = json::array();
    for (const joulecast::Record* record : joulecast::all_records()) {
        json parameters = json::array();
        for (const joulecast::Parameter& parameter : record->parameters) {
            json written = {{"name", parameter.name}};
            if (parameter.default_value) written["default"] = std::visit(DefaultWriter{}, *parameter.default_value);
            parameters.push_back(std::move(written));
        }
        records.push_back({{"target", record->target}, {"parameters", std::move(parameters)}});
    }
    std::puts(records.dump().c_str());
    return 0;
}
