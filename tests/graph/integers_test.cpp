#include "joulecast/graph/integers.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

namespace joulecast {
namespace {

/// 1, 2, 3, ...
Integers counted(std::size_t size) {
    Integers list(size);
    std::iota(list.begin(), list.end(), 1);
    return list;
}

bool lies_in_itself(const Integers& list) {
    const auto* const begin = reinterpret_cast<const std::byte*>(&list);
    const auto* const data = reinterpret_cast<const std::byte*>(list.data());
    return data >= begin && data < begin + sizeof(list);
}

/// Of every length about the one from which lists lie on the heap.
constexpr std::size_t longest = 3 * Integers::few;

TEST(Integers, AFewLieInTheListItself) {
    EXPECT_TRUE(lies_in_itself(counted(0)));
    EXPECT_TRUE(lies_in_itself(counted(Integers::few)));
    EXPECT_FALSE(lies_in_itself(counted(Integers::few + 1)));
}

TEST(Integers, CopiesAndMovedListsAreEqual) {
    for (std::size_t size = 0; size <= longest; ++size) {
        const Integers list = counted(size);
        Integers copy = list;
        EXPECT_EQ(copy, list);
        const Integers moved = std::move(copy);
        EXPECT_EQ(moved, list);
        EXPECT_TRUE(copy.empty());  // NOLINT(bugprone-use-after-move): as a vector is
    }
}

TEST(Integers, AssignedListsForgetWhatTheyHad) {
    for (std::size_t before = 0; before <= longest; ++before) {
        for (std::size_t size = 0; size <= longest; ++size) {
            Integers copied = counted(before);
            copied = counted(size);
            EXPECT_EQ(copied, counted(size));
            const Integers other = counted(size);
            copied = counted(before);
            copied = other;
            EXPECT_EQ(copied, counted(size));
        }
    }
}

TEST(Integers, AListMayBeAssignedToItself) {
    for (const std::size_t size : {std::size_t{3}, longest}) {
        Integers list = counted(size);
        const Integers& same = list;
        list = same;
        EXPECT_EQ(list, counted(size));
    }
}

/// The same changes to a list and to a vector of the standard library.
class InStep {
  public:
    explicit InStep(std::size_t size) : list_(counted(size)), vector_(list_.begin(), list_.end()) {}

    template <class Change>
    void expect_same(Change change) {
        const auto place = [](auto& of, auto at) { return at - of.begin(); };
        EXPECT_EQ(place(list_, change(list_)), place(vector_, change(vector_)));
        EXPECT_EQ(std::vector<std::int64_t>(list_.begin(), list_.end()), vector_);
        EXPECT_EQ(list_.size(), vector_.size());
    }

  private:
    Integers list_;
    std::vector<std::int64_t> vector_;
};

TEST(Integers, ChangeAsVectorsDo) {
    const std::vector<std::int64_t> some{-1, -2, -3, -4};
    for (std::size_t size = 0; size <= longest; ++size) {
        for (std::ptrdiff_t at = 0; at <= static_cast<std::ptrdiff_t>(size); ++at) {
            InStep both(size);
            both.expect_same([&](auto& list) { return list.insert(list.begin() + at, 7); });
            both.expect_same([&](auto& list) { return list.insert(list.begin() + at, some.begin(), some.end()); });
            both.expect_same([&](auto& list) { return list.insert(list.begin() + at, 3, 9); });
            both.expect_same([&](auto& list) { return list.erase(list.begin() + at); });
            both.expect_same([&](auto& list) { return list.erase(list.begin() + at, list.end() - 2); });
        }
    }
}

TEST(Integers, GrowAndShrinkOverTheHeap) {
    Integers list;
    for (std::int64_t i = 1; i <= static_cast<std::int64_t>(longest); ++i) list.push_back(i);
    EXPECT_EQ(list, counted(longest));
    while (list.size() > 2) list.pop_back();
    EXPECT_EQ(list, (Integers{1, 2}));
    EXPECT_TRUE(lies_in_itself(list));
    list.resize(longest, 5);
    EXPECT_EQ(list[1], 2);
    EXPECT_EQ(list[2], 5);
    EXPECT_EQ(list.back(), 5);
    list.resize(1);
    EXPECT_EQ(list, Integers{1});
    list.resize(3);
    EXPECT_EQ(list, (Integers{1, 0, 0}));  // what lay there before is gone
}

TEST(Integers, CompareInTheOrderOfWords) {
    EXPECT_LT((Integers{1, 2}), (Integers{1, 3}));
    EXPECT_LT((Integers{1, 2}), (Integers{1, 2, 0}));
    EXPECT_LT(counted(longest - 1), counted(longest));
    EXPECT_NE((Integers{1, 2}), (Integers{1, 2, 0}));
}

TEST(Integers, AnInitialiserIsItemsAndAPairIsSizeAndValue) {
    EXPECT_EQ((Integers{2, 5}).size(), 2U);
    EXPECT_EQ(Integers(2, 5), (Integers{5, 5}));
    EXPECT_EQ(Integers(2), (Integers{0, 0}));
}

}  // namespace
}  // namespace joulecast
