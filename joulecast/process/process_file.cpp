#include "joulecast/process/process_file.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace joulecast {

int file_of_process(int id) {
#ifdef SYS_pidfd_open
    return static_cast<int>(::syscall(SYS_pidfd_open, id, 0));
#else
    (void)id;
    return -1;
#endif
}

}  // namespace joulecast
