// Every header that docs/cpp.md names, as a program outside of the source tree sees it.
#include <cstddef>
#include <iostream>

#include <joulecast/answer/session.h>
#include <joulecast/device/device_table.h>
#include <joulecast/error.h>
#include <joulecast/forecast/forecaster.h>
#include <joulecast/graph/graph_json.h>
#include <joulecast/graph/operation.h>
#include <joulecast/graph/readers/read_graph.h>
#include <joulecast/model/jcp.h>
#include <joulecast/recommend/recommend.h>
#include <joulecast/worker/serve.h>

int main() {
    const auto operation = joulecast::parse_operation("aten::relu(self=f32[8,64])");
    std::cout << "op,tensors\n" << operation.target << ',' << joulecast::tensors(operation).size() << '\n';
    try {
        joulecast::Session session;
        joulecast::Question question;
        question.operations = {operation};
        question.devices = {joulecast::device_at_clock("no-such-device")};
        return session.answer(question).forecasts.empty() ? 0 : 1;
    } catch (const joulecast::Error&) {
        return 0;
    }
}
