#include "joulecast/physics/learned_clocks.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>

namespace joulecast {
namespace {

enum class Letter { none, lower, upper, digit };

Letter kind_of(char c) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::islower(letter)) return Letter::lower;
    if (std::isupper(letter)) return Letter::upper;
    return std::isdigit(letter) ? Letter::digit : Letter::none;
}

/// "cudaConv2D" -> cuda, Conv, 2, D: where the kind of letter changes, but not behind a capital that begins a word.
void append_parts(std::string_view word, std::vector<std::string>& words) {
    std::size_t begin = 0;
    for (std::size_t end = 1; end <= word.size(); ++end) {
        if (end < word.size()) {
            const Letter before = kind_of(word[end - 1]);
            const Letter here = kind_of(word[end]);
            if (here == before || (before == Letter::upper && here == Letter::lower && end == begin + 1)) continue;
        }
        words.emplace_back(word.substr(begin, end - begin));
        begin = end;
    }
}

WorkloadCurve half_curve(ClockParameters parameters, const ClockedPoint& known) {
    parameters.learned = {};
    parameters.residuals.clear();
    return {std::move(parameters), {of_compute_share(0.5)}, 0, known};
}

float log_of(double value) {
    return static_cast<float>(std::log(value));
}

}  // namespace

bool operator==(const SharedLearnedClocks& a, const SharedLearnedClocks& b) {
    if (!a.held_ || !b.held_) return a.held_ == b.held_;
    return *a.held_ == *b.held_;
}

std::vector<std::string> words_of(std::string_view name) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < name.size();) {
        std::size_t end = begin;
        while (end < name.size() && kind_of(name[end]) != Letter::none) ++end;
        if (end > begin) {
            words.emplace_back(name.substr(begin, end - begin));
            append_parts(name.substr(begin, end - begin), words);
        }
        begin = end + 1;
    }
    for (std::string& word : words)
        std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    std::ranges::sort(words);
    const auto repeated = std::ranges::unique(words);
    words.erase(repeated.begin(), repeated.end());
    return words;
}

double memory_active_of(std::span<const KernelTime> kernels) {
    double bytes = 0;
    double seconds = 0;
    for (const KernelTime& kernel : kernels) {
        bytes += kernel.memory;
        seconds += std::cbrt(std::pow(kernel.compute, 3) + std::pow(kernel.memory, 3)) + kernel.latency + kernel.steady;
    }
    return saturated_memory * bytes / seconds;
}

LearnedWorkload::LearnedWorkload(ClockParameters parameters, const ClockedPoint& known, WorkloadTraits traits)
    : half_(half_curve(std::move(parameters), known)),
      traits_(std::move(traits)),
      words_(words_of(traits_.name)),
      time_s_(half_.time_s(1, 1)),
      power_w_(half_.power_w(1, 1)) {}

std::vector<float> LearnedWorkload::row(const std::vector<std::string>& words) const {
    std::vector<float> row{0, 0, log_of(time_s_), log_of(power_w_), static_cast<float>(traits_.memory_active)};
    for (const std::string& word : words) row.push_back(std::ranges::binary_search(words_, word) ? 1.0F : 0.0F);
    return row;
}

void LearnedWorkload::place(std::vector<float>& row, double x, double y) {
    row[0] = log_of(x);
    row[1] = log_of(y);
}

double LearnedWorkload::half_time(double x, double y) const {
    return std::log(half_.time_s(x, y) / half_.known().time_s);
}

double LearnedWorkload::half_power(double x, double y) const {
    return std::log(half_.power_w(x, y) / half_.known().power_w);
}

LearnedCurve::LearnedCurve(const ClockParameters& parameters, const ClockedPoint& known, WorkloadTraits traits)
    : clocks_(parameters.learned), workload_(parameters, known, std::move(traits)) {
    for (const LearnedMember& member : clocks_.get()->members) {
        rows_.push_back(workload_.row(member.words));
        LearnedWorkload::place(rows_.back(), known.x, known.y);
    }
}

double LearnedCurve::learned(double LearnedMember::* weight, Forest LearnedMember::* forest, double half,
                             double untaught, double x, double y) const {
    double sum = untaught;
    const auto& members = clocks_.get()->members;
    for (std::size_t i = 0; i < members.size(); ++i) {
        const LearnedMember& member = members[i];
        if (!(member.*weight > 0)) continue;
        std::vector<float> row = rows_[i];
        LearnedWorkload::place(row, x, y);
        const double told = half + predict(member.*forest, row) - predict(member.*forest, rows_[i]);
        sum += member.*weight * (told - untaught);
    }
    return sum;
}

double LearnedCurve::log_time(double x, double y, double untaught) const {
    return learned(&LearnedMember::time_weight, &LearnedMember::time, workload_.half_time(x, y), untaught, x, y);
}

double LearnedCurve::log_power(double x, double y, double untaught) const {
    return learned(&LearnedMember::power_weight, &LearnedMember::power, workload_.half_power(x, y), untaught, x, y);
}

}  // namespace joulecast
