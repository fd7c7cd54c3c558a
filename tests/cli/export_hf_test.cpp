#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/cli/run_command.h"

namespace joulecast::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// The verb with a Python that is this script.
std::string with_python(const TemporaryFolder& folder, const std::string& script) {
    write_file(folder.path() / "python", "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder.path() / "python", std::filesystem::perms::owner_all);
    return "JOULECAST_PYTHON='" + folder.file("python") + "' \"$JOULECAST\" export-hf ";
}

TEST(ExportHf, GivesEveryOptionToThePythonThatDoesIt) {
    const TemporaryFolder folder;
    const auto ran = run_shell(with_python(folder, "echo \"$@\"\nexit 7\n") +
                               "c.json -o l.pt2 --decode --past 7 --sequence 9 --class BertModel --attention eager");
    EXPECT_EQ(ran.status, 7) << "that Python's status is ours: " << ran.err;
    EXPECT_THAT(ran.out, MatchesRegex(".*/scripts/export_hf.py -o l.pt2 --sequence 9 --past 7 --attention eager "
                                      "--decode --class BertModel -- c.json\n"));
    const std::string script = ran.out.substr(0, ran.out.find(' '));
    EXPECT_TRUE(std::filesystem::exists(script)) << script;
}

TEST(ExportHf, SaysHowToGetAPythonWhereThereIsNone) {
    const auto ran = run_shell("JOULECAST_PYTHON=/nowhere/python \"$JOULECAST\" export-hf c.json -o l.pt2");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("cannot start /nowhere/python"));
    EXPECT_THAT(ran.err, HasSubstr("pip install torch transformers"));
}

TEST(ExportHf, SaysWhatToInstallWhereAPythonHasNoTorch) {
    // -S: without site-packages, so without torch whatever is installed here.
    const TemporaryFolder folder;
    const auto ran = run_shell(with_python(folder, "exec python3 -S -E \"$@\"\n") + "c.json -o l.pt2");
    EXPECT_EQ(ran.status, 1);
    EXPECT_THAT(ran.err, HasSubstr("cannot import torch"));
    EXPECT_THAT(ran.err, HasSubstr("-m pip install torch transformers"));
}

TEST(ExportHf, WrongWordsAreToldByUsAndByThatPython) {
    EXPECT_EQ(run_joulecast("export-hf c.json").status, 2);
    EXPECT_EQ(run_joulecast("export-hf c.json -o l.pt2 --attention flash").status, 2);
    const auto ran = run_joulecast("export-hf c.json -o l.onnx");
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.err, HasSubstr("must end in .pt2"));
}

}  // namespace
}  // namespace joulecast::testing
