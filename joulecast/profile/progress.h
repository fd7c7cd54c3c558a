#pragma once

#include <functional>
#include <ostream>
#include <string>

namespace joulecast {

/// "45 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

/// Tells how far a sweep is: on a terminal one line that is drawn again and again, elsewhere a plain line now and then.
class SweepProgress {
  public:
    /// `now_s` is any clock that only goes on.
    SweepProgress(std::ostream& output, bool terminal, std::function<double()> now_s);

    /// Starts with `total` things to do that should take `cost_s` together.
    void start(std::int64_t total, double cost_s);
    /// One of them, which should take `cost_s`, is about to start.
    void working_on(const std::string& label, double cost_s);
    /// It is done; `failure` is empty or says what went wrong, and is always shown.
    void finished(const std::string& failure);
    /// A line of its own.
    void note(const std::string& text);
    /// Clears the bar.
    void stop();

    /// Seconds to go, if the rest takes as long against its estimate as what is done did.
    double remaining_s() const;

  private:
    std::string line() const;
    void draw();

    std::ostream& output_;
    bool terminal_;
    std::function<double()> now_s_;
    std::int64_t total_ = 0;
    std::int64_t done_ = 0;
    double cost_s_ = 0;
    double done_cost_s_ = 0;
    double started_s_ = 0;
    double printed_s_ = 0;
    double current_cost_s_ = 0;
    std::string label_;
};

}  // namespace joulecast
