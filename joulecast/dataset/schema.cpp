#include "joulecast/dataset/schema.h"

#include <string>
#include <utility>
#include <vector>

#include "joulecast/dataset/schema_check.h"
#include "joulecast/dataset/traced_names.h"
#include "joulecast/error.h"
#include "joulecast/graph/operation.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {
namespace {

// docs/dataset.md says what the columns mean. block_s: doubles of 8 bytes, little-endian.
constexpr const char* version_1 = R"sql(
CREATE TABLE devices (
    device TEXT NOT NULL PRIMARY KEY,
    display_name TEXT NOT NULL,
    device_kind TEXT NOT NULL,
    device_units INTEGER NOT NULL,
    max_clock_mhz REAL,
    peak_flop_per_s_fp32 REAL,
    peak_flop_per_s_bf16 REAL,
    bandwidth_bytes_per_s REAL,
    last_level_cache_bytes REAL,
    memory_bytes REAL,
    tdp_w REAL,
    idle_w REAL,
    device_source TEXT NOT NULL
) STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    started TEXT NOT NULL,
    worker TEXT NOT NULL,
    framework TEXT NOT NULL,
    machine TEXT NOT NULL,
    governor TEXT NOT NULL,
    method TEXT NOT NULL,
    settings TEXT NOT NULL,
    source TEXT NOT NULL,
    UNIQUE (session, started, worker, framework, machine, governor, method, settings, source)
) STRICT;

CREATE TABLE operations (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions(id),
    operation TEXT NOT NULL,
    mode TEXT NOT NULL,
    device TEXT NOT NULL REFERENCES devices(device),
    math TEXT NOT NULL,
    host TEXT NOT NULL,
    host_cpu TEXT NOT NULL,
    threads INTEGER NOT NULL,
    real_threads INTEGER NOT NULL,
    asked_sm_clock_mhz REAL,
    asked_memory_clock_mhz REAL,
    asked_power_limit_w REAL,
    real_sm_clock_mhz REAL,
    real_memory_clock_mhz REAL,
    real_power_limit_w REAL,
    outcome TEXT NOT NULL,
    message TEXT NOT NULL,
    time_mean_s REAL,
    time_median_s REAL,
    time_half_width_s REAL,
    time_p05_s REAL,
    time_p95_s REAL,
    time_blocks INTEGER NOT NULL,
    time_effective_blocks REAL,
    time_dropped_blocks INTEGER NOT NULL,
    time_calls_per_block INTEGER NOT NULL,
    time_converged INTEGER NOT NULL,
    forward_mean_s REAL,
    forward_median_s REAL,
    forward_half_width_s REAL,
    forward_p05_s REAL,
    forward_p95_s REAL,
    forward_blocks INTEGER,
    forward_effective_blocks REAL,
    forward_dropped_blocks INTEGER,
    forward_calls_per_block INTEGER,
    forward_converged INTEGER,
    energy_j REAL,
    energy_missing_reason TEXT NOT NULL,
    peak_memory_bytes REAL,
    wall_s REAL,
    hot_mean_s REAL,
    hot_median_s REAL,
    hot_half_width_s REAL,
    hot_p05_s REAL,
    hot_p95_s REAL,
    hot_blocks INTEGER,
    hot_effective_blocks REAL,
    hot_dropped_blocks INTEGER,
    hot_calls_per_block INTEGER,
    hot_converged INTEGER,
    dynamic_energy_j REAL,
    working_set_bytes REAL,
    rotation INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX operations_key ON operations (
    operation, device, mode, math, host, threads, session_id, ifnull(asked_sm_clock_mhz, 'current'),
    ifnull(asked_memory_clock_mhz, 'current'), ifnull(asked_power_limit_w, 'current'));
CREATE INDEX operations_by_device ON operations (device);

CREATE TABLE networks (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions(id),
    model TEXT NOT NULL,
    symbols TEXT NOT NULL,
    mode TEXT NOT NULL,
    precision TEXT NOT NULL,
    device TEXT NOT NULL REFERENCES devices(device),
    math TEXT NOT NULL,
    host TEXT NOT NULL,
    host_cpu TEXT NOT NULL,
    threads INTEGER NOT NULL,
    real_threads INTEGER NOT NULL,
    asked_sm_clock_mhz REAL,
    asked_memory_clock_mhz REAL,
    asked_power_limit_w REAL,
    real_sm_clock_mhz REAL,
    real_memory_clock_mhz REAL,
    real_power_limit_w REAL,
    outcome TEXT NOT NULL,
    message TEXT NOT NULL,
    time_mean_s REAL,
    time_median_s REAL,
    time_half_width_s REAL,
    time_p05_s REAL,
    time_p95_s REAL,
    time_blocks INTEGER NOT NULL,
    time_effective_blocks REAL,
    time_dropped_blocks INTEGER NOT NULL,
    time_calls_per_block INTEGER NOT NULL,
    time_converged INTEGER NOT NULL,
    forward_mean_s REAL,
    forward_median_s REAL,
    forward_half_width_s REAL,
    forward_p05_s REAL,
    forward_p95_s REAL,
    forward_blocks INTEGER,
    forward_effective_blocks REAL,
    forward_dropped_blocks INTEGER,
    forward_calls_per_block INTEGER,
    forward_converged INTEGER,
    energy_j REAL,
    energy_missing_reason TEXT NOT NULL,
    peak_memory_bytes REAL,
    wall_s REAL,
    resident_bytes REAL
) STRICT;

CREATE UNIQUE INDEX networks_key ON networks (
    model, symbols, mode, precision, device, math, host, threads, session_id, ifnull(asked_sm_clock_mhz, 'current'),
    ifnull(asked_memory_clock_mhz, 'current'), ifnull(asked_power_limit_w, 'current'));
CREATE INDEX networks_by_device ON networks (device);

CREATE TABLE operation_blocks (
    id INTEGER PRIMARY KEY REFERENCES operations(id) ON DELETE CASCADE,
    block_s BLOB NOT NULL
) STRICT;

CREATE TABLE network_blocks (
    id INTEGER PRIMARY KEY REFERENCES networks(id) ON DELETE CASCADE,
    block_s BLOB NOT NULL
) STRICT;
)sql";

