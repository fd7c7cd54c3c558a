#pragma once

#include <cstddef>
#include <iosfwd>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace joulecast {

/// One line of nvidia-smi's CSV; NaN: not in the log, or [N/A].
struct SmiSample {
    /// Seconds since 1970 as the local clock shows them: nvidia-smi prints no zone, so differences are what counts.
    double time_s = std::numeric_limits<double>::quiet_NaN();
    double power_w = std::numeric_limits<double>::quiet_NaN();
    double utilization = std::numeric_limits<double>::quiet_NaN();  ///< share of the last period with a kernel running
    double memory_used_bytes = std::numeric_limits<double>::quiet_NaN();
    double memory_total_bytes = std::numeric_limits<double>::quiet_NaN();
    std::optional<int> gpu;  ///< column "index"
};

/// Reads what `nvidia-smi --query-gpu=timestamp,utilization.gpu,power.draw,memory.used,memory.total --format=csv -lms
/// 10` prints, line by line, as it comes. Columns go by the names in the header: any order, others passed over, with
/// units or `nounits`. Of several power columns power.draw.instant is taken before power.draw.
class SmiLines {
  public:
    /// The sample of this line; nothing for a header, a blank line, and a line that cannot be understood (half lines at
    /// the end of a log, messages), which is counted.
    std::optional<SmiSample> take(std::string_view line);

    bool has_header() const { return !columns_.empty(); }
    std::size_t skipped() const { return skipped_; }
    const std::string& first_skipped() const { return first_skipped_; }  ///< shortened

  private:
    enum class Column { other, timestamp, power, utilization, memory_used, memory_total, index };
    bool take_header(const std::vector<std::string_view>& fields);
    bool take_field(Column column, std::string_view text, SmiSample& sample) const;
    void skip(std::string_view line);

    std::vector<Column> columns_;
    std::size_t skipped_ = 0;
    std::string first_skipped_;
};

struct SmiLog {
    std::vector<SmiSample> samples;
    std::size_t skipped_lines = 0;
    std::string first_skipped;
};

/// A whole log, as it was written; a last line without its end is left out. Throws FormatError when it holds no sample;
/// `name` is the file's in its message.
SmiLog read_smi_log(std::istream& text, const std::string& name);

}  // namespace joulecast
