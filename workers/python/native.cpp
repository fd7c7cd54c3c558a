#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <torch/csrc/DynamicTypes.h>
#include <torch/csrc/jit/python/pybind_utils.h>
#include <torch/csrc/utils/pybind.h>
#include <torch/csrc/utils/tensor_memoryformats.h>

#include "joulecast/worker/serve.h"
#include "workers/torch/issuer.h"
#include "workers/torch/network_workload.h"
#include "workers/torch/system_memory.h"
#include "workers/torch/torch_service.h"

namespace joulecast::torch_worker {

namespace {

/// A Python object that may be dropped by a thread that does not hold the interpreter.
std::shared_ptr<py::object> shared(py::object object) {
    return {new py::object(std::move(object)), [](py::object* held) {
                const py::gil_scoped_acquire interpreter;
                delete held;
            }};
}

/// Runs with the interpreter held; an exception of Python comes out as one of C++ that needs no interpreter.
template <class Action>
auto in_python(Action&& action) {
    const py::gil_scoped_acquire interpreter;
    try {
        return action();
    } catch (const py::error_already_set& error) {
        if (error.matches(PyExc_MemoryError)) throw std::bad_alloc();
        throw Unsupported(std::string("Python: ") + error.what());
    }
}

/// Calls of a Python object with run(calls, hot), prepare(calls, hot), longest_run(hot) and rotation. The interpreter
/// is held while they run and free otherwise.
class PythonWorkload final : public Workload {
  public:
    explicit PythonWorkload(py::object calls) : calls_(shared(std::move(calls))) {
        rotation_ = calls_->attr("rotation").cast<std::int64_t>();
        run_ = shared(calls_->attr("run"));
    }

    void run(std::int64_t calls, bool hot) override {
        in_python([&] { (*run_)(calls, hot); });
    }
    std::int64_t rotation() const override { return rotation_; }
    void prepare(std::int64_t calls, bool hot) override {
        in_python([&] { calls_->attr("prepare")(calls, hot); });
    }
    std::int64_t longest_run(bool hot) const override {
        return in_python([&] {
            const py::object longest = calls_->attr("longest_run")(hot);
            return longest.is_none() ? Workload::longest_run(hot) : longest.cast<std::int64_t>();
        });
    }

  private:
    std::shared_ptr<py::object> calls_;
    std::shared_ptr<py::object> run_;
    std::int64_t rotation_ = 1;
};

/// The arguments of a call as Python writes them, tensors left open: a Slot with the number of the tensor.
class Arguments {
  public:
    Arguments(const Call& call, py::object slot) : call_(call), slot_(std::move(slot)) {}

    py::list list() {
        std::vector<at::Tensor> places;
        for (std::size_t i = 0; i < call_.mutated().size(); ++i) {
            places.push_back(at::empty({0}));
            index_[places.back().unsafeGetTensorImpl()] = i;
        }
        const Stack stack = call_.stack(places);
        py::list result;
        for (std::size_t i = 0; i < stack.size(); ++i) result.append(written(stack[i], call_.schema().arguments()[i]));
        return result;
    }

