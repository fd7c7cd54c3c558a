#pragma once

#include <memory>
#include <utility>

namespace joulecast {

struct LearnedClocks;

/// LearnedClocks (learned_clocks.h) that copies of one device's parameters share, since every curve carries its own
/// copy. Equal where what they hold is equal.
class SharedLearnedClocks {
  public:
    SharedLearnedClocks() = default;
    explicit SharedLearnedClocks(std::shared_ptr<const LearnedClocks> held) : held_(std::move(held)) {}

    const LearnedClocks* get() const { return held_.get(); }
    explicit operator bool() const { return held_ != nullptr; }
    friend bool operator==(const SharedLearnedClocks& a, const SharedLearnedClocks& b);

  private:
    std::shared_ptr<const LearnedClocks> held_;
};

}  // namespace joulecast
