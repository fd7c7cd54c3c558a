#pragma once

namespace joulecast {

/// A file that becomes readable when the process ends; -1 where the kernel has none (before 5.3).
int file_of_process(int id);

}  // namespace joulecast
