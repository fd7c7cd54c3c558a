#include "workers/pretend/card_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "joulecast/device/figures.h"
#include "joulecast/error.h"
#include "workers/pretend/options.h"

namespace joulecast::pretend {
namespace {

using ::testing::HasSubstr;

std::vector<Card> cards(const std::string& card) {
    return cards_from_json(R"({"schema":"joulecast.pretend/1","cards":[)" + card + "]}", "laws.json");
}

std::string fault(const std::string& card) {
    try {
        cards(card);
    } catch (const FormatError& error) {
        return error.what();
    }
    return "";
}

TEST(CardFile, WhatIsWrittenReadsBackTheSame) {
    const std::vector<Card> all = built_in_cards();
    const std::vector<Card> read = cards_from_json(cards_to_json(all), "printed");
    ASSERT_EQ(read.size(), all.size());
    EXPECT_EQ(cards_to_json(read), cards_to_json(all));
}

TEST(CardFile, ACardHasWhatItIsBasedOnButForWhatItNames) {
    const Card card = cards(R"({"id":"mine","based_on":"pretend-b","units":40,"launch_s":1e-5})").front();
    EXPECT_EQ(card.sheet.id, "mine");
    EXPECT_EQ(card.sheet.units, 40);
    EXPECT_EQ(card.launch_s, 1e-5);
    EXPECT_EQ(card.memory_clocks_mhz.size(), 2U);
    EXPECT_THAT(card.sheet.display_name, HasSubstr("retended"));
}

TEST(CardFile, FaultsNameTheCardAndTheKey) {
    EXPECT_THAT(fault(R"({"id":"mine","lunch_s":1})"), HasSubstr("card mine: lunch_s"));
    EXPECT_THAT(fault(R"({"id":"mine","launch_s":-1})"), HasSubstr("launch_s must lie between"));
    EXPECT_THAT(fault(R"({"id":"Mine"})"), HasSubstr("other characters"));
    EXPECT_THAT(fault(R"({"id":"mine","based_on":"h100"})"), HasSubstr("not a built-in card"));
    EXPECT_THAT(fault(R"({"id":"mine","sm_clocks_mhz":[]})"), HasSubstr("sm_clocks_mhz is empty"));
    EXPECT_THAT(fault(R"({"id":"mine","display_name":"H100"})"), HasSubstr("pretended"));
    EXPECT_THAT(fault(R"({"id":"mine"},{"id":"mine"})"), HasSubstr("two cards"));
    EXPECT_THROW(cards_from_json("[]", "laws.json"), FormatError);
}

TEST(CardFile, EveryConstantStandsInTheDocumentation) {
    std::ifstream file(JOULECAST_SOURCE_DIR "/docs/pretend.md");
    std::stringstream text;
    text << file.rdbuf();
    for (const Constant& constant : constants())
        EXPECT_THAT(text.str(), HasSubstr("`" + std::string(constant.name) + "`"));
}

TEST(CardFile, EveryCardKeepsTheBoundsOfFiguresAndConstants) {
    for (const Card& card : built_in_cards()) {
        for (const Constant& constant : constants()) {
            EXPECT_GE(card.*constant.value, constant.low) << card.sheet.id << " " << constant.name;
            EXPECT_LE(card.*constant.value, constant.high) << card.sheet.id << " " << constant.name;
        }
        EXPECT_THAT(card.sheet.display_name, HasSubstr("no real hardware"));
        EXPECT_THAT(card.sheet.source, HasSubstr("pretended"));
    }
}

TEST(PretendOptions, AreReadOrRefused) {
    const Options options =
        parse_options({"--device", "pretend-b", "--seed", "7", "--truth", "--fail", "crash:3", "--fail", "hang:conv"});
    EXPECT_EQ(options.device, "pretend-b");
    EXPECT_EQ(options.seed, 7U);
    EXPECT_EQ(options.noise, 0);
    EXPECT_EQ(options.drift, 0);
    ASSERT_EQ(options.demands.size(), 2U);
    EXPECT_EQ(options.demands[0].every, 3);
    EXPECT_EQ(options.demands[1].word, "conv");
    EXPECT_THROW(parse_options({"--fail", "explode:3"}), UsageError);
    EXPECT_THROW(parse_options({"--noise", "2"}), UsageError);
    EXPECT_THROW(parse_options({"--device", "h100"}), UsageError);
    EXPECT_THROW(parse_options({"--seed"}), UsageError);
    EXPECT_THROW(parse_options({"--colour", "red"}), UsageError);
}

}  // namespace
}  // namespace joulecast::pretend
