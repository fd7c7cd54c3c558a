#include "joulecast/meter/rapl.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "joulecast/meter/sysfs.h"

namespace joulecast {

namespace {

namespace fs = std::filesystem;

// The counters renew themselves about every millisecond (Intel SDM vol. 3B, 15.10: "approximately every 1 msec").
constexpr double usual_period_s = 1e-3;
// No package draws more; a counter that rises faster was set back (by a suspended machine, by a reloaded driver).
constexpr double most_power_w = 5000.0;

struct Domain {
    std::string name;  ///< "package-0", "package-0/dram"
    fs::path energy_file;
    double range_uj = std::numeric_limits<double>::quiet_NaN();
    double last_uj = 0.0;
    double wrapped_uj = 0.0;
};

/// All domains of the processor's own driver. Its twin intel-rapl-mmio shows the same packages by another door:
/// counting both would count them twice.
std::vector<Domain> domains_below(const fs::path& powercap) {
    std::vector<Domain> domains;
    for (const fs::path& zone : sysfs_entries(powercap)) {
        const std::string id = zone.filename().string();
        std::error_code none;
        if (!id.starts_with("intel-rapl:") || !fs::exists(zone / "energy_uj", none)) continue;
        Domain domain;
        domain.name = sysfs_text(zone / "name").value_or("");
        // "intel-rapl:0:1" is a part of "intel-rapl:0".
        const auto colon = id.rfind(':');
        if (colon > std::string("intel-rapl").size()) {
            domain.name = sysfs_text(powercap / id.substr(0, colon) / "name").value_or("") + "/" + domain.name;
        }
        domain.energy_file = zone / "energy_uj";
        domain.range_uj = sysfs_number(zone / "max_energy_range_uj").value_or(domain.range_uj);
        domains.push_back(std::move(domain));
    }
    return domains;
}

bool is_package(const Domain& domain) {
    return domain.name.starts_with("package") && domain.name.find('/') == std::string::npos;
}
bool is_memory(const Domain& domain) {
    return domain.name.ends_with("/dram");
}

class RaplMeter final : public Meter {
  public:
    RaplMeter(std::vector<Domain> domains, MeterFacts facts, TimeSource now_s)
        : domains_(std::move(domains)), facts_(std::move(facts)), now_s_(std::move(now_s)), last_s_(now_s_()) {}

    const MeterFacts& facts() const override { return facts_; }

    MeterReading read() override {
        const double before_s = now_s_();
        double sum_uj = 0.0;
        for (Domain& domain : domains_) sum_uj += total_uj(domain, before_s - last_s_);
        const double after_s = now_s_();
        last_s_ = before_s;
        MeterReading reading;
        reading.time_s = before_s + (after_s - before_s) / 2;
        reading.energy_j = sum_uj * 1e-6;
        return reading;
    }

  private:
    static double total_uj(Domain& domain, double passed_s) {
        const auto now_uj = sysfs_number(domain.energy_file);
        if (!now_uj) throw MeterLost("the energy counter " + domain.energy_file.string() + " can no longer be read");
        if (*now_uj < domain.last_uj) {
            domain.wrapped_uj += domain.range_uj;
            // One second's grace: two readings may lie closer together than two renewals.
            const double rise_uj = *now_uj + domain.range_uj - domain.last_uj;
            if (!(rise_uj <= most_power_w * 1e6 * (passed_s + 1.0))) {
                throw MeterLost("the energy counter " + domain.energy_file.string() +
                                " was set back (has the machine been suspended?). Measure again");
            }
        }
        domain.last_uj = *now_uj;
        return domain.wrapped_uj + *now_uj;
    }

    std::vector<Domain> domains_;
    MeterFacts facts_;
    TimeSource now_s_;
    double last_s_;
};

/// Reads each counter once; returns the files that may not be read.
std::vector<fs::path> first_look(std::vector<Domain>& domains) {
    std::vector<fs::path> unreadable;
    for (Domain& domain : domains) {
        const auto energy = sysfs_number(domain.energy_file);
        if (!energy) unreadable.push_back(domain.energy_file);
        domain.last_uj = energy.value_or(0.0);
    }
    return unreadable;
}

std::string permission_command(const std::vector<fs::path>& files) {
    std::string command = "sudo chmod a+r";
    for (const auto& file : files) command += " " + file.string();
    return command;
}

std::string no_counter(const fs::path& powercap) {
    return "no RAPL energy counter below " + powercap.string() +
           " (a virtual machine or container hides it; else `sudo modprobe intel_rapl_msr` may show it)";
}

MeterFacts facts_of(const std::vector<Domain>& domains) {
    MeterFacts facts;
    facts.name = "rapl:";
    for (const Domain& domain : domains) facts.name += (&domain == &domains.front() ? "" : "+") + domain.name;
    const bool memory = std::any_of(domains.begin(), domains.end(), is_memory);
    facts.covers = is_package(domains.front()) ? (memory ? "CPU packages and memory" : "CPU packages, without memory")
                                               : "the whole platform (psys)";
    facts.counts_energy = true;
    facts.period_s = usual_period_s;
    return facts;
}

}  // namespace

FoundMeter open_rapl(const fs::path& root, TimeSource now_s) {
    const fs::path powercap = root / "sys" / "class" / "powercap";
    const std::vector<Domain> domains = domains_below(powercap);
    std::vector<Domain> packages;
    std::vector<Domain> memory;
    std::copy_if(domains.begin(), domains.end(), std::back_inserter(packages), is_package);
    std::copy_if(domains.begin(), domains.end(), std::back_inserter(memory), is_memory);
    if (packages.empty()) {
        memory.clear();
        std::copy_if(domains.begin(), domains.end(), std::back_inserter(packages),
                     [](const Domain& domain) { return domain.name == "psys"; });
    }
    if (packages.empty()) return {nullptr, no_counter(powercap)};
    auto closed = first_look(packages);
    const auto closed_memory = first_look(memory);
    if (!closed.empty()) {
        closed.insert(closed.end(), closed_memory.begin(), closed_memory.end());
        const std::string command = permission_command(closed);
        return {nullptr, "the RAPL energy counters may not be read. Until the next boot allows it: " + command,
                command};
    }
    if (std::all_of(packages.begin(), packages.end(), [](const Domain& domain) { return domain.last_uj == 0.0; })) {
        return {nullptr, "the RAPL energy counters stay at zero, as in a virtual machine that does not pass them on"};
    }
    std::vector<Domain> counted = packages;
    if (closed_memory.empty()) counted.insert(counted.end(), memory.begin(), memory.end());
    MeterFacts facts = facts_of(counted);
    if (!closed_memory.empty()) {
        facts.covers += ", whose counter may not be read: " + permission_command(closed_memory);
    }
    if (!now_s) now_s = steady_seconds;
    return {std::make_unique<RaplMeter>(std::move(counted), std::move(facts), std::move(now_s)), ""};
}

}  // namespace joulecast
