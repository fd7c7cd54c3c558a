#include "joulecast/profile/progress.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "joulecast/units/printable.h"

namespace joulecast {
namespace {

/// Where there is no terminal, a line at most so often.
constexpr double plain_interval_s = 10;
constexpr std::int64_t bar_cells = 24;
constexpr std::size_t longest_label = 48;

}  // namespace

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::int64_t>(std::llround(std::clamp(seconds, 0.0, 1e9)));
    if (whole < 60) return std::to_string(whole) + " s";
    if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
    return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

SweepProgress::SweepProgress(std::ostream& output, bool terminal, std::function<double()> now_s)
    : output_(output), terminal_(terminal), now_s_(std::move(now_s)) {}

void SweepProgress::start(std::int64_t total, double cost_s) {
    total_ = total;
    cost_s_ = cost_s;
    started_s_ = now_s_();
    printed_s_ = started_s_ - plain_interval_s;  // the first line comes at once
}

void SweepProgress::working_on(const std::string& label, double cost_s) {
    label_ = label.size() <= longest_label ? label : label.substr(0, longest_label - 3) + "...";
    current_cost_s_ = cost_s;
    if (terminal_) draw();
}

void SweepProgress::finished(const std::string& failure) {
    ++done_;
    done_cost_s_ += current_cost_s_;
    if (!failure.empty()) note(label_ + ": " + failure);
    const bool due = now_s_() - printed_s_ >= plain_interval_s || done_ == total_;
    if (terminal_ || due) draw();
}

void SweepProgress::note(const std::string& text) {
    output_ << (terminal_ ? "\r\x1b[K" : "") << printable_text(text) << '\n' << std::flush;
}

void SweepProgress::stop() {
    if (terminal_) output_ << "\r\x1b[K" << std::flush;
}

double SweepProgress::remaining_s() const {
    const double left = std::max(0.0, cost_s_ - done_cost_s_);
    return done_cost_s_ > 0 ? left * (now_s_() - started_s_) / done_cost_s_ : left;
}

std::string SweepProgress::line() const {
    std::string bar;
    const std::int64_t full = total_ > 0 ? bar_cells * done_ / total_ : bar_cells;
    if (terminal_)
        bar = "[" + std::string(static_cast<std::size_t>(full), '#') +
              std::string(static_cast<std::size_t>(bar_cells - full), '.') + "] ";
    std::string text = bar + std::to_string(done_) + "/" + std::to_string(total_) + ", ";
    text += done_ == total_ ? "took " + duration_text(now_s_() - started_s_) : duration_text(remaining_s()) + " to go";
    return terminal_ ? text + "  " + label_ : text;
}

void SweepProgress::draw() {
    printed_s_ = now_s_();
    if (terminal_)
        output_ << "\r\x1b[K" << printable_text(line()) << std::flush;
    else
        output_ << printable_text(line()) << '\n' << std::flush;
}

}  // namespace joulecast
