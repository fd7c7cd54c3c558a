"""Facts of this machine's CPU, the same as joulecast/device/this_cpu.cpp reads, so that all workers' rows belong to one device."""
import os
import re
import shutil
import sys
import tempfile

NOISE = {"cpu", "processor", "r", "tm", "core", "with", "radeon", "graphics"}
VENDORS = {"AuthenticAMD": "amd", "GenuineIntel": "intel", "0x41": "arm"}
# (vendor, family): ranges of models, as joulecast/device/this_cpu.cpp has them.
ARCHITECTURES = {
    ("intel", 6): {"haswell": [(60, 63), (69, 70)], "broadwell": [(61, 61), (71, 71), (79, 79), (86, 86)],
                   "skylake": [(78, 78), (85, 85), (94, 94), (142, 142), (158, 158), (165, 166)],
                   "ice-lake": [(106, 106), (108, 108), (125, 126)], "sapphire-rapids": [(143, 143), (207, 207)],
                   "golden-cove": [(151, 151), (154, 154), (183, 183), (186, 186)], "granite-rapids": [(173, 174)]},
    ("amd", 0x17): {"zen": [(0x00, 0x2F)], "zen2": [(0x30, 0xFF)]},
    ("amd", 0x19): {"zen3": [(0x00, 0x0F), (0x20, 0x5F)], "zen4": [(0x10, 0x1F), (0x60, 0xAF)]},
    ("amd", 0x1A): {"zen5": [(0x00, 0xFF)]},
}
ARM_CORES = {"0xd0c": "neoverse-n1", "0xd40": "neoverse-v1", "0xd4f": "neoverse-v2"}


# Less than this is full: an optimised model of one operation.
LEAST_ROOM_BYTES = 1 << 20


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip("\0 \n\t")
    except OSError:
        return ""


def leading_number(text):
    found = re.match(r"\d+(?:\.\d+)?", text)
    return float(found.group()) if found else None


def cpu_info(root):
    """Lines of /proc/cpuinfo, as far as they concern us."""
    info = {"model name": "", "vendor": "", "flags": set(), "processors": 0, "cores": set(), "sockets": set(), "mhz": None, "part": "",
            "family": 0, "model": 0}
    socket = "0"
    for line in read(f"{root}/proc/cpuinfo").splitlines():
        key, _, value = (part.strip() for part in line.partition(":"))
        if key == "processor":
            info["processors"] += 1
        elif key == "physical id":
            socket = value
            info["sockets"].add(value)
        elif key == "core id":
            info["cores"].add((socket, value))  # hyper-threads of a core count once
        elif key == "model name":
            info["model name"] = info["model name"] or value
        elif key in ("vendor_id", "CPU implementer"):
            info["vendor"] = VENDORS.get(value, "")
        elif key == "CPU part":
            info["part"] = info["part"] or value
        elif key in ("cpu family", "model"):
            info[key.rpartition(" ")[2]] = int(leading_number(value) or 0)
        elif key == "cpu MHz" and leading_number(value) is not None:
            info["mhz"] = max(leading_number(value), info["mhz"] or 0.0)
        elif key in ("flags", "Features") and not info["flags"]:
            info["flags"] = set(value.split())
    return info


def architecture_of(info):
    """Empty for a processor that is not listed."""
    if info["vendor"] == "arm":
        return ARM_CORES.get(info["part"], "")
    for name, ranges in ARCHITECTURES.get((info["vendor"], info["family"]), {}).items():
        if any(first <= info["model"] <= last for first, last in ranges):
            return name
    return ""


def id_of(model, cores):
    """`AMD EPYC 9B45 96-Core Processor` with two cores is cpu-amd-epyc-9b45-2c."""
    words = [word.strip("-") for word in re.split(r"[^a-z0-9-]", model.partition("@")[0].lower())
             if not re.match(r"\d*-core", word)]
    return "-".join(["cpu", *(word for word in words if word and word not in NOISE), f"{cores}c"])


def last_level_cache_bytes(root):
    highest, size = 0.0, None
    for index in range(8):
        folder = f"{root}/sys/devices/system/cpu/cpu0/cache/index{index}"
        level, text = leading_number(read(f"{folder}/level")), read(f"{folder}/size")
        if level is None or not text or read(f"{folder}/type") == "Instruction" or level < highest:
            continue
        number = leading_number(text)
        if number is not None:
            highest, size = level, number * {"K": 1024.0, "M": 1048576.0}.get(text[-1], 1.0)
    return size


