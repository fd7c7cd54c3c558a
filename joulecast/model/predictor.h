#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "joulecast/device/device.h"
#include "joulecast/features/feature.h"
#include "joulecast/graph/record.h"
#include "joulecast/learn/learner.h"
#include "joulecast/learn/model.h"
#include "joulecast/measure/pace_reference.h"
#include "joulecast/model/fusion_rules.h"
#include "joulecast/model/measured_operation.h"
#include "joulecast/model/ratio_spread.h"
#include "joulecast/model/residual_process.h"
#include "joulecast/physics/clock_curve.h"
#include "joulecast/physics/issue_pace.h"
#include "joulecast/physics/law.h"
#include "joulecast/physics/physical_power.h"
#include "joulecast/physics/sustained_peak.h"

namespace joulecast {

/// What a family model forecasts.
enum class Metric { time, power, peak_memory };

inline constexpr std::array all_metrics{Metric::time, Metric::power, Metric::peak_memory};

/// "time_s", "power_w", "peak_memory_bytes": key in files, JSON and tables.
std::string_view name(Metric metric);
std::optional<Metric> parse_metric(std::string_view text);

/// What the logarithm that a model returns is taken relative to.
/// kernel: the roofline and the latency of a kernel, for models over several devices.
/// dynamic_watt: what the units draw above idle power at the clocks (over_clocks.h); the model forecasts power above
/// idle.
enum class Base { law, roofline, output_bytes, watt, planned_bytes, kernel, dynamic_watt };

struct TrainedRange {
    float low = 0;
    float high = 0;
    friend bool operator==(const TrainedRange&, const TrainedRange&) = default;
};

/// One model of log(metric / base).
struct ModelPart {
    Base base = Base::law;
    /// What it says is held within these: the trained values and half of their range to either side. Trees never leave
    /// them; models that compute would, for rows far from the trained ones.
    double low = std::numeric_limits<double>::lowest();
    double high = std::numeric_limits<double>::max();
    Model model;
    friend bool operator==(const ModelPart&, const ModelPart&) = default;
};

/// What a forecast takes of the trees of a forest. One tree in several ends in a leaf of calls that ran another way:
/// the middle half of the trees leaves those out, where the mean follows them.
enum class Middle { mean, midmean };

/// How much the parts of a model count. By work: that over the roofline counts for half of the share that work, not
/// launching, has of the call by its law: of calls that are little but a launch the roofline tells nothing.
enum class PartWeights { alike, by_work };

/// How a forecast is made of what the members of a model's parts say.
struct Reading {
    Middle middle = Middle::mean;
    PartWeights weights = PartWeights::alike;
    friend auto operator<=>(const Reading&, const Reading&) = default;
};

/// The learned part for one family and metric: log(metric), by its parts.
struct FamilyModel {
    Family family = Family::other;
    Metric metric = Metric::time;
    Learner learner = Learner::extra_trees;
    std::vector<std::string> targets;  ///< trained, sorted; their places are the feature "target"
    std::vector<TrainedRange> ranges;  ///< per feature, of the finite trained values; low > high where there were none
    std::vector<ModelPart> parts;
    Reading reading;
    double score_90 = 0;  ///< 90 % of held-out |log error| lie below score_90 * (spread of the members + 0.01)
    std::int64_t rows = 0;
};

struct TrainedLaw {
    std::string key;  ///< law_key or family_law_key
    Law law;
    std::int64_t rows = 0;
    /// What the host takes to issue such a call without waiting: median of the rows. Absent: not measured apart, and
    /// the law's floor stands in.
    std::optional<double> issue_s = std::nullopt;
    friend bool operator==(const TrainedLaw&, const TrainedLaw&) = default;
};

/// From operations to networks: measured networks over the sum of their operations, forecast while held out.
struct NetworkCorrection {
    std::string key;    ///< "inference|fp32"
    double factor = 1;  ///< multiplies the device's share of the time; pulled to 1 when few networks were measured
    std::int64_t networks = 0;
    double host_factor =
        1;  ///< multiplies the host's share: issuing in a network costs less than in a loop of one call
    double energy_factor = 1;  ///< multiplies the energy above idle
    friend bool operator==(const NetworkCorrection&, const NetworkCorrection&) = default;
};

/// What a call costs more when another host issues it than the one that the operations were measured with
/// (DeviceModel::point); less where negative. From Python: the interpreter, the modules and their arguments.
struct HostExtra {
    Host host = Host::python;
    Mode mode = Mode::inference;
    double seconds_per_call = 0;
    double sigma = 0;           ///< standard deviation of log |seconds_per_call| for a network never measured
    std::int64_t networks = 0;  ///< measured from that host; 0: carried over from other machines
    friend bool operator==(const HostExtra&, const HostExtra&) = default;
};

/// Whose way of forecasting the operations of a device follow in the place of joulecast's own (published/method.h).
enum class PublishedMethod { thesis, sponner };

/// One regression of a published method, of the metric's own value.
struct PublishedRegression {
    std::string key;  ///< what shares it: regression_key()
    Metric metric = Metric::time;
    Learner learner = Learner::random_forest;
    std::vector<std::string> layers;   ///< thesis: names that have a column, sorted; of others empty
    std::vector<TrainedRange> ranges;  ///< per column
    double half_width = 0;             ///< of 90 % intervals, in log: 90 % of held-out rows are nearer
    std::int64_t rows = 0;
    Model model;
};

struct PublishedModel {
    PublishedMethod method = PublishedMethod::thesis;
    std::vector<PublishedRegression> regressions;  ///< sorted by key, then by metric
};

/// Another CPU that issues the calls than the one that they were measured from.
struct Issuer {
    std::string cpu;  ///< Device::id
    IssuePace pace;
};

/// What is known of a device's power beyond that of single operations. NaN: nothing was measured.
struct PowerFacts {
    double idle_w = std::numeric_limits<double>::quiet_NaN();  ///< context alive, nothing running
    double cap_w = std::numeric_limits<double>::quiet_NaN();   ///< what the device never exceeds for long
    double busy_w = std::numeric_limits<double>::quiet_NaN();  ///< median of operations long enough to keep it busy
    double sigma_power = 0;   ///< systematic log error of a network's power beyond its operations' own
    double sigma_energy = 0;  ///< and of its energy

