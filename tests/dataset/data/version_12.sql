PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
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
, device_vendor TEXT, device_architecture TEXT, fp32_lanes_per_unit REAL, base_clock_mhz REAL, boost_clock_mhz REAL, matrix_clock_mhz REAL, memory_clock_mhz REAL, memory_bus_bits REAL, peak_flop_per_s_fp64 REAL, peak_flop_per_s_tf32 REAL, peak_flop_per_s_fp16 REAL, peak_flop_per_s_fp8 REAL, peak_flop_per_s_fp4 REAL, peak_op_per_s_int8 REAL, vector_flop_per_s_fp64 REAL, vector_flop_per_s_fp32 REAL, vector_flop_per_s_fp16 REAL, vector_flop_per_s_bf16 REAL, process_nm REAL, release_year REAL, core_clocks_mhz TEXT, min_power_limit_w REAL, max_power_limit_w REAL) STRICT;
INSERT INTO devices VALUES('cpu-test','A CPU, "for tests"','cpu',2,NULL,100000000000.0,200000000000.0,10000000000.0,NULL,NULL,NULL,NULL,'made up',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO sessions VALUES(1,'s1','2026-01-02T03:04:05Z','fake 1.0','none','two cores, 64 GB','unknown','joulecast','{"seed":1,"time_budget_s":0.25}','own');
INSERT INTO sessions VALUES(2,'s2','2026-01-02T03:04:05Z','another 1.0','onnxruntime 1.20.1','two cores, 64 GB','unknown','joulecast','{"seed":1,"time_budget_s":0.25}','own');
INSERT INTO sessions VALUES(3,'aiconfigurator gemm h100-sxm vllm 0.12','2026-01-02T03:04:05Z','AIConfigurator collector','vllm 0.12','two cores, 64 GB','unknown','aiconfigurator','{"seed":1,"time_budget_s":0.25}','aiconfigurator');
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
, issue_s REAL, eager_s REAL, launch_bound INTEGER, device_time_by TEXT, power_w REAL, idle_power_w REAL, energy_half_width_j REAL, energy_gain_error REAL, energy_window_s REAL, energy_ticks INTEGER, energy_calls INTEGER, energy_drift_per_s REAL, energy_meter TEXT, energy_suspect INTEGER, temperature_c REAL, performance_state TEXT NOT NULL DEFAULT '', throttle_reasons INTEGER NOT NULL DEFAULT 0, limited_by TEXT NOT NULL DEFAULT 'unknown', workspace_bytes REAL, started_at TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '', engine TEXT NOT NULL DEFAULT 'torch') STRICT;
INSERT INTO operations VALUES(1,1,'aten::relu(self=f32[1,3,8,8])','inference','cpu-test','ieee','cpp','a CPU',2,2,NULL,NULL,NULL,2400.5,NULL,NULL,'ok','',0.0003333333333333333222,0.00032999999999999999819,1.1111111111111110372e-06,0.00029999999999999997371,0.00036666666666666667068,50,41.299999999999997156,3,7,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'no RAPL, "not readable"',4096.0,0.59999999999999997779,0.00014285714285714286786,0.00014142857142857142779,4.7619047619047622692e-07,0.00012857142857142857565,0.00015714285714285716006,50,41.299999999999997156,3,7,1,NULL,100000000.0,12,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,'unknown',NULL,'','','torch');
INSERT INTO operations VALUES(2,1,'aten::relu(self=f32[1048576,3,8,8])','inference','cpu-test','ieee','cpp','',2,0,NULL,NULL,NULL,NULL,NULL,NULL,'out_of_memory','std::bad_alloc',NULL,NULL,NULL,NULL,NULL,0,0.0,0,0,0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',NULL,0.0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.0,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,'unknown',NULL,'','','torch');
INSERT INTO operations VALUES(3,2,'aten::relu(self=f32[1,3,8,8])','inference','cpu-test','ieee','cpp','a CPU',2,2,NULL,NULL,NULL,2400.5,NULL,NULL,'ok','',0.0003333333333333333222,0.00032999999999999999819,1.1111111111111110372e-06,0.00029999999999999997371,0.00036666666666666667068,50,41.299999999999997156,3,7,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'no RAPL, "not readable"',4096.0,0.59999999999999997779,0.00014285714285714286786,0.00014142857142857142779,4.7619047619047622692e-07,0.00012857142857142857565,0.00015714285714285716006,50,41.299999999999997156,3,7,1,NULL,100000000.0,12,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,'unknown',NULL,'','','onnxruntime');
INSERT INTO operations VALUES(4,3,'aten::relu(self=f32[1,3,8,8])','inference','cpu-test','ieee','graph','',2,2,NULL,NULL,NULL,2400.5,NULL,NULL,'ok','',0.0003333333333333333222,0.00032999999999999999819,1.1111111111111110372e-06,0.00029999999999999997371,0.00036666666666666667068,50,41.299999999999997156,3,7,1,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'no RAPL, "not readable"',4096.0,0.59999999999999997779,0.00014285714285714286786,0.00014142857142857142779,4.7619047619047622692e-07,0.00012857142857142857565,0.00015714285714285716006,50,41.299999999999997156,3,7,1,NULL,100000000.0,12,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,'unknown',NULL,'','','vllm');
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
, optimizer TEXT NOT NULL DEFAULT 'none', issue_s REAL, eager_s REAL, launch_bound INTEGER, device_time_by TEXT, dynamic_energy_j REAL, power_w REAL, idle_power_w REAL, energy_half_width_j REAL, energy_gain_error REAL, energy_window_s REAL, energy_ticks INTEGER, energy_calls INTEGER, energy_drift_per_s REAL, energy_meter TEXT, energy_suspect INTEGER, temperature_c REAL, performance_state TEXT NOT NULL DEFAULT '', throttle_reasons INTEGER NOT NULL DEFAULT 0, limited_by TEXT NOT NULL DEFAULT 'unknown', workspace_bytes REAL, started_at TEXT NOT NULL DEFAULT '', ended_at TEXT NOT NULL DEFAULT '', memory_active REAL, engine TEXT NOT NULL DEFAULT 'torch', kernels TEXT) STRICT;
INSERT INTO networks VALUES(1,1,'resnet18','batch=8;seq=128','training','fp32','cpu-test','ieee','cpp','',2,2,NULL,NULL,NULL,NULL,NULL,NULL,'ok','',0.10000000000000000555,0.099000000000000004662,0.00033333333333333337641,0.090000000000000010547,0.11000000000000001443,50,41.299999999999997156,3,7,1,0.040000000000000000832,0.039600000000000003252,0.00013333333333333333972,0.036000000000000004218,0.044000000000000004385,50,41.299999999999997156,3,7,1,NULL,'',5000000.0,1.5,70000000.0,'none',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,'unknown',NULL,'','',NULL,'torch',NULL);
INSERT INTO networks VALUES(2,2,'resnet18','batch=8;seq=128','training','fp32','cpu-test','ieee','cpp','',2,2,NULL,NULL,NULL,NULL,NULL,NULL,'ok','',0.10000000000000000555,0.099000000000000004662,0.00033333333333333337641,0.090000000000000010547,0.11000000000000001443,50,41.299999999999997156,3,7,1,0.040000000000000000832,0.039600000000000003252,0.00013333333333333333972,0.036000000000000004218,0.044000000000000004385,50,41.299999999999997156,3,7,1,NULL,'',5000000.0,1.5,70000000.0,'none',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'',0,'unknown',NULL,'','',NULL,'onnxruntime',NULL);
CREATE TABLE operation_blocks (
    id INTEGER PRIMARY KEY REFERENCES operations(id) ON DELETE CASCADE,
    block_s BLOB NOT NULL
) STRICT;
INSERT INTO operation_blocks VALUES(1,X'fca9f1d24d62503f555555555555d53fc7bab88d06f0463f');
CREATE TABLE network_blocks (
    id INTEGER PRIMARY KEY REFERENCES networks(id) ON DELETE CASCADE,
    block_s BLOB NOT NULL
) STRICT;
INSERT INTO network_blocks VALUES(1,X'9a9999999999b93f295c8fc2f528bc3f');
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
, engine TEXT NOT NULL DEFAULT 'torch') STRICT;
INSERT INTO reference_runs VALUES(1,2,'aten::mm(self=f32[512,512], mat2=f32[512,512])','cpu-test','2026-01-02T03:04:05.678Z',NULL,NULL,NULL,2400.5,0.0027000000000000001429,1.0000000000000000817e-05,48.499999999999999999,0,'onnxruntime');
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
INSERT INTO network_operations VALUES(1,'mynet','batch=8','inference','fp32','aten::relu(self=f32[8,3,8,8])',3,'made up');
CREATE TABLE idle_points (
    device TEXT NOT NULL REFERENCES devices(device),
    sm_clock_mhz REAL NOT NULL,
    idle_power_w REAL NOT NULL,
    voltage_mv REAL,
    source TEXT NOT NULL,
    PRIMARY KEY (device, sm_clock_mhz)
) STRICT;
INSERT INTO idle_points VALUES('cpu-test',900.0,31.5,725.0,'own');
CREATE INDEX operations_by_device ON operations (device);
CREATE INDEX networks_by_device ON networks (device);
CREATE UNIQUE INDEX reference_runs_key ON reference_runs (operation, device, session_id, started_at);
CREATE UNIQUE INDEX network_operations_key ON network_operations (model, symbols, mode, precision, operation);
CREATE UNIQUE INDEX operations_key ON operations (
    operation, device, mode, math, engine, host, threads, session_id, ifnull(asked_sm_clock_mhz, 'current'),
    ifnull(asked_memory_clock_mhz, 'current'), ifnull(asked_power_limit_w, 'current'));
CREATE UNIQUE INDEX networks_key ON networks (
    model, symbols, mode, precision, optimizer, device, math, engine, host, threads, session_id,
    ifnull(asked_sm_clock_mhz, 'current'), ifnull(asked_memory_clock_mhz, 'current'),
    ifnull(asked_power_limit_w, 'current'));
COMMIT;
PRAGMA application_id = 1245934452;
PRAGMA user_version = 12;
