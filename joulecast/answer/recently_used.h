#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace joulecast {

/// At most so many values by key; the one that was asked for longest ago makes room for a new one.
template <class Value>
class RecentlyUsed {
  public:
    /// `most` below 1 counts as 1.
    explicit RecentlyUsed(std::size_t most) : most_(most < 1 ? 1 : most) {}

    /// nullptr where it is not among them; valid until the next keep().
    Value* find(const std::string& key) {
        const auto found = places_.find(key);
        if (found == places_.end()) return nullptr;
        order_.splice(order_.begin(), order_, found->second);
        return &found->second->second;
    }
    /// One that is not among them yet; valid until the next keep().
    Value& keep(const std::string& key, Value value) {
        if (order_.size() >= most_) {
            places_.erase(order_.back().first);
            order_.pop_back();
        }
        order_.emplace_front(key, std::move(value));
        places_[key] = order_.begin();
        return order_.front().second;
    }
    std::size_t size() const { return order_.size(); }

  private:
    std::size_t most_;
    std::list<std::pair<std::string, Value>> order_;  ///< the last asked for first
    std::unordered_map<std::string, typename std::list<std::pair<std::string, Value>>::iterator> places_;
};

}  // namespace joulecast
