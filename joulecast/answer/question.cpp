#include "joulecast/answer/question.h"

#include <algorithm>

namespace joulecast {

std::string refusal_key(const Execution& execution) {
    return execution.engine + '\n' + execution.precision;
}

std::span<const Host> hosts_of(const Question& question, const std::string& engine) {
    const bool is_torch = engine.empty() || engine == OperatingPoint().engine;
    return std::span(question.hosts).first(is_torch ? question.hosts.size() : 1);
}

std::vector<Execution> executions(const Question& question, Mode mode) {
    const bool none_trains = std::ranges::find(question.modes, Mode::training) == question.modes.end();
    const TrainingSetup training = mode == Mode::training || none_trains ? question.training : TrainingSetup{};
    std::vector<Execution> list;
    for (const std::string& engine : question.engines) {
        for (const std::string& precision : question.precisions) {
            for (const Host host : hosts_of(question, engine))
                list.push_back({mode, precision, host, training, engine});
        }
    }
    return list;
}

}  // namespace joulecast