    bool known() const { return idle_w == idle_w && busy_w == busy_w; }
};

/// What one device taught of a family: log(kernel time / (roofline + latency)), over features relative to the device.
/// All experts of a family have the same targets.
struct Expert {
    std::string device;
    double release_year = 0;  ///< of that device; NaN: not known
    FamilyModel model;        ///< of one part
};

/// How experts of several devices are taken together for another device: their weights are 3^-(years between releases /
/// year_scale), all alike for a scale of 0.
struct Combination {
    double year_scale = 0;
    bool by_median = true;  ///< their weighted median, else their mean

    friend bool operator==(const Combination&, const Combination&) = default;
};

/// Families whose experts are best taken together in another way than the usual.
using FamilyCombinations = std::map<Family, Combination>;

/// Of a device that nothing was learned on: its model is one over other devices, with this device's data sheet.
struct Unseen {
    ResidualProcess residual;                            ///< how far that is off
    std::vector<std::string> trained_on;                 ///< ids of the other devices
    std::shared_ptr<const std::vector<Expert>> experts;  ///< megabytes, the same for every way of multiplying
    Combination combination;
    FamilyCombinations combinations;
    /// By law key, the devices whose experts know such calls.
    std::map<std::string, std::vector<std::string>> knowing;
    double hidden_launch_s = 0;                ///< as of PooledModel
    double issue_pace = 0;                     ///< as of PooledModel
    std::vector<std::string> same_chip;        ///< of trained_on, those that carry this device's chip
    std::vector<std::string> same_whole_chip;  ///< of these, those that use as many of its units
};

/// Clocks that operations were measured at.
struct TrainedClock {
    double sm_clock_mhz = 0;
    double memory_clock_mhz = std::numeric_limits<double>::quiet_NaN();  ///< NaN: not told
    std::int64_t rows = 0;
    friend bool operator==(const TrainedClock&, const TrainedClock&) = default;
};

/// What the device draws above idle power, in watts at its highest clock: what dynamic_watts() multiplies.
struct DynamicPower {
    double flop_w = 0;    ///< arithmetic at the peak of the data sheet
    double byte_w = 0;    ///< bytes moved at its bandwidth
    double busy_w = 0;    ///< a kernel that works, on however many units
    double active_w = 0;  ///< all units at work
    double on_w = 0;      ///< calls that follow each other, whatever they do
    friend bool operator==(const DynamicPower&, const DynamicPower&) = default;
};

/// Of a device whose operations were measured at several clocks: its models know the clock (over_clocks.h).
struct OverClocks {
    std::vector<TrainedClock> trained;  ///< two or more; by memory clock, then by core clock, ascending
    DynamicPower dynamic;               ///< all zero where no power was measured
    RatioSpread ratio{};                ///< of forecasts at two clocks
    friend bool operator==(const OverClocks&, const OverClocks&) = default;
};

/// Everything known of one device under one setting.
struct DeviceModel {
    Device device;
    OperatingPoint point;
    std::vector<TrainedLaw> laws;  ///< sorted by key
    std::vector<FamilyModel> models;
    std::vector<NetworkCorrection> corrections;
    std::vector<HostExtra> hosts;  ///< that networks were measured from, beside that of the operations
    double call_overhead_s = 0;    ///< of a call that computes nothing (views): the smallest fitted floor
    double sigma_network = 0;      ///< systematic log error of a network's time beyond its operations' own
    double memory_half_width = 0;  ///< 90 % of |log(measured / planned peak memory)| of networks
    std::int64_t networks = 0;     ///< measured, that the two above and the corrections were calibrated on
    PowerFacts power;
    PhysicalPower physical_power = shipped_physical_power();  ///< for what no power was measured of
    std::optional<Unseen> unseen;  ///< present: all its forecasts are extrapolations from other devices
    /// Fitted to networks measured at several clocks; absent: by architecture (clock_parameters() in at_point.h).
    std::optional<ClockParameters> clocks;
    /// Present: operations were measured at several clocks; `clocks` is present too, and `point` has the highest ones.
    std::optional<OverClocks> over_clocks{};
    /// Present: operations are forecast by this alone, and a network is their sum. Without laws, models, corrections
    /// and idle power.
    std::optional<PublishedModel> published{};
    /// How its engine fuses networks, one for each precision that it told kernels of.
    std::vector<FusionModel> fusions{};
    /// Present: the pace of the device was followed while it was measured.
    std::optional<PaceReference> pace_reference{};
    /// Every operation takes so much longer than usual. Asked for, not learnt: no file holds it.
    double pace = 1;
    /// Present: forecasts are as that CPU issues the calls (hosts.h). Asked for, not learnt: no file holds it.
    std::optional<Issuer> issuer{};
    /// Of a device that starts from others (KeptDevice): these need no forecast. No file holds them here.
    MeasuredOperations kept{};
};

/// Of this many operations of a device at most are the errors learned that a model over other devices makes on it.
inline constexpr std::size_t most_telling_operations = 400;

/// Mean |log(forecast / measured)| of operations left out, by two ways.
struct WaysLeftOut {
    double from_others = 0;  ///< models over other devices, adjusted to the rest
    double of_own = 0;       ///< models of the device's own, of extremely randomised trees
    friend bool operator==(const WaysLeftOut&, const WaysLeftOut&) = default;
};

/// A device of which operations were measured, too few for models of its own: it is forecast by the model over other
/// devices, adjusted to them (forecast/start_from_others.h).
struct KeptDevice {
    Device device;  ///< as its sheet has it
    OperatingPoint point;
    MeasuredOperations operations;
    std::vector<std::string> telling;  ///< signatures of those that it is adjusted to, sorted
    WaysLeftOut left_out{};            ///< a fifth at random, whole shapes
    /// A fifth by size, smaller or larger than the rest of their family; absent where the former decided.
    std::optional<WaysLeftOut> left_out_by_work{};
};

/// How a kind of call ran on one of the devices.
struct DeviceEffect {
    std::string device;
    double release_year = 0;  ///< NaN: not known
    double log_factor = 0;    ///< log of its kernels' time over the roofline's, sizes aside
    friend bool operator==(const DeviceEffect&, const DeviceEffect&) = default;
};

struct PooledLaw {
    std::string key;      ///< law_key or family_law_key
    double launch_s = 0;  ///< what a single call takes beside its kernel: launch, and the events of who measured
    std::vector<DeviceEffect> effects;
    std::int64_t rows = 0;
    friend bool operator==(const PooledLaw&, const PooledLaw&) = default;
};

/// A model over devices of one kind: what each of them taught by itself, taken together for a new device by the
/// likeness of their ages. It becomes a device's model by instantiate().
struct PooledModel {
    Device::Kind kind = Device::Kind::gpu;
    OperatingPoint point;              ///< math; the rest of it is that of most rows
    std::vector<std::string> devices;  ///< it was trained on, sorted
    SustainedRule sustained;
    Combination combination;
    FamilyCombinations combinations;
    std::vector<PooledLaw> laws;  ///< sorted by key
    std::vector<Expert> experts;
    ResidualPrior prior;
    double call_overhead_s = 0;  ///< of issuing a call eagerly
    double hidden_launch_s = 0;  ///< of the laws' launch_s, what a kernel that takes longer hides
    /// What the hosts of its devices took to issue calls over issue_from_cpp_s(), where that was timed apart; 0:
    /// nowhere.
    double issue_pace = 0;
    std::int64_t rows = 0;
};

/// Where it comes from: printed with every forecast and kept in the file.
struct Origin {
    std::string program;                  ///< "joulecast 0.1.0"
    std::string created;                  ///< ISO 8601, UTC
    std::string licence;                  ///< of the measurements
    std::vector<std::string> sources;     ///< "own", or the imported tables
    std::vector<std::string> frameworks;  ///< "torch 2.13.0"
    std::vector<std::string> workers;
    std::vector<std::string> machines;
    std::string measured_from;  ///< first and last session start
    std::string measured_to;
    std::int64_t rows = 0;
    std::uint64_t seed = 0;
};

/// Laws, models and calibration, ready to forecast. Written to and read from .jcp files (jcp.h).
struct Predictor {
    Origin origin;
    std::vector<std::string> features;  ///< the columns of all models, by name
    std::vector<DeviceModel> devices;
    std::vector<PooledModel> pooled;  ///< for devices that are not among them
    std::vector<KeptDevice> kept;     ///< that start from these, one for each setting
};

/// A model that knows its device and setting and nothing else yet.
DeviceModel frame_of(const Device& device, const OperatingPoint& setting);

/// nullptr where no law has that key.
const TrainedLaw* law_named(const DeviceModel& device, std::string_view key);
/// The law for an operation: its own, else that of the same call in place or out of place, else its family's; nullptr
/// if none was fitted.
const Law* find_law(const DeviceModel& device, const Operation& operation);
/// Of an operation whose family() is known already.
const Law* find_law(const DeviceModel& device, const Operation& operation, Family its_family);
/// The same with its key.
const TrainedLaw* find_trained_law(const DeviceModel& device, const Operation& operation, Family its_family);
const FamilyModel* find_model(const DeviceModel& device, Family family, Metric metric);
/// The first model of that device, whatever its setting; throws Error naming the devices there are.
const DeviceModel& device_model(const Predictor& predictor, const std::string& device);
/// The one at that setting (threads, math, host), else the first.
const DeviceModel& device_model(const Predictor& predictor, const std::string& device, const OperatingPoint& setting);
/// Settings of the models of that device, in order.
std::vector<OperatingPoint> settings_of(const Predictor& predictor, const std::string& device);
/// The correction for a mode and precision; one that changes nothing if nothing was calibrated.
NetworkCorrection network_correction(const DeviceModel& device, const std::string& key);

/// The columns by name; throws FormatError for one this program does not know.
std::vector<const Feature*> columns(const Predictor& predictor);

}  // namespace joulecast
