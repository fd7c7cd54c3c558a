// Forecasts a network on devices, as `joulecast predict MODEL --mode inference,training --device DEVICE...` does.
// usage: predict MODEL DEVICE...
#include <cstdio>
#include <exception>

#include <joulecast/answer/session.h>

namespace {

void predict(int count, char** words) {
    // [predict]
    joulecast::Question question;
    question.models = {words[1]};
    for (int i = 2; i < count; ++i) question.devices.push_back(joulecast::device_at_clock(words[i]));
    question.modes = {joulecast::Mode::inference, joulecast::Mode::training};

    joulecast::Session session;  // the shipped predictors
    for (const joulecast::Forecast& forecast : session.answer(question).forecasts) {
        const joulecast::NetworkForecast& network = forecast.network;
        std::printf("%s on %s: %.3g s (90 %%: %.3g to %.3g s), %.3g J\n", network.model.c_str(),
                    forecast.device_name.c_str(), network.time.value.value(), network.time.low.value(),
                    network.time.high.value(), network.energy.value.value());
    }
    // [predict]
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fputs("usage: predict MODEL DEVICE...\n", stderr);
        return 2;
    }
    try {
        predict(argc, argv);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "predict: %s\n", error.what());
        return 1;
    }
}
