#include <cmath>
#include <memory>

#include "joulecast/measure/recipe.h"
#include "joulecast/measure/soak.h"
#include "workers/torch/operation_workload.h"
#include "workers/torch/trial.h"

namespace joulecast::torch_worker {

namespace {

void calibrate_meter(TorchDevice& device, const Metering::Opened& metering, Workload& load, double call_s, Clock& clock,
                     protocol::Prepared& prepared) {
    try {
        const Calibration calibration =
            device.metering().calibrate(device.calibration_key(), load, call_s, clock, calibration_folder());
        prepared.meter = metering.meter->facts().name;
        prepared.meter_period_s = calibration.period_s;
        prepared.idle_power_w = calibration.idle_power_w;
        prepared.suspect = is_suspect(calibration);
    } catch (const MeterLost& lost) {
        device.metering().close();
        prepared.message = lost.what();
    }
}

}  // namespace

void prepare_point(const protocol::Prepare& request, TorchDevice& device, protocol::Prepared& prepared) {
    const Metering::Opened metering = request.settings.measure_energy ? device.metering().open(request.settings.meter)
                                                                      : Metering::Opened{nullptr, "not asked for", {}};
    prepared.message = metering.missing_reason;
    const bool warms = device.probe() != nullptr && !std::isnan(device.probe()->read().temperature_c);
    if (metering.meter == nullptr && !warms) return;
    TensorMaker maker(request.settings.seed, device.place());
    // 2 n^3 FLOP: 0.2 ms on a card of 20 TFLOP/s, some ms on a CPU; short against any meter's period.
    const bool gpu = device.place().is_cuda();
    const OperationSets sets(parse_operation(gpu ? "aten::matmul(self=f32[1280,1280], other=f32[1280,1280])"
                                                 : "aten::matmul(self=f32[384,384], other=f32[384,384])"),
                             2, maker);
    InferenceWorkload issued(sets);
    const std::unique_ptr<Workload> apart = device.apart(issued);
    Workload& load = apart ? *apart : issued;
    SteadyClock clock;
    load.run(3, false);
    const double start_s = clock.now_s();
    load.run(10, false);
    const double call_s = (clock.now_s() - start_s) / 10.0;
    if (warms) {
        SoakRule rule;
        rule.longest_s = request.settings.longest_soak_s;
        rule.call_s = call_s;
        const Soak soaked = soak(load, *device.probe(), clock, rule);
        prepared.soak_s = soaked.soak_s;
        prepared.temperature_c = soaked.temperature_c;
        prepared.settled = soaked.settled;
    }
    if (metering.meter != nullptr) calibrate_meter(device, metering, load, call_s, clock, prepared);
}

}  // namespace joulecast::torch_worker
