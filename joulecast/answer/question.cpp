#include "joulecast/answer/question.h"

#include <algorithm>

namespace joulecast {

std::vector<Execution> executions(const Question& question, Mode mode) {
    const bool none_trains = std::ranges::find(question.modes, Mode::training) == question.modes.end();
    const TrainingSetup training = mode == Mode::training || none_trains ? question.training : TrainingSetup{};
    std::vector<Execution> list;
    for (const std::string& precision : question.precisions) {
        for (const Host host : question.hosts) list.push_back({mode, precision, host, training});
    }
    return list;
}

}  // namespace joulecast
