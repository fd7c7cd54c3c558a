#include "joulecast/meter/clock_line.h"

#include <gtest/gtest.h>

#include "joulecast/error.h"

namespace joulecast {
namespace {

using Kind = GuardRequest::Kind;

TEST(ClockLine, WhatIsWrittenIsReadBack) {
    for (const GuardRequest& request :
         {GuardRequest{Kind::hold, "GPU-1-a", {1410, 1215, 120000}},
          GuardRequest{Kind::hold, "GPU-1-a", {{}, {}, 120000}}, GuardRequest{Kind::hold, "GPU-1-a", {}},
          GuardRequest{Kind::reset, "GPU-1-a", {}}}) {
        EXPECT_EQ(parse_guard_request(to_line(request)), request) << to_line(request);
    }
    EXPECT_EQ(to_line(GuardRequest{Kind::hold, "GPU-1-a", {1410, {}, 120000}}), "hold GPU-1-a 1410 - 120000");
}

TEST(ClockLine, NothingElseIsUnderstood) {
    for (const char* line : {"",
                             " ",
                             "hold",
                             "hold GPU-1",
                             "hold GPU-1 1410 -",
                             "hold GPU-1 1410 - - -",
                             "hold GPU-1 -1 - -",
                             "hold GPU-1 1410.5 - -",
                             "hold GPU-1 0 - -",
                             "hold GPU-1 007 - -",
                             "hold GPU-1 99999999 - -",
                             "hold GPU-1 4294968706 - -",
                             "hold GPU-1 0x10 - -",
                             "hold  GPU-1 1410 - -",
                             "hold ../../etc 1410 - -",
                             "hold  1410 - -",
                             "HOLD GPU-1 1410 - -",
                             "restore now",
                             "reset",
                             "reset ../x",
                             "reset GPU-1 GPU-2",
                             "hold GPU-1 1410 - -\n",
                             "shutdown",
                             "{\"hold\":1}"}) {
        EXPECT_THROW(parse_guard_request(line), FormatError) << line;
    }
    EXPECT_THROW(parse_guard_request("reset " + std::string(97, 'a')), FormatError);
    EXPECT_THROW(parse_guard_request(std::string(100000, 'a')), FormatError);
    EXPECT_THROW(parse_guard_request(std::string("hold GPU-1 1410 - -\0", 20)), FormatError);
}

TEST(ClockLine, AnAnswerIsOneLineHoweverLongItsReason) {
    EXPECT_EQ(answer_line(""), "ok");
    EXPECT_EQ(answer_line("two\nlines"), "no two lines");
    EXPECT_EQ(answer_line(std::string(5000, 'x')).size(), most_guard_answer_bytes);
    EXPECT_EQ(parse_answer("ok"), "");
    EXPECT_EQ(parse_answer("no permission"), "permission");
    for (const char* line : {"", "no ", "no", "OK", "yes"}) EXPECT_THROW(parse_answer(line), FormatError) << line;
}

}  // namespace
}  // namespace joulecast