def flop_per_cycle(flags):
    """(float32, bfloat16) of a core: two fused multiply-adds of the widest registers."""
    if "avx512f" in flags:
        return 64.0, 2048.0 if "amx_bf16" in flags else 128.0 if "avx512_bf16" in flags else 64.0
    if "avx2" in flags:
        return 32.0, 32.0
    if "avx" in flags:
        return 16.0, 16.0
    if "asimd" in flags:
        return 16.0, 64.0 if "bf16" in flags else 16.0
    return 8.0, 8.0


def kib_line(text, key):
    found = re.search(rf"^{key}:\s*(\d+)", text, re.MULTILINE)
    return float(found.group(1)) * 1024.0 if found else None


def this_cpu(root=""):
    """`device` of the protocol's hello. What is not told is None."""
    info = cpu_info(root)
    units = max(len(info["cores"]) or info["processors"], 1)
    name = info["model name"] or read(f"{root}/proc/device-tree/model") or (f"ARM part {info['part']}" if info["part"] else "unknown processor")
    khz = leading_number(read(f"{root}/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"))
    mhz = khz / 1000.0 if khz is not None else info["mhz"]
    fp32, bf16 = flop_per_cycle(info["flags"])
    rate = mhz * 1e6 * units if mhz is not None else None
    return {"id": id_of(name, units), "display_name": name, "kind": "cpu", "vendor": info["vendor"], "architecture": architecture_of(info),
            "units": units,
            "max_clock_mhz": mhz, "fp32_lanes_per_unit": fp32 / 2.0,
            "peak_flop_per_s_fp32": rate and fp32 * rate, "vector_flop_per_s_fp32": rate and fp32 * rate,
            "peak_flop_per_s_bf16": rate and bf16 * rate,
            # As this_cpu.cpp: 16 cache lines in flight for 80 ns a core, and eight channels of DDR4-3200 a socket.
            "bandwidth_bytes_per_s": min(12.8e9 * units, 200e9 * max(1, len(info["sockets"]))),
            "last_level_cache_bytes": last_level_cache_bytes(root),
            "memory_bytes": kib_line(read(f"{root}/proc/meminfo"), "MemTotal"),
            "source": "read from /proc and /sys; peak and bandwidth estimated from cores, clock and instruction set, not measured"}


def available_memory_bytes(root=""):
    available = kib_line(read(f"{root}/proc/meminfo"), "MemAvailable") or 0.0
    # Control group v2, as containers see it; "max" is no number and means no limit.
    limit, used = leading_number(read(f"{root}/sys/fs/cgroup/memory.max")), leading_number(read(f"{root}/sys/fs/cgroup/memory.current"))
    if limit is not None and used is not None:
        cache = re.search(r"^file (\d+)", read(f"{root}/sys/fs/cgroup/memory.stat"), re.MULTILINE)
        available = min(available, max(0.0, limit - used + (float(cache.group(1)) if cache else 0.0)))
    return available


def why_no_room():
    """What to say where nothing can be written any more, else nothing: engines write models to temporary files."""
    try:
        folder = tempfile.gettempdir()
        free = shutil.disk_usage(folder).free
    except OSError:  # gettempdir() tries to write
        folder, free = "every folder for temporary files", 0
    if free >= LEAST_ROOM_BYTES:
        return ""
    return (f"the disk of {os.uname().nodename} is full: {folder} has {free / 1e6:.1f} MB left. Free some room there, or set TMPDIR to a "
            "folder on another disk")


def limit_memory_growth():
    """Results that turn out too large meet a limit on the process instead of the kernel's out-of-memory killer."""
    import resource
    available, held = available_memory_bytes(), kib_line(read("/proc/self/status"), "VmData")
    if available and held is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        wanted = int(held + 0.95 * available)
        resource.setrlimit(resource.RLIMIT_DATA, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))


def processors():
    """(those that this process may use, one of each physical core first; number of those cores)."""
    if not hasattr(os, "sched_getaffinity"):
        return list(range(os.cpu_count() or 1)), os.cpu_count() or 1
    firsts, siblings, cores = [], [], set()
    for cpu in sorted(os.sched_getaffinity(0)):
        folder = f"/sys/devices/system/cpu/cpu{cpu}/topology"
        core = (read(f"{folder}/physical_package_id"), read(f"{folder}/core_id"))
        (siblings if core[1] and core in cores else firsts).append(cpu)
        cores.add(core)
    return firsts + siblings, max(1, len(firsts))


def machine():
    system = os.uname()
    facts = this_cpu()
    return f"{facts['display_name']}, {facts['units']} cores, {system.sysname} {system.release}, Python {sys.version.split()[0]}"


def governor():
    return read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "unknown"
