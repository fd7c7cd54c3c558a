#include "joulecast/physics/nelder_mead.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

namespace joulecast {
namespace {

struct Corner {
    std::vector<double> at;
    double value = 0;
};

class Simplex {
  public:
    Simplex(const std::function<double(std::span<const double>)>& value, const std::vector<double>& start, double step)
        : value_(value) {
        corners_.push_back(corner(start));
        for (std::size_t i = 0; i < start.size(); ++i) {
            auto moved = start;
            moved[i] += step;
            corners_.push_back(corner(std::move(moved)));
        }
        order();
    }

    int evaluations() const { return evaluations_; }
    double spread() const { return corners_.back().value - corners_.front().value; }
    const std::vector<double>& best() const { return corners_.front().at; }

    void improve() {
        const Corner reflected = towards(-1.0);
        if (reflected.value < corners_.front().value) {
            const Corner expanded = towards(-2.0);
            corners_.back() = expanded.value < reflected.value ? expanded : reflected;
        } else if (reflected.value < corners_[corners_.size() - 2].value) {
            corners_.back() = reflected;
        } else {
            const Corner contracted = towards(reflected.value < corners_.back().value ? -0.5 : 0.5);
            if (contracted.value < std::min(reflected.value, corners_.back().value)) {
                corners_.back() = contracted;
            } else {
                shrink();
            }
        }
        order();
    }

  private:
    Corner corner(std::vector<double> at) {
        ++evaluations_;
        const double value = value_(at);
        return {std::move(at), std::isfinite(value) ? value : std::numeric_limits<double>::max()};
    }

    /// On the line from the centre of all corners but the worst through the worst one.
    Corner towards(double factor) {
        std::vector<double> at(corners_.front().at.size(), 0.0);
        for (std::size_t i = 0; i < at.size(); ++i) {
            double centre = 0;
            for (std::size_t c = 0; c + 1 < corners_.size(); ++c) centre += corners_[c].at[i];
            centre /= static_cast<double>(corners_.size() - 1);
            at[i] = centre + factor * (corners_.back().at[i] - centre);
        }
        return corner(std::move(at));
    }

    void shrink() {
        for (std::size_t c = 1; c < corners_.size(); ++c) {
            auto at = corners_[c].at;
            for (std::size_t i = 0; i < at.size(); ++i) at[i] = (at[i] + corners_.front().at[i]) / 2;
            corners_[c] = corner(std::move(at));
        }
    }

    void order() {
        std::stable_sort(corners_.begin(), corners_.end(),
                         [](const Corner& a, const Corner& b) { return a.value < b.value; });
    }

    const std::function<double(std::span<const double>)>& value_;
    std::vector<Corner> corners_;
    int evaluations_ = 0;
};

}  // namespace

std::vector<double> nelder_mead(const std::function<double(std::span<const double>)>& value, std::vector<double> start,
                                double step, int evaluations) {
    if (start.empty()) return start;
    Simplex simplex(value, start, step);
    while (simplex.evaluations() < evaluations && simplex.spread() > 1e-9) simplex.improve();
    return simplex.best();
}

}  // namespace joulecast