// What energy, GPUs and optimizers added.
constexpr const char* version_3 = R"sql(
ALTER TABLE operations ADD COLUMN issue_s REAL;
ALTER TABLE operations ADD COLUMN eager_s REAL;
ALTER TABLE operations ADD COLUMN launch_bound INTEGER;
ALTER TABLE operations ADD COLUMN device_time_by TEXT;
ALTER TABLE operations ADD COLUMN power_w REAL;
ALTER TABLE operations ADD COLUMN idle_power_w REAL;
ALTER TABLE operations ADD COLUMN energy_half_width_j REAL;
ALTER TABLE operations ADD COLUMN energy_gain_error REAL;
ALTER TABLE operations ADD COLUMN energy_window_s REAL;
ALTER TABLE operations ADD COLUMN energy_ticks INTEGER;
ALTER TABLE operations ADD COLUMN energy_calls INTEGER;
ALTER TABLE operations ADD COLUMN energy_drift_per_s REAL;
ALTER TABLE operations ADD COLUMN energy_meter TEXT;
ALTER TABLE operations ADD COLUMN energy_suspect INTEGER;
ALTER TABLE operations ADD COLUMN temperature_c REAL;
ALTER TABLE operations ADD COLUMN performance_state TEXT NOT NULL DEFAULT '';
ALTER TABLE operations ADD COLUMN throttle_reasons INTEGER NOT NULL DEFAULT 0;
ALTER TABLE operations ADD COLUMN limited_by TEXT NOT NULL DEFAULT 'unknown';
ALTER TABLE operations ADD COLUMN workspace_bytes REAL;

