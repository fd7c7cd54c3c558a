#pragma once

namespace joulecast::torch_worker {

/// One thread per physical core that this process may use, each kept on its core: a thread that wanders finds a cold
/// cache. `threads` 0 means all of them. Returns how many there are now; throws Error when more are asked for than
/// there are processors.
int pin_threads(int threads);

}  // namespace joulecast::torch_worker
