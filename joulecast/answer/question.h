#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "joulecast/answer/clock_points.h"
#include "joulecast/device/device.h"
#include "joulecast/forecast/training_setup.h"
#include "joulecast/graph/expression.h"
#include "joulecast/graph/graph.h"
#include "joulecast/graph/memory_format.h"

namespace joulecast {

/// How a network runs, or a single call.
struct Execution {
    Mode mode = Mode::inference;
    std::string precision = "default";  ///< a word of device/precision.h
    Host host = Host::python;
    TrainingSetup training{};  ///< of a step that trains
    std::string engine{};      ///< whose kernels run; empty: torch's, or those that the device was measured with
    MemoryFormat memory_format = MemoryFormat::contiguous;
};

/// Its engine, precision and memory format: what a device may lack.
std::string refusal_key(const Execution& execution);

/// What a session is asked: every network, or every single call, on every device at each of its points, in every
/// execution.
struct Question {
    std::vector<std::string> models;                   ///< files, or names of the zoo: see open_model()
    std::vector<std::shared_ptr<const Graph>> graphs;  ///< networks at hand, behind those of `models`
    std::vector<Operation> operations;                 ///< single calls, in place of networks
    std::vector<SymbolValues> sizes{{}};  ///< every network at each; a symbol without a value keeps its own

    std::vector<DeviceAtClock> devices;
    ClockWish clocks;      ///< of every device, beside the clock that it is named with
    std::string host_cpu;  ///< issues the calls: an id, a data sheet's file, or "cpu"; empty: the one that was measured

    std::vector<Mode> modes{Mode::inference};
    std::vector<std::string> precisions{"default"};  ///< words of device/precision.h
    std::vector<Host> hosts{Host::python};           ///< of torch's calls; other engines issue theirs as measured
    std::vector<std::string> engines{""};            ///< as Execution::engine
    std::vector<MemoryFormat> memory_formats{MemoryFormat::contiguous};
    TrainingSetup training;  ///< of the modes that train; where none does, what asks for it is an error

    /// Forecasts are as the devices are now, which takes 0.2 s and the start of `worker` (empty: joulecast's own).
    bool at_pace_of_now = false;
    std::string worker;

    bool lists_operations = true;  ///< needed of each forecast; at clocks that were asked for they are most of the work
    bool keeps_graphs = false;     ///< Forecast::graph is wanted
    bool wants_other_clocks = false;  ///< whoever asks will ask Forecast::model for other clocks
    /// What a device cannot do, or was not trained for, is left out with the reason, and `host_cpu` drives GPUs alone;
    /// else it is an error. A precision, mode or engine that a network cannot be had in is left out anyway where any
    /// other is asked for.
    bool leaves_out = false;
};

/// Hosts that are asked for with that engine: of another than torch one, since it issues its calls as it was measured.
std::span<const Host> hosts_of(const Question& question, const std::string& engine);

/// Executions of networks in that mode: by engine, then by precision, then by memory format, then by host.
std::vector<Execution> executions(const Question& question, Mode mode);

/// On one device at one point: at each size, in each mode and execution.
std::size_t forecasts_of_each_network(const Question& question);

}  // namespace joulecast
