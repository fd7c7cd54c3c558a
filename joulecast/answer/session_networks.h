#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "joulecast/answer/network_over_clocks.h"
#include "joulecast/answer/session.h"
#include "joulecast/answer/warm_device.h"

// The parts of a session that its own files share; nobody else includes them.

namespace joulecast {

/// Nodes of a graph that a session keeps, and different operations of a forecast.
inline constexpr std::size_t largest_kept = 20'000;

/// What a graph of that model is kept under; another one when its file was written anew.
std::string graph_key(const std::string& model, const SymbolValues& sizes, Mode mode);

class Session::Notes {
  public:
    Notes(std::vector<std::string>& notes, const Tell& tell) : all_(notes), tell_(tell) {}
    /// Once, however often it is told.
    void add(const std::string& note);

  private:
    std::vector<std::string>& all_;
    const Tell& tell_;
};

/// What answers for a device of a question.
struct Session::Asked {
    std::shared_ptr<WarmDevice> on;
    std::string note;
    std::vector<OperatingPoint> points;          ///< none: the clock that it was measured at
    std::map<std::string, std::string> refused;  ///< by refusal_key(): what it has not, and why

    /// As the device takes it: with what PyTorch's default precision is there.
    Execution settled(Execution execution) const;
};

struct Session::KeptNetwork {
    std::shared_ptr<WarmDevice> on;  ///< whose models the network refers to
    NetworkOverClocks network;
};

/// The networks of a question: every one at each of its sizes in each mode.
class Session::Networks {
  public:
    Networks(Session& session, const Question& question, const std::vector<Asked>& devices);

    /// Mode after mode: side by side, two modes of a network would forecast the same kernels at the same time.
    void forecast();
    /// What was told of the graphs as they were read, and of which networks there is no forecast in a way that was
    /// asked for. Throws UnsupportedError where there is none at all.
    void tell(Notes& notes) const;
    void move_to(Answer& answer);

  private:
    /// A network at one size in one mode, read when it is first needed.
    struct Opened {
        std::once_flag opening;
        Graph own;                            ///< that nobody keeps
        std::shared_ptr<const Graph> shared;  ///< else
        std::vector<std::string> notes;       ///< of the graph
        std::atomic<std::size_t> left = 0;    ///< executions on devices that want it

        const Graph& graph() const { return shared ? *shared : own; }
    };
    /// Places of devices of the question that are the same one.
    using Group = std::vector<std::size_t>;

    std::size_t networks() const { return question_.models.size() + question_.graphs.size(); }
    std::size_t sized() const { return networks() * question_.sizes.size(); }
    std::size_t of_device() const { return sized() * question_.modes.size() * of_each_; }
    Mode mode(std::size_t turn) const { return question_.modes[turn / sized()]; }

    void open(std::size_t turn);
    Opened& opened(std::size_t turn);
    /// A copy; the graph itself for the last one that wants it, where nobody keeps it.
    Graph taken(std::size_t turn);
    /// Of a network that may be kept; else empty.
    std::string key(std::size_t turn, const WarmDevice& on, const Execution& execution) const;
    Forecast fresh(std::size_t turn, const std::shared_ptr<WarmDevice>& on, const Execution& execution);
    std::shared_ptr<const KeptNetwork> kept(std::size_t turn, const std::shared_ptr<WarmDevice>& on,
                                            const Execution& execution);
    /// In one execution on one device, under all names that the question has for it.
    std::vector<std::vector<Forecast>> on_each(std::size_t turn, const Group& group, const Execution& execution);
    /// Why it was left out; empty where it was not.
    std::string forecast_in(std::size_t turn, const Group& group, std::size_t place, const Execution& execution);
    void forecast_on(const Group& group, std::size_t turn);

    Session& session_;
    const Question& question_;
    const std::vector<Asked>& devices_;
    std::size_t of_each_;  ///< executions of each network at each size in each mode
    std::vector<Group> groups_;
    std::vector<Opened> opened_;
    std::vector<std::vector<Forecast>> made_;  ///< by device, then in the order of forecasts
    std::vector<std::string> reasons_;         ///< why they were left out; else empty
};

}  // namespace joulecast