ALTER TABLE networks ADD COLUMN optimizer TEXT NOT NULL DEFAULT 'none';
ALTER TABLE networks ADD COLUMN issue_s REAL;
ALTER TABLE networks ADD COLUMN eager_s REAL;
ALTER TABLE networks ADD COLUMN launch_bound INTEGER;
ALTER TABLE networks ADD COLUMN device_time_by TEXT;
ALTER TABLE networks ADD COLUMN dynamic_energy_j REAL;
ALTER TABLE networks ADD COLUMN power_w REAL;
ALTER TABLE networks ADD COLUMN idle_power_w REAL;
ALTER TABLE networks ADD COLUMN energy_half_width_j REAL;
ALTER TABLE networks ADD COLUMN energy_gain_error REAL;
ALTER TABLE networks ADD COLUMN energy_window_s REAL;
ALTER TABLE networks ADD COLUMN energy_ticks INTEGER;
ALTER TABLE networks ADD COLUMN energy_calls INTEGER;
ALTER TABLE networks ADD COLUMN energy_drift_per_s REAL;
ALTER TABLE networks ADD COLUMN energy_meter TEXT;
ALTER TABLE networks ADD COLUMN energy_suspect INTEGER;
ALTER TABLE networks ADD COLUMN temperature_c REAL;
ALTER TABLE networks ADD COLUMN performance_state TEXT NOT NULL DEFAULT '';
ALTER TABLE networks ADD COLUMN throttle_reasons INTEGER NOT NULL DEFAULT 0;
ALTER TABLE networks ADD COLUMN limited_by TEXT NOT NULL DEFAULT 'unknown';
ALTER TABLE networks ADD COLUMN workspace_bytes REAL;

DROP INDEX networks_key;
CREATE UNIQUE INDEX networks_key ON networks (
    model, symbols, mode, precision, optimizer, device, math, host, threads, session_id,
    ifnull(asked_sm_clock_mhz, 'current'), ifnull(asked_memory_clock_mhz, 'current'),
    ifnull(asked_power_limit_w, 'current'));
)sql";

// When each measurement was taken, and repeats of one operation along the session.
constexpr const char* version_4 = R"sql(
ALTER TABLE operations ADD COLUMN started_at TEXT NOT NULL DEFAULT '';
ALTER TABLE operations ADD COLUMN ended_at TEXT NOT NULL DEFAULT '';
ALTER TABLE networks ADD COLUMN started_at TEXT NOT NULL DEFAULT '';
ALTER TABLE networks ADD COLUMN ended_at TEXT NOT NULL DEFAULT '';

CREATE TABLE reference_runs (
    id INTEGER PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions(id),
    operation TEXT NOT NULL,
    device TEXT NOT NULL REFERENCES devices(device),
    started_at TEXT NOT NULL,
    asked_sm_clock_mhz REAL,
    asked_memory_clock_mhz REAL,
    asked_power_limit_w REAL,
    real_sm_clock_mhz REAL,
    time_mean_s REAL NOT NULL,
    time_half_width_s REAL,
    temperature_c REAL,
    drifted INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX reference_runs_key ON reference_runs (operation, device, session_id, started_at);
)sql";

// Whole data sheets.
constexpr const char* version_5 = R"sql(
ALTER TABLE devices ADD COLUMN device_vendor TEXT;
ALTER TABLE devices ADD COLUMN device_architecture TEXT;
ALTER TABLE devices ADD COLUMN fp32_lanes_per_unit REAL;
ALTER TABLE devices ADD COLUMN base_clock_mhz REAL;
ALTER TABLE devices ADD COLUMN boost_clock_mhz REAL;
ALTER TABLE devices ADD COLUMN matrix_clock_mhz REAL;
ALTER TABLE devices ADD COLUMN memory_clock_mhz REAL;
ALTER TABLE devices ADD COLUMN memory_bus_bits REAL;
ALTER TABLE devices ADD COLUMN peak_flop_per_s_fp64 REAL;
ALTER TABLE devices ADD COLUMN peak_flop_per_s_tf32 REAL;
ALTER TABLE devices ADD COLUMN peak_flop_per_s_fp16 REAL;
ALTER TABLE devices ADD COLUMN peak_flop_per_s_fp8 REAL;
ALTER TABLE devices ADD COLUMN peak_flop_per_s_fp4 REAL;
ALTER TABLE devices ADD COLUMN peak_op_per_s_int8 REAL;
ALTER TABLE devices ADD COLUMN vector_flop_per_s_fp64 REAL;
ALTER TABLE devices ADD COLUMN vector_flop_per_s_fp32 REAL;
ALTER TABLE devices ADD COLUMN vector_flop_per_s_fp16 REAL;
ALTER TABLE devices ADD COLUMN vector_flop_per_s_bf16 REAL;
ALTER TABLE devices ADD COLUMN process_nm REAL;
ALTER TABLE devices ADD COLUMN release_year REAL;
)sql";

