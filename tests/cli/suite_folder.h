#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/cli/run_command.h"

namespace joulecast::testing {

/// What a suite's tests share: a folder that is there from its first test to its last. `Suite` is the fixture itself,
/// which fills it in set_up_files().
template <class Suite>
class SuiteFolder : public ::testing::Test {
  protected:
    static void SetUpTestSuite() {
        folder_ = std::make_unique<TemporaryFolder>();
        Suite::set_up_files();
    }
    static void TearDownTestSuite() { folder_.reset(); }
    static std::string file(const std::string& name) { return folder_->file(name); }

  private:
    static inline std::unique_ptr<TemporaryFolder> folder_;
};

}  // namespace joulecast::testing
