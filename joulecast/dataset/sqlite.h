#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

struct sqlite3;
struct sqlite3_stmt;

/// The only door to SQLite: values in, values out, and every foreign code turned into an Error that names the file.
namespace joulecast::sqlite {

/// What a cell holds; monostate is NULL. A NaN is bound as NULL.
using Field = std::variant<std::monostate, std::int64_t, double, std::string>;

/// Steps of SQLite's machine. A damaged file, or one made for it, can lead a query in circles; one of ours takes a few
/// steps for each byte stored, so that a statement is stopped beyond 100 a byte and 50 million (a second or two).
class Effort {
  public:
    explicit Effort(std::filesystem::path file) : file_(std::move(file)), log_(file_.string() + "-wal") {}

    /// Every 10,000 steps. Whether the running statement has taken more than a file of its size can need. SQLite asks,
    /// and nothing may be thrown through it.
    bool is_too_much() noexcept;
    /// What the steps are counted for from here on; nullptr for a count of its own, from 0.
    void count_for(std::int64_t* steps);

  private:
    std::filesystem::path file_;
    std::filesystem::path log_;
    std::int64_t own_ = 0;
    std::int64_t* steps_ = &own_;
    std::int64_t allowed_ = 0;  ///< as of when it was last exceeded
};

/// A prepared statement. Parameters count from 1, columns from 0, as in SQLite.
class Statement {
  public:
    /// `effort` is that of the connection.
    Statement(sqlite3* connection, std::string_view sql, const std::filesystem::path& file, Effort& effort);

    Statement& bind(int parameter, const Field& value);
    /// Doubles as 8 bytes each, little-endian.
    Statement& bind_doubles(int parameter, std::span<const double> values);
    /// True while there is a row; after false the statement is ready to run again.
    bool step();
    /// Runs to the end and forgets the parameters.
    void run();

    bool is_null(int column) const;
    Field field(int column) const;
    std::int64_t integer(int column) const;
    double real(int column) const;
    std::string text(int column) const;
    std::vector<double> doubles(int column) const;

    const std::filesystem::path& file() const { return file_; }

  private:
    struct Finalize {
        void operator()(sqlite3_stmt* statement) const;
    };
    sqlite3* connection_;
    std::filesystem::path file_;
    std::unique_ptr<sqlite3_stmt, Finalize> statement_;
    Effort* effort_;
    std::int64_t steps_ = 0;  ///< since it began
};

class Connection {
  public:
    enum class Access { read_only, read_write };

    /// Opens (read_write: creates) the file, waits up to 30 s for locks, switches foreign keys on.
    Connection(std::filesystem::path file, Access access);

    void execute(std::string_view sql);
    /// WAL mode: readers do not wait for writers. A property of the file; waits like any writer.
    void use_write_ahead_log();
    Statement prepare(std::string_view sql) const;
    /// The single integer that the query answers with.
    std::int64_t integer(std::string_view sql) const;
    std::int64_t last_insert_id() const;
    /// Rows changed by the latest insert, update or delete.
    std::int64_t changes() const;
    /// A transaction has begun that is neither committed nor rolled back.
    bool is_in_transaction() const;
    const std::filesystem::path& file() const { return file_; }

  private:
    struct Close {
        void operator()(sqlite3* connection) const;
    };
    void open(int flags, bool immutable);

    std::filesystem::path file_;
    std::unique_ptr<Effort> effort_;  // before the connection, which refers to it
    std::unique_ptr<sqlite3, Close> connection_;
};

/// All or nothing: a writer takes the lock at once and rolls back unless committed; a reader sees one state.
class Transaction {
  public:
    enum class Kind { reading, writing };

    explicit Transaction(Connection& connection, Kind kind = Kind::writing);
    ~Transaction();
    Transaction(const Transaction&) = delete;
    Transaction& operator=(const Transaction&) = delete;

    void commit();

  private:
    Connection& connection_;
    Statement rollback_;  ///< prepared before it is needed: rolling back for want of memory must take none
    bool open_ = true;
};

}  // namespace joulecast::sqlite