// What networks call that no file describes: a bag of operations with counts.
constexpr const char* version_6 = R"sql(
CREATE TABLE network_operations (
    id INTEGER PRIMARY KEY,
    model TEXT NOT NULL,
    symbols TEXT NOT NULL,
    mode TEXT NOT NULL,
    precision TEXT NOT NULL,
    operation TEXT NOT NULL,
    count INTEGER NOT NULL,
    source TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX network_operations_key ON network_operations (model, symbols, mode, precision, operation);
)sql";

// Idle power and voltage over the clock.
constexpr const char* version_7 = R"sql(
CREATE TABLE idle_points (
    device TEXT NOT NULL REFERENCES devices(device),
    sm_clock_mhz REAL NOT NULL,
    idle_power_w REAL NOT NULL,
    voltage_mv REAL,
    source TEXT NOT NULL,
    PRIMARY KEY (device, sm_clock_mhz)
) STRICT;
)sql";

// What profilers tell of programs that nobody has a graph of.
constexpr const char* version_8 = R"sql(
ALTER TABLE networks ADD COLUMN memory_active REAL;
)sql";

// Whose kernels ran: part of what makes a measurement the same.
constexpr const char* version_9 = R"sql(
ALTER TABLE operations ADD COLUMN engine TEXT NOT NULL DEFAULT 'torch';
ALTER TABLE networks ADD COLUMN engine TEXT NOT NULL DEFAULT 'torch';
ALTER TABLE reference_runs ADD COLUMN engine TEXT NOT NULL DEFAULT 'torch';

DROP INDEX operations_key;
CREATE UNIQUE INDEX operations_key ON operations (
    operation, device, mode, math, engine, host, threads, session_id, ifnull(asked_sm_clock_mhz, 'current'),
    ifnull(asked_memory_clock_mhz, 'current'), ifnull(asked_power_limit_w, 'current'));

DROP INDEX networks_key;
CREATE UNIQUE INDEX networks_key ON networks (
    model, symbols, mode, precision, optimizer, device, math, engine, host, threads, session_id,
    ifnull(asked_sm_clock_mhz, 'current'), ifnull(asked_memory_clock_mhz, 'current'),
    ifnull(asked_power_limit_w, 'current'));
)sql";

// "600;615;630": what the driver lists, for those who choose a clock where no worker runs.
constexpr const char* version_10 = R"sql(
ALTER TABLE devices ADD COLUMN core_clocks_mhz TEXT;
)sql";

// The power limits that the driver takes.
constexpr const char* version_11 = R"sql(
ALTER TABLE devices ADD COLUMN min_power_limit_w REAL;
ALTER TABLE devices ADD COLUMN max_power_limit_w REAL;
)sql";

// What an engine made of a network (kernels_text.h); NULL: it did not say.
constexpr const char* version_12 = R"sql(
ALTER TABLE networks ADD COLUMN kernels TEXT;
)sql";

/// The sessions' frameworks say whose kernels ran.
void write_engines(sqlite::Connection& connection) {
    connection.execute("CREATE TEMP TABLE engines (session_id INTEGER PRIMARY KEY, engine TEXT NOT NULL)");
    auto insert = connection.prepare("INSERT INTO engines VALUES (?, ?)");
    auto select = connection.prepare("SELECT id, framework FROM sessions");
    while (select.step()) {
        const std::string engine = engine_of(select.text(1));
        if (engine != OperatingPoint{}.engine) insert.bind(1, select.integer(0)).bind(2, engine).run();
    }
    for (const std::string table : {"operations", "networks", "reference_runs"})
        connection.execute("UPDATE " + table + " SET engine = (SELECT engine FROM engines WHERE engines.session_id = " +
                           table + ".session_id) WHERE session_id IN (SELECT session_id FROM engines)");
    connection.execute("DROP TABLE engines");
}

