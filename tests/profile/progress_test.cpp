#include "joulecast/profile/progress.h"

#include <sstream>

#include <gmock/gmock.h>

namespace joulecast {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(DurationText, IsShort) {
    EXPECT_EQ(duration_text(45.4), "45 s");
    EXPECT_EQ(duration_text(200), "3 min 20 s");
    EXPECT_EQ(duration_text(7500), "2 h 5 min");
}

TEST(Progress, ForecastsTheRestFromWhatIsDone) {
    double now = 0;
    std::ostringstream output;
    SweepProgress progress(output, false, [&] { return now; });
    progress.start(10, 20);  // 2 s each, so says the estimate
    EXPECT_DOUBLE_EQ(progress.remaining_s(), 20);
    progress.working_on("a", 2);
    now = 3;  // it took 3 s: 1.5 times the estimate
    progress.finished("");
    EXPECT_DOUBLE_EQ(progress.remaining_s(), 27);  // 18 s * 1.5
}

TEST(Progress, PrintsPlainLinesNowAndThenAndEveryFailure) {
    double now = 0;
    std::ostringstream output;
    SweepProgress progress(output, false, [&] { return now; });
    progress.start(100, 100);
    for (int i = 0; i < 100; ++i) {
        progress.working_on("op" + std::to_string(i), 1);
        now += 1;
        progress.finished(i == 50 ? "crashed: signal 9" : "");
    }
    const std::string text = output.str();
    // The first, then every 10 s: after 1, 11, ... 91 operations, and the last.
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);  // 11 and the failure
    EXPECT_THAT(text, HasSubstr("op50: crashed: signal 9\n"));
    EXPECT_THAT(text, HasSubstr("1/100, 1 min 39 s to go\n"));
    EXPECT_THAT(text, HasSubstr("100/100, took 1 min 40 s\n"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

// A worker's message, or an operation's name, could clear the screen.
TEST(Progress, ShowsWhatWorkersSayWithoutTheirControlCharacters) {
    std::ostringstream output;
    SweepProgress progress(output, false, [] { return 0.0; });
    progress.start(1, 1);
    progress.working_on("op\x1b[2J", 1);
    progress.finished("failed:\x1b]0;title\x07");
    EXPECT_THAT(output.str(), HasSubstr("op\\u001b[2J: failed:\\u001b]0;title\\u0007\n"));
    EXPECT_THAT(output.str(), Not(HasSubstr("\x1b")));
}

TEST(Progress, DrawsABarOnATerminalAndClearsIt) {
    std::ostringstream output;
    SweepProgress progress(output, true, [] { return 0.0; });
    progress.start(2, 2);
    progress.working_on("aten::relu", 1);
    progress.finished("");
    EXPECT_THAT(output.str(), HasSubstr("[############............] 1/2"));  // half of 24 cells
    progress.stop();
    EXPECT_TRUE(output.str().ends_with("\r\x1b[K"));
}

}  // namespace
}  // namespace joulecast
