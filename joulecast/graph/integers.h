#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace joulecast {

/// A list of integers: sizes, strides, and arguments such as [2,2]. It is used as a std::vector is, but up to `few` lie
/// in the list itself, and so do nearly all: a network has thousands of such lists, and memory for each was a quarter
/// of the work of its forecast.
class Integers {
  public:
    /// Batch, channels and three dimensions, and one more for windows. Longer lists lie on the heap.
    static constexpr std::size_t few = 6;

    using value_type = std::int64_t;
    using size_type = std::size_t;
    using difference_type = std::ptrdiff_t;
    using reference = std::int64_t&;
    using const_reference = const std::int64_t&;
    using iterator = std::int64_t*;
    using const_iterator = const std::int64_t*;

    Integers() = default;
    explicit Integers(std::size_t count, std::int64_t value = 0) { resize(count, value); }
    Integers(std::initializer_list<std::int64_t> items) { assign(items.begin(), items.end()); }
    template <std::forward_iterator Iterator>
    Integers(Iterator first, Iterator last) {
        assign(first, last);
    }
    Integers(const Integers& other) { assign(other.begin(), other.end()); }
    Integers(Integers&& other) noexcept : place_(other.place_), size_(std::exchange(other.size_, 0)) {}
    Integers& operator=(const Integers& other) {
        if (this != &other) assign(other.begin(), other.end());
        return *this;
    }
    Integers& operator=(Integers&& other) noexcept {
        Integers taken(std::move(other));
        std::swap(place_, taken.place_);
        std::swap(size_, taken.size_);
        return *this;
    }
    ~Integers() {
        if (is_long()) delete[] place_.heap.items;
    }

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::int64_t* data() { return is_long() ? place_.heap.items : place_.own; }
    const std::int64_t* data() const { return is_long() ? place_.heap.items : place_.own; }

    iterator begin() { return data(); }
    iterator end() { return data() + size_; }
    const_iterator begin() const { return data(); }
    const_iterator end() const { return data() + size_; }
    auto rbegin() { return std::reverse_iterator(end()); }
    auto rend() { return std::reverse_iterator(begin()); }
    auto rbegin() const { return std::reverse_iterator(end()); }
    auto rend() const { return std::reverse_iterator(begin()); }

    std::int64_t& operator[](std::size_t at) { return data()[at]; }
    const std::int64_t& operator[](std::size_t at) const { return data()[at]; }
    std::int64_t& at(std::size_t place) { return data()[checked(place)]; }
    const std::int64_t& at(std::size_t place) const { return data()[checked(place)]; }
    std::int64_t& front() { return *begin(); }
    const std::int64_t& front() const { return *begin(); }
    std::int64_t& back() { return end()[-1]; }
    const std::int64_t& back() const { return end()[-1]; }

    // As those of std::vector, but items that are put in must be none of this list's.
    void clear() { set_size(0); }
    void resize(std::size_t count, std::int64_t value = 0) {
        const std::size_t before = size_;
        set_size(count);
        if (count > before) std::fill(begin() + before, end(), value);
    }
    void push_back(std::int64_t value) {
        set_size(size_ + 1);
        back() = value;
    }
    void pop_back() { set_size(size_ - 1); }
    void assign(std::size_t count, std::int64_t value) {
        set_size(count);
        std::fill(begin(), end(), value);
    }
    template <std::forward_iterator Iterator>
    void assign(Iterator first, Iterator last) {
        set_size(static_cast<std::size_t>(std::distance(first, last)));
        std::copy(first, last, begin());
    }
    iterator insert(const_iterator at, std::int64_t value) { return insert(at, 1, value); }
    iterator insert(const_iterator at, std::size_t count, std::int64_t value) {
        const iterator gap = make_gap(at, count);
        std::fill(gap, gap + count, value);
        return gap;
    }
    template <std::forward_iterator Iterator>
    iterator insert(const_iterator at, Iterator first, Iterator last) {
        const iterator gap = make_gap(at, static_cast<std::size_t>(std::distance(first, last)));
        std::copy(first, last, gap);
        return gap;
    }
    iterator insert(const_iterator at, std::initializer_list<std::int64_t> items) {
        return insert(at, items.begin(), items.end());
    }
    iterator erase(const_iterator at) { return erase(at, at + 1); }
    iterator erase(const_iterator first, const_iterator last) {
        const std::ptrdiff_t place = first - begin();
        std::copy(last, std::as_const(*this).end(), begin() + place);
        set_size(size_ - static_cast<std::size_t>(last - first));
        return begin() + place;
    }

    friend bool operator==(const Integers& a, const Integers& b) { return std::ranges::equal(a, b); }
    friend std::strong_ordering operator<=>(const Integers& a, const Integers& b) {
        return std::lexicographical_compare_three_way(a.begin(), a.end(), b.begin(), b.end());
    }

  private:
    struct Heap {
        std::int64_t* items;
        std::size_t capacity;
    };
    union Place {
        std::int64_t own[few];
        Heap heap;
    };

    std::size_t checked(std::size_t place) const {
        if (place >= size_) throw std::out_of_range("a list of integers is not that long");
        return place;
    }
    bool is_long() const { return size_ > few; }

    /// Keeps the items before `size`; those behind them are unwritten.
    void set_size(std::size_t size) {
        if (is_long() || size > few) move_to_place_for(size);
        size_ = size;
    }
    void move_to_place_for(std::size_t size);

    /// So many unwritten items before `at`.
    iterator make_gap(const_iterator at, std::size_t count) {
        const std::size_t before = static_cast<std::size_t>(at - begin());
        const std::size_t behind = size_ - before;
        set_size(size_ + count);
        std::copy_backward(begin() + before, begin() + before + behind, end());
        return begin() + before;
    }

    Place place_;
    std::size_t size_ = 0;  ///< beyond `few`, they are on the heap
};

}  // namespace joulecast