/// Operations by which tensors are laid out otherwise than contiguously had `{t}`; now they have the strides that it
/// stood for when they were measured (docs/decisions/0010-exact-strides.md). Two that turn out to be the same operation
/// were measured twice in one session: the one that needs no rewriting stays.
void write_strides(sqlite::Connection& connection) {
    std::vector<std::pair<std::int64_t, std::string>> rows;
    auto select = connection.prepare("SELECT id, operation FROM operations WHERE instr(operation, '{t}') > 0");
    while (select.step()) rows.emplace_back(select.integer(0), select.text(1));
    auto update = connection.prepare("UPDATE OR IGNORE operations SET operation = ? WHERE id = ?");
    auto remove = connection.prepare("DELETE FROM operations WHERE id = ?");
    for (const auto& [id, text] : rows) {
        update.bind(1, signature(parse_operation(text))).bind(2, id).run();
        if (connection.changes() == 0) remove.bind(1, id).run();
    }
}

void write_traced_names(sqlite::Connection& connection) {
    std::vector<std::pair<std::int64_t, std::string>> rows;
    auto select = connection.prepare("SELECT id, model FROM networks");
    while (select.step()) rows.emplace_back(select.integer(0), select.text(1));
    auto update = connection.prepare("UPDATE networks SET model = ? WHERE id = ?");
    for (const auto& [id, name] : rows) {
        if (name_of_traced(name) != name) update.bind(1, name_of_traced(name)).bind(2, id).run();
    }
}

constexpr Migration migrations_of_dataset[] = {
    {version_1},
    {"", &write_strides},
    {version_3},
    {version_4},
    {version_5},
    {version_6},
    {version_7},
    {version_8},
    {version_9, &write_engines},
    {version_10},
    {version_11},
    {version_12},
    {"", &write_traced_names},
};

/// The file's version; throws when it is another program's or newer than we know.
std::int64_t checked_version(const sqlite::Connection& connection, std::span<const Migration> migrations) {
    const std::int64_t application = connection.integer("PRAGMA application_id");
    const std::int64_t version = connection.integer("PRAGMA user_version");
    const bool empty = connection.integer("SELECT count(*) FROM sqlite_schema") == 0;
    const std::string file = connection.file().string();
    if (application != dataset_application_id && !(empty && application == 0 && version == 0))
        throw Error("'" + file + "' is an SQLite database, but not one of joulecast's. Give the file that --db wrote.");
    if (version < 0 || version > static_cast<std::int64_t>(migrations.size()))
        throw Error("database '" + file + "' has schema version " + std::to_string(version) +
                    ", this joulecast knows versions up to " + std::to_string(migrations.size()) +
                    ". Open it with a newer joulecast.");
    return version;
}

}  // namespace

std::span<const Migration> dataset_migrations() {
    return migrations_of_dataset;
}

void migrate(sqlite::Connection& connection, std::span<const Migration> migrations) {
    const auto newest = static_cast<std::int64_t>(migrations.size());
    const auto known_version = [&] {
        const sqlite::Transaction snapshot(connection, sqlite::Transaction::Kind::reading);
        return checked_version(connection, migrations);
    };
    {
        const sqlite::Transaction snapshot(connection, sqlite::Transaction::Kind::reading);
        refuse_other_schema(connection, migrations, checked_version(connection, migrations));
    }
    while (known_version() < newest) {
        sqlite::Transaction transaction(connection);
        // Asked again under the lock: another program may have taken this step meanwhile.
        const std::int64_t version = checked_version(connection, migrations);
        if (version < newest) {
            const Migration& migration = migrations[static_cast<std::size_t>(version)];
            connection.execute(migration.sql);
            if (migration.rewrite != nullptr) migration.rewrite(connection);
            connection.execute("PRAGMA application_id = " + std::to_string(dataset_application_id));
            connection.execute("PRAGMA user_version = " + std::to_string(version + 1));
        }
        transaction.commit();
    }
}

bool needs_migration(sqlite::Connection& connection, std::span<const Migration> migrations) {
    const sqlite::Transaction snapshot(connection, sqlite::Transaction::Kind::reading);
    const std::int64_t version = checked_version(connection, migrations);
    refuse_other_schema(connection, migrations, version);
    return version < static_cast<std::int64_t>(migrations.size());
}

}  // namespace joulecast
