#pragma once

namespace joulecast {

/// From now on a lack of memory where no exception may come out of ends the program as any other failure does: with
/// "program: out of memory" on standard error and status 1, not with an abort. Destructors of nlohmann's JSON allocate
/// (3.11: a list of what is nested). Nothing is unwound, as after a kill: what was committed stays, and workers and
/// guards end by themselves. Any other termination aborts as before. `program` must outlive the program's end.
void end_in_order_without_memory(const char* program);

}  // namespace joulecast
