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
/// units or `nounits`. Of several power columns power.draw.instant is taken before power.draw. Without a header
/// (`noheader`, as the thesis has its logs) a line that can be one of the five columns above, in that order, makes them
/// the columns: units that are given must be theirs, and numbers without units possible ones.
class SmiLines {
  public:
    /// The sample of this line; nothing for a header, a blank line, and a line that cannot be understood (half lines at
    /// the end of a log, messages), which is counted.
    std::optional<SmiSample> take(std::string_view line);

    /// Whether columns are known, named or assumed.
    bool has_columns() const { return !columns_.empty(); }
    bool has_header() const { return has_columns() && !assumed_; }
    std::size_t skipped() const { return skipped_; }
    const std::string& first_skipped() const { return first_skipped_; }  ///< shortened

  private:
    enum class Column { other, timestamp, power, utilization, memory_used, memory_total, index };
    bool take_header(const std::vector<std::string_view>& fields);
    bool assume_columns(const std::vector<std::string_view>& fields);
    bool take_fields(const std::vector<std::string_view>& fields, SmiSample& sample) const;
    bool take_field(Column column, std::string_view text, SmiSample& sample) const;
    void skip(std::string_view line);

    std::vector<Column> columns_;
    bool assumed_ = false;
    std::size_t skipped_ = 0;
    std::string first_skipped_;
};

struct SmiLog {
    std::vector<SmiSample> samples;
    bool has_header = true;  ///< false: columns were taken to be smi_log_columns
    std::size_t skipped_lines = 0;
    std::string first_skipped;
};

/// Of a log without a header: those of the thesis.
inline constexpr const char* smi_log_columns = "timestamp, utilization.gpu, power.draw, memory.used, memory.total";

/// A whole log, as it was written; a last line without its end is left out. Throws FormatError when it holds no sample;
/// `name` is the file's in its message.
SmiLog read_smi_log(std::istream& text, const std::string& name);

}  // namespace joulecast