  private:
    py::object written(const c10::IValue& value, const c10::Argument& formal) {
        if (value.isTensor()) return written(value.toTensor());
        if (value.isList() && value.toListRef().size() > 0 && holds_tensors(value)) {
            py::list items;
            for (const c10::IValue& item : value.toListRef()) items.append(written(item, formal));
            return items;
        }
        c10::TypePtr type = formal.real_type();
        if (const auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
        if (value.isInt()) {
            const std::int64_t number = value.toInt();
            if (type->kind() == c10::TypeKind::ScalarTypeType) {
                return object(torch::getTHPDtype(static_cast<at::ScalarType>(number)));
            }
            if (type->kind() == c10::TypeKind::LayoutType) {
                return object(torch::getTHPLayout(static_cast<at::Layout>(number)));
            }
            if (type->kind() == c10::TypeKind::MemoryFormatType) {
                return object(torch::utils::getTHPMemoryFormat(static_cast<at::MemoryFormat>(number)));
            }
        }
        return torch::jit::toPyObject(value);
    }
    py::object written(const at::Tensor& tensor) {
        if (!tensor.defined()) return py::none();
        const auto place = index_.find(tensor.unsafeGetTensorImpl());
        if (place != index_.end()) return slot_(place->second);
        // x + 1: Python wraps the number in a tensor anew at every call.
        if (tensor.unsafeGetTensorImpl()->is_wrapped_number()) return torch::jit::toPyObject(tensor.item());
        return py::cast(tensor);
    }
    static bool holds_tensors(const c10::IValue& list) {
        for (const c10::IValue& item : list.toListRef()) {
            if (item.isTensor()) return true;
        }
        return false;
    }
    static py::object object(void* made) { return py::reinterpret_borrow<py::object>(static_cast<PyObject*>(made)); }

    const Call& call_;
    py::object slot_;
    std::map<const c10::TensorImpl*, std::size_t> index_;
};

const char* kind_name(GraphInput::Kind kind) {
    switch (kind) {
        case GraphInput::Kind::user_input:
            return "user_input";
        case GraphInput::Kind::parameter:
            return "parameter";
        case GraphInput::Kind::buffer:
            return "buffer";
        case GraphInput::Kind::constant:
            return "constant";
    }
    return "constant";
}

/// The network of a request for Python: plain data, and functions that make the rest when it is needed. They are called
/// before network() returns, and not after it.
class NetworkForPython {
  public:
    NetworkForPython(const protocol::MeasureGraph& request, TensorMaker& maker, py::object slot)
        : request_(request), maker_(maker), slot_(std::move(slot)), contents_(input_contents(request.graph)) {}

    py::dict dict() {
        const Graph& graph = request_.graph;
        py::dict result;
        result["name"] = graph.name;
        result["training"] = graph.mode == Mode::training;
        result["optimizer"] = std::string(name(request_.optimizer));
        result["learning_rate"] = steady_learning_rate;
        py::dict symbols;
        for (const auto& [symbol, range] : graph.symbols) symbols[py::str(symbol)] = range.value;
        result["symbols"] = symbols;
        py::list inputs;
        for (const auto& input : graph.inputs) {
            const at::ScalarType type = scalar_type(input.type.dtype);
            const py::object dtype =
                py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(torch::getTHPDtype(type)));
            const std::vector<std::int64_t> sizes(input.type.sizes.begin(), input.type.sizes.end());
            inputs.append(py::make_tuple(kind_name(input.kind), dtype, py::tuple(py::cast(sizes))));
        }
        result["inputs"] = inputs;
        result["make_input"] = py::cpp_function([this](std::size_t index) { return input(index); });
        result["steps"] = py::cpp_function([this] { return steps(); });
        py::list outputs;
        for (const ValueRef& ref : graph.outputs) outputs.append(py::make_tuple(ref.node, ref.output));
        result["outputs"] = outputs;
        return result;
    }

  private:
    at::Tensor input(std::size_t index) {
        return maker_.make(made_type(request_.graph.inputs.at(index)), contents_[index]);
    }

    /// (node, target, arguments, values the slots stand for, number of results) of each node that runs.
    py::list steps() {
        const Graph& graph = request_.graph;
        if (!graph.has_edges) {
            throw Unsupported("graph " + graph.name + " has no edges: a bag of operations cannot be run as a network");
        }
        py::list result;
        for (std::size_t index = 0; index < graph.nodes.size(); ++index) {
            const Node& node = graph.nodes[index];
            if (!runs_on_device(node)) continue;
            const Call call(node.operation, maker_.place());
            if (call.mutated().size() != node.inputs.size()) {
                throw Unsupported("node " + std::to_string(index) + " (" + node.operation.target + ") has " +
                                  std::to_string(call.mutated().size()) + " tensors but " +
                                  std::to_string(node.inputs.size()) + " edges");
            }
            py::list values;
            for (const ValueRef& ref : node.inputs) {
                type_of(graph, ref);  // throws for a reference out of the graph
                values.append(py::make_tuple(ref.node, ref.output));
            }
            result.append(py::make_tuple(index, node.operation.target, Arguments(call, slot_).list(), values,
                                         node.outputs.size()));
        }
        return result;
    }

