#include "joulecast/dataset/sqlite.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <new>
#include <sstream>
#include <system_error>
#include <thread>

#include "joulecast/error.h"

static_assert(std::endian::native == std::endian::little, "blobs of doubles are little-endian");

namespace joulecast::sqlite {
namespace {

constexpr int busy_timeout_ms = 30'000;
/// Bytes of a row: a million raw blocks have 8 MB.
constexpr int longest_value = 64 << 20;
/// What a statement may take, see Effort. Those of info, export, train and report take less than 2 a byte (a database
/// of 4 MB).
constexpr int steps_between_counts = 10'000;
constexpr std::int64_t steps_of_any_file = 50'000'000;
constexpr std::int64_t steps_a_byte = 100;

/// Who holds the write lock, from /proc/locks (Linux). In WAL mode it is byte 120 of the -shm file
/// (sqlite.org/walformat.html, section 2.3.1). The file is not opened: closing it would drop our own locks.
std::string lock_holder(const std::filesystem::path& file) {
    struct stat status{};
    const std::string shared_memory = file.string() + "-shm";
    if (::stat(shared_memory.c_str(), &status) != 0) return "another program";
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        std::istringstream words(line);
        std::string number, type, advisory, access, pid, place, first;
        if (!(words >> number >> type >> advisory >> access >> pid >> place >> first)) continue;
        const std::string inode = place.substr(std::min(place.rfind(':'), place.size() - 1) + 1);
        if (access == "WRITE" && first == "120" && inode == std::to_string(status.st_ino))
            return "the program with process id " + pid;
    }
    return "another program";
}

std::string quoted(const std::filesystem::path& file) {
    std::string name = file.string();
    name.insert(name.begin(), '\'');
    return name + '\'';
}

std::string explain(sqlite3* connection, const std::filesystem::path& file) {
    const std::string name = quoted(file);
    const int code = connection == nullptr ? SQLITE_NOMEM : sqlite3_errcode(connection);
    const int cause = connection == nullptr ? 0 : sqlite3_system_errno(connection);
    const std::string kept = " All rows committed so far are kept: free some space and run the same command again.";
    if (connection != nullptr && sqlite3_extended_errcode(connection) == SQLITE_IOERR_WRITE)
        return "cannot write database " + name + " any further (a quota, a file size limit, or a failing disk)." + kept;
    switch (code) {
        case SQLITE_FULL:
            return "no space left to write database " + name + "." + kept;
        case SQLITE_BUSY:
            return "database " + name + " has been locked by " + lock_holder(file) +
                   " for 30 s. Wait until it is done, or stop it, and run the same command again.";
        case SQLITE_NOTADB:
            return name + " is not a database. Give the file that --db wrote.";
        case SQLITE_CORRUPT:
            return "database " + name + " is damaged (" + sqlite3_errmsg(connection) +
                   "). 'sqlite3 FILE .recover' may save its rows.";
        case SQLITE_TOOBIG:
            return "database " + name + " has a row of more than " + std::to_string(longest_value >> 20) +
                   " MB, which no measurement has: the file is damaged or was not made by joulecast.";
        case SQLITE_INTERRUPT:
            return "database " + name +
                   " takes more work to read than rows of its size can need: the file is damaged or was not made by "
                   "joulecast. 'sqlite3 FILE .recover' may save its rows.";
        case SQLITE_READONLY:
            return "cannot write database " + name +
                   ": it is read-only. Check its permissions and those of its folder.";
        case SQLITE_CANTOPEN:
            return "cannot open database " + name +
                   (cause != 0 ? ": " + std::generic_category().message(cause) : std::string()) +
                   ". Check the path and the permissions of its folder.";
        default:
            return "database " + name + ": " + (connection == nullptr ? "out of memory" : sqlite3_errmsg(connection)) +
                   (cause != 0 ? " (" + std::generic_category().message(cause) + ")" : std::string()) + ".";
    }
}

[[noreturn]] void fail(sqlite3* connection, const std::filesystem::path& file) {
    throw Error(explain(connection, file));
}

}  // namespace

