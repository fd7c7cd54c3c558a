#include "workers/torch/system_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

namespace joulecast::torch_worker {
namespace {

class SystemMemory : public ::testing::Test {
  protected:
    void SetUp() override { std::filesystem::remove_all(root_); }
    void TearDown() override { std::filesystem::remove_all(root_); }
    void write(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }

    // Tests run side by side, each in a process of its own.
    std::filesystem::path root_ =
        std::filesystem::temp_directory_path() / ("joulecast_system_memory_" + std::to_string(::getpid()));
};

TEST_F(SystemMemory, IsWhatTheKernelCallsAvailable) {
    write("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:    1024 kB\n");
    EXPECT_DOUBLE_EQ(available_memory_bytes(root_.string()), 1024.0 * 1024.0);
}

TEST_F(SystemMemory, AContainersLimitBindsButItsPageCacheDoesNot) {
    write("proc/meminfo", "MemAvailable: 1024 kB\n");
    write("sys/fs/cgroup/memory.max", "500000\n");
    write("sys/fs/cgroup/memory.current", "400000\n");
    write("sys/fs/cgroup/memory.stat", "anon 100000\nfile 300000\n");
    EXPECT_DOUBLE_EQ(available_memory_bytes(root_.string()), 400000.0);
}

TEST_F(SystemMemory, NoLimitIsNoLimit) {
    write("proc/meminfo", "MemAvailable: 1024 kB\n");
    write("sys/fs/cgroup/memory.max", "max\n");
    write("sys/fs/cgroup/memory.current", "400000\n");
    EXPECT_DOUBLE_EQ(available_memory_bytes(root_.string()), 1024.0 * 1024.0);
}

TEST_F(SystemMemory, UnreadableIsUnknown) {
    EXPECT_DOUBLE_EQ(available_memory_bytes(root_.string()), 0.0);
}

}  // namespace
}  // namespace joulecast::torch_worker