    const protocol::MeasureGraph& request_;
    TensorMaker& maker_;
    py::object slot_;
    std::vector<Content> contents_;
};

/// Issues from Python: what makes the calls is the package joulecast_worker.
class PythonIssuer final : public Issuer {
  public:
    explicit PythonIssuer(py::object builder) : builder_(shared(std::move(builder))) {}

    Host host() const override { return Host::python; }
    std::string worker() const override { return "joulecast-python"; }
    Issued operation(const OperationSets& sets, TensorMaker& maker, Mode mode) const override;
    Issued network(const protocol::MeasureGraph& request, TensorMaker& maker, UpdateStyle style) const override;

  private:
    std::shared_ptr<py::object> builder_;
};

std::unique_ptr<Workload> workload_of(const py::object& calls) {
    return calls.is_none() ? nullptr : std::make_unique<PythonWorkload>(calls);
}

Issued PythonIssuer::operation(const OperationSets& sets, TensorMaker& maker, Mode mode) const {
    return in_python([&] {
        py::dict described;
        described["target"] =
            sets.call().schema().operator_name().name +
            (sets.call().schema().overload_name().empty() ? "" : "." + sets.call().schema().overload_name());
        described["arguments"] = Arguments(sets.call(), builder_->attr("Slot")).list();
        described["sets"] = sets.sets();
        described["training"] = mode == Mode::training;
        described["mutates"] = sets.mutates();
        described["restore"] = py::cpp_function([&sets](std::size_t set) { sets.restore(set); });
        described["writable_copy"] = py::cpp_function([&sets](std::size_t set) { return sets.writable_copy(set); });
        described["normal_like"] =
            py::cpp_function([&maker](const at::Tensor& like) { return maker.normal_like(like); });
        const py::object made = builder_->attr("operation")(described);
        Issued issued;
        issued.whole = workload_of(made.attr("whole"));
        issued.forward = workload_of(made.attr("forward"));
        issued.keeps = shared(made);
        return issued;
    });
}

Issued PythonIssuer::network(const protocol::MeasureGraph& request, TensorMaker& maker, UpdateStyle /*style*/) const {
    return in_python([&] {
        NetworkForPython network(request, maker, builder_->attr("Slot"));
        const std::shared_ptr<py::object> made = shared(builder_->attr("network")(network.dict()));
        Issued issued;
        issued.keeps = made;
        issued.whole = workload_of(made->attr("whole"));
        issued.forward = workload_of(made->attr("forward"));
        issued.remark = made->attr("remark").cast<std::string>();
        issued.resident_bytes = made->attr("resident_bytes").cast<double>();
        issued.clear_gradients = [made] { in_python([&] { made->attr("clear_gradients")(); }); };
        issued.state_bytes = [made] { return in_python([&] { return made->attr("state_bytes")().cast<double>(); }); };
        return issued;
    });
}

int serve(const py::object& builder, int input, int output) {
    const PythonIssuer issuer(builder);
    keep_freed_memory();
    const py::gil_scoped_release waiting;
    return protocol::serve(torch_service(issuer), input, output);
}

}  // namespace

PYBIND11_MODULE(_native, module) {
    module.doc() = "The recipe and the protocol loop of joulecast's workers, with calls issued from Python.";
    module.def("serve", &serve, py::arg("builder"), py::arg("input"), py::arg("output"),
               "Answers requests from file descriptor `input` on `output` until `quit` or the end of input, and "
               "returns the exit status. `builder` is the module that makes the calls of a trial.");
}

}  // namespace joulecast::torch_worker
