#include "joulecast/dataset/card.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

std::string card_of_machine(const std::string& machine) {
    Provenance provenance;
    provenance.machine = machine;
    return card_of(provenance);
}

TEST(Card, StandsBehindTheMachine) {
    const std::string machine = with_card("two cores, 64 GB", "node7/GPU-0f3a");
    EXPECT_EQ(machine, "two cores, 64 GB; card node7/GPU-0f3a");
    EXPECT_EQ(card_of_machine(machine), "node7/GPU-0f3a");
    EXPECT_EQ(card_of_machine("two cores, 64 GB"), "");
}

TEST(Card, TakesThePlaceOfAnotherName) {
    EXPECT_EQ(with_card("two cores; card a", "b"), "two cores; card b");
    // What a worker writes about cards is no card's name.
    EXPECT_EQ(with_card("has one; card of 2019", "b"), "has one; card of 2019; card b");
    EXPECT_EQ(card_of_machine("has one; card of 2019"), "");
}

TEST(Card, RefusesNamesThatWouldNotReadBack) {
    for (const std::string& name :
         {std::string(), std::string("a b"), std::string("a;b"), std::string("a\nb"), std::string(201, 'a')})
        EXPECT_THROW(with_card("", name), UsageError) << name;
    EXPECT_EQ(card_of_machine(with_card("", std::string(200, 'a'))), std::string(200, 'a'));
}

}  // namespace
}  // namespace joulecast
