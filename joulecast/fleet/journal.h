#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// What a task writes about itself (task.sh), a line for each event.
struct JournalLine {
    std::string time;   ///< ISO 8601 in UTC by the node's clock, which need not agree with another's
    std::string event;  ///< started, finished, stopped, failed, refused, skipped, marked
    std::string job;    ///< "12_7"
    std::string node;
    std::string card;
    std::int64_t restart = 0;  ///< how often Slurm had started this task again
    std::string text;          ///< why, where there is something to say
};

struct Journal {
    std::vector<JournalLine> lines;  ///< in the order of writing
    std::size_t unreadable = 0;      ///< lines that are none of ours: cut off, or of another program
};

/// Reads up to 16 MB of it; lines are cut at 4096 bytes. Never throws at what is written there.
Journal read_journal(std::istream& input);

/// The last line that tells how its shard stands: neither of a task that let it be, nor a remark.
const JournalLine* last_standing(const Journal& journal);

/// Seconds by which the clocks of two nodes differ at least, seen from lines that were written later and say that they
/// are earlier; 0: nothing is seen.
double clock_difference_s(const Journal& journal);

}  // namespace joulecast
