#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/graph/graph.h"
#include "joulecast/measure/measurement.h"

namespace joulecast {

/// How all of a sweep is measured, as far as plan files say it; absent: they do not. Who names a plan with clocks or
/// power limits asks for them; the sweep says so before it sets any.
struct HowToMeasure {
    std::optional<Host> host;
    std::optional<Method> method;
    std::optional<Optimizer> optimizer;  ///< of networks in training
    std::optional<std::string> meter;    ///< "auto", "none", or a name that check_meter_name takes
    std::optional<std::string> clocks, power_limits, memory_clocks;  ///< texts that parse_clock_wish takes
};

/// What both say; throws UsageError where they contradict each other, since a sweep has one of each.
HowToMeasure together(const HowToMeasure& first, const HowToMeasure& other);

/// Which measurements somebody wants: every model at every combination of the rest.
struct ProfileRequest {
    std::vector<std::string> models;
    std::vector<Operation> named;                          ///< operations besides, whoever calls them
    std::map<std::string, std::vector<std::int64_t>> set;  ///< symbol -> values
    std::vector<Mode> modes = {Mode::inference};
    std::vector<std::string> precisions = {"fp32"};
    bool operations = true;          ///< the models' unique operations
    bool networks = false;           ///< and each model as a whole
    std::int64_t augment = 0;        ///< variants of the models' operations besides (augment.h)
    bool probe = false;              ///< and the operations that tell what a device is like (probe.h)
    std::optional<double> budget_s;  ///< for measuring all of this, in however many runs
    HowToMeasure how;
};

/// The texts of the command line and of plan files; each throws UsageError naming what it does not understand.
/// "batch=1,8,32", added to what is there.
void add_setting(std::map<std::string, std::vector<std::int64_t>>& set, const std::string& text);
std::vector<Mode> parse_modes(const std::string& text);
/// The words of device/precision.h, with commas between.
std::vector<std::string> parse_precisions(const std::string& text);
/// A number of variants, from 0 to a million.
std::int64_t parse_augment(const std::string& text);
/// "150s", "10m", "2h", or seconds without a unit.
double parse_duration(const std::string& text);

/// Reads a plan file (docs/guide/profile.md): lines `key = value`, `#` starts a comment. Throws FormatError
/// "name:line: what".
ProfileRequest read_plan(std::istream& input, const std::string& name);

/// One model at one setting, ready to be measured.
struct Variation {
    std::string model;
    SymbolValues symbols;
    Mode mode = Mode::inference;
    std::string precision = "fp32";
    Graph graph;
    bool operations = true;
    bool network = false;
};

/// Opens and re-shapes the request's models, for a device of that kind. A symbol that only some of them have is set
/// where it is; throws Error for one that none has, and UsageError for a precision that such devices do not have.
std::vector<Variation> variations(const ProfileRequest& request, const std::filesystem::path& zoo, Device::Kind kind);

}  // namespace joulecast