bool Effort::is_too_much() noexcept {
    *steps_ += steps_between_counts;
    if (*steps_ <= allowed_) return false;
    std::int64_t bytes = 0;
    for (const std::filesystem::path* file : {&file_, &log_}) {
        std::error_code none;  // in memory, or without a log
        const std::uintmax_t size = std::filesystem::file_size(*file, none);
        if (!none) bytes += static_cast<std::int64_t>(std::min<std::uintmax_t>(size, std::uintmax_t{1} << 50));
    }
    allowed_ = steps_of_any_file + steps_a_byte * bytes;
    return *steps_ > allowed_;
}

void Effort::count_for(std::int64_t* steps) {
    own_ = 0;
    steps_ = steps == nullptr ? &own_ : steps;
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const {
    sqlite3_finalize(statement);
}

Statement::Statement(sqlite3* connection, std::string_view sql, const std::filesystem::path& file, Effort& effort)
    : connection_(connection), file_(file), effort_(&effort) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(connection_, sql.data(), static_cast<int>(sql.size()), &statement, nullptr) != SQLITE_OK)
        fail(connection_, file_);
    statement_.reset(statement);
}

Statement& Statement::bind(int parameter, const Field& value) {
    int code = SQLITE_OK;
    if (const auto* integer = std::get_if<std::int64_t>(&value)) {
        code = sqlite3_bind_int64(statement_.get(), parameter, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
        code = sqlite3_bind_double(statement_.get(), parameter, *real);
    } else if (const auto* text = std::get_if<std::string>(&value)) {
        code =
            sqlite3_bind_text64(statement_.get(), parameter, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
        code = sqlite3_bind_null(statement_.get(), parameter);
    }
    if (code != SQLITE_OK) fail(connection_, file_);
    return *this;
}

Statement& Statement::bind_doubles(int parameter, std::span<const double> values) {
    if (sqlite3_bind_blob64(statement_.get(), parameter, values.data(), values.size_bytes(), SQLITE_TRANSIENT) !=
        SQLITE_OK)
        fail(connection_, file_);
    return *this;
}

bool Statement::step() {
    if (sqlite3_stmt_busy(statement_.get()) == 0) steps_ = 0;
    effort_->count_for(&steps_);
    const int code = sqlite3_step(statement_.get());
    effort_->count_for(nullptr);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) {
        sqlite3_reset(statement_.get());
        return false;
    }
    // After the message, which it may change; and where there is no memory for one.
    const std::unique_ptr<sqlite3_stmt, decltype(&sqlite3_reset)> at_the_end(statement_.get(), sqlite3_reset);
    throw Error(explain(connection_, file_));
}

void Statement::run() {
    while (step()) {
    }
    sqlite3_clear_bindings(statement_.get());
}

bool Statement::is_null(int column) const {
    return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

Field Statement::field(int column) const {
    switch (sqlite3_column_type(statement_.get(), column)) {
        case SQLITE_INTEGER:
            return integer(column);
        case SQLITE_FLOAT:
            return real(column);
        case SQLITE_TEXT:
            return text(column);
        default:
            return {};
    }
}

std::int64_t Statement::integer(int column) const {
    return sqlite3_column_int64(statement_.get(), column);
}

double Statement::real(int column) const {
    return sqlite3_column_double(statement_.get(), column);
}

std::string Statement::text(int column) const {
    const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    if (bytes == nullptr && sqlite3_errcode(connection_) == SQLITE_NOMEM) throw std::bad_alloc();
    if (bytes == nullptr) return {};
    return {bytes, static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

std::vector<double> Statement::doubles(int column) const {
    const void* bytes = sqlite3_column_blob(statement_.get(), column);
    if (bytes == nullptr && sqlite3_errcode(connection_) == SQLITE_NOMEM) throw std::bad_alloc();
    const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column));
    if (size % sizeof(double) != 0)
        throw FormatError("database '" + file_.string() + "' is damaged: a list of block times has " +
                          std::to_string(size) + " bytes, which is no multiple of 8.");
    std::vector<double> values(size / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), bytes, size);
    return values;
}

void Connection::Close::operator()(sqlite3* connection) const {
    sqlite3_close_v2(connection);
}

void Connection::open(int flags, bool immutable) {
    sqlite3* connection = nullptr;
    // A URI only for the immutable case: there ?, # and % of the name have to be escaped.
    std::string name = file_.string();
    if (immutable) {
        std::string escaped = "file:";
        for (const char c : name)
            if (c == '?' || c == '#' || c == '%') {
                constexpr char digits[] = "0123456789ABCDEF";
                escaped += {'%', digits[c >> 4], digits[c & 15]};
            } else {
                escaped += c;
            }
        name = escaped + "?immutable=1";
        flags |= SQLITE_OPEN_URI;
    }
    const int code = sqlite3_open_v2(name.c_str(), &connection, flags, nullptr);
    connection_.reset(connection);
    if (code != SQLITE_OK) fail(connection, file_);
    sqlite3_busy_timeout(connection, busy_timeout_ms);
    sqlite3_progress_handler(
        connection, steps_between_counts,
        [](void* effort) { return static_cast<Effort*>(effort)->is_too_much() ? 1 : 0; }, effort_.get());
    // A file that somebody gave us must neither change its own schema nor run what has effects.
    sqlite3_db_config(connection, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
    sqlite3_db_config(connection, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
    sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, longest_value);
    sqlite3_extended_result_codes(connection, 0);
}

Connection::Connection(std::filesystem::path file, Access access)
    : file_(std::move(file)), effort_(std::make_unique<Effort>(file_)) {
    if (access == Access::read_only) {
        open(SQLITE_OPEN_READONLY, false);
        // A WAL database on a medium that cannot be written: without a log left over it can be read as it is.
        const int code =
            sqlite3_exec(connection_.get(), "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
        std::error_code ignored;
        if ((code == SQLITE_CANTOPEN || code == SQLITE_READONLY) &&
            !std::filesystem::exists(file_.string() + "-wal", ignored))
            open(SQLITE_OPEN_READONLY, true);
        else if (code != SQLITE_OK)
            fail(connection_.get(), file_);
    } else {
        open(SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, false);
    }
    execute("PRAGMA foreign_keys = ON");
}

void Connection::execute(std::string_view sql) {
    effort_->count_for(nullptr);
    if (sqlite3_exec(connection_.get(), std::string(sql).c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        fail(connection_.get(), file_);
}

void Connection::use_write_ahead_log() {
    // SQLite answers "busy" at once here, whatever the timeout says, when another program switches or writes too.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_timeout_ms);
    const char* sql = "PRAGMA journal_mode = WAL";
    int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
    while (code == SQLITE_BUSY && std::chrono::steady_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
    }
    if (code != SQLITE_OK) fail(connection_.get(), file_);
}

Statement Connection::prepare(std::string_view sql) const {
    return Statement(connection_.get(), sql, file_, *effort_);
}

std::int64_t Connection::integer(std::string_view sql) const {
    Statement statement = prepare(sql);
    return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Connection::last_insert_id() const {
    return sqlite3_last_insert_rowid(connection_.get());
}

std::int64_t Connection::changes() const {
    return sqlite3_changes64(connection_.get());
}

bool Connection::is_in_transaction() const {
    return sqlite3_get_autocommit(connection_.get()) == 0;
}

Transaction::Transaction(Connection& connection, Kind kind)
    : connection_(connection), rollback_(connection.prepare("ROLLBACK")) {
    // One that could not be rolled back when it should have been.
    if (connection_.is_in_transaction()) rollback_.run();
    connection_.execute(kind == Kind::writing ? "BEGIN IMMEDIATE" : "BEGIN");
}

Transaction::~Transaction() {
    if (!open_) return;
    // SQLite may have rolled back by itself (disk full): then nothing is left to undo.
    if (!connection_.is_in_transaction()) return;
    try {
        rollback_.run();
    } catch (const std::exception&) {
        // The next transaction does it.
        open_ = false;
    }
}

void Transaction::commit() {
    connection_.execute("COMMIT");
    open_ = false;
}

}  // namespace joulecast::sqlite
