#include "joulecast/answer/question.h"

#include <algorithm>

#include "joulecast/forecast/compiled_calls.h"

namespace joulecast {

std::string refusal_key(const Execution& execution) {
    return execution.engine + '\n' + execution.precision + '\n' + std::string(name(execution.memory_format));
}

std::span<const Host> hosts_of(const Question& question, const std::string& engine) {
    const bool has_hosts = engine.empty() || is_issued_by_torch(engine);
    return std::span(question.hosts).first(has_hosts ? question.hosts.size() : 1);
}

std::size_t forecasts_of_each_network(const Question& question) {
    return question.sizes.size() * question.modes.size() * executions(question, Mode::inference).size();
}

std::vector<Execution> executions(const Question& question, Mode mode) {
    const bool none_trains = std::ranges::find(question.modes, Mode::training) == question.modes.end();
    const TrainingSetup training = mode == Mode::training || none_trains ? question.training : TrainingSetup{};
    std::vector<Execution> list;
    for (const std::string& engine : question.engines) {
        for (const std::string& precision : question.precisions) {
            for (const MemoryFormat format : question.memory_formats) {
                for (const Host host : hosts_of(question, engine))
                    list.push_back({mode, precision, host, training, engine, format});
            }
        }
    }
    return list;
}

}  // namespace joulecast
