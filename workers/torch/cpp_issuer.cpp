#include "workers/torch/issuer.h"
#include "workers/torch/network_workload.h"

namespace joulecast::torch_worker {

namespace {

class CppIssuer final : public Issuer {
  public:
    Host host() const override { return Host::cpp; }
    std::string worker() const override { return "joulecast-torch"; }
    Issued operation(const OperationSets& sets, TensorMaker& maker, Mode mode) const override;
    Issued network(const protocol::MeasureGraph& request, TensorMaker& maker, UpdateStyle style) const override;
};

Issued CppIssuer::operation(const OperationSets& sets, TensorMaker& maker, Mode mode) const {
    Issued issued;
    if (mode == Mode::inference) {
        issued.whole = std::make_unique<InferenceWorkload>(sets);
        return issued;
    }
    issued.whole = std::make_unique<TrainingWorkload>(sets, true, maker);
    issued.forward = std::make_unique<TrainingWorkload>(sets, false, maker);
    return issued;
}

/// A network with what updates it.
struct Trained {
    Trained(const protocol::MeasureGraph& request, TensorMaker& maker, UpdateStyle style)
        : network(request.graph, maker), update(request.optimizer, network.parameters(), style, steady_learning_rate) {}

    Network network;
    OptimizerStep update;
};

Issued CppIssuer::network(const protocol::MeasureGraph& request, TensorMaker& maker, UpdateStyle style) const {
    const auto trained = std::make_shared<Trained>(request, maker, style);
    Network& network = trained->network;
    Issued issued;
    issued.keeps = trained;
    issued.resident_bytes = static_cast<double>(network.resident_bytes());
    if (request.graph.mode == Mode::inference) {
        issued.whole = std::make_unique<NetworkInference>(network);
        return issued;
    }
    issued.whole = std::make_unique<NetworkTraining>(network, true, &trained->update);
    issued.forward = std::make_unique<NetworkTraining>(network, false);
    issued.clear_gradients = [trained] { trained->network.clear_gradients(); };
    issued.state_bytes = [trained] { return static_cast<double>(trained->update.state_bytes()); };
    issued.whole->run(1, false);  // the first step allocates the optimizer's state
    return issued;
}

}  // namespace

const Issuer& cpp_issuer() {
    static const CppIssuer issuer;
    return issuer;
}

}  // namespace joulecast::torch_worker
