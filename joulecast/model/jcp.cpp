#include "joulecast/model/jcp.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "joulecast/error.h"
#include "joulecast/learn/parallel.h"
#include "joulecast/measure/measurement.h"
#include "joulecast/model/bytes.h"
#include "joulecast/model/forest_bytes.h"
#include "joulecast/model/jcp_clocks.h"
#include "joulecast/model/jcp_device.h"
#include "joulecast/model/jcp_family_model.h"
#include "joulecast/model/jcp_frame.h"
#include "joulecast/model/jcp_fusion.h"
#include "joulecast/model/jcp_kept.h"
#include "joulecast/model/jcp_parts.h"
#include "joulecast/model/jcp_pooled.h"
#include "joulecast/model/jcp_published.h"
#include "joulecast/model/mapped_file.h"
#include "joulecast/units/replaced_file.h"

namespace joulecast {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 30U;

void put(ByteWriter& out, const Origin& origin) {
    for (const std::string* text :
         {&origin.program, &origin.created, &origin.licence, &origin.measured_from, &origin.measured_to}) {
        out.text(*text);
    }
    for (const auto* texts : {&origin.sources, &origin.frameworks, &origin.workers, &origin.machines}) put(out, *texts);
    out.signed_number(origin.rows);
    out.number(origin.seed);
}

Origin take_origin(ByteReader& in) {
    Origin origin;
    for (std::string* text :
         {&origin.program, &origin.created, &origin.licence, &origin.measured_from, &origin.measured_to}) {
        *text = in.text();
    }
    for (auto* texts : {&origin.sources, &origin.frameworks, &origin.workers, &origin.machines})
        *texts = take_texts(in);
    origin.rows = in.signed_number();
    origin.seed = in.number<std::uint64_t>();
    return origin;
}

void put_laws(ByteWriter& out, const DeviceModel& device) {
    out.number(static_cast<std::uint32_t>(device.laws.size()));
    for (const TrainedLaw& law : device.laws) {
        out.text(law.key);
        for (const double value : {law.law.floor_s, law.law.flop_factor, law.law.byte_factor}) out.real(value);
        out.signed_number(law.rows);
    }
}

void take_laws(ByteReader& in, DeviceModel& device) {
    device.laws.resize(in.count(36));
    for (TrainedLaw& law : device.laws) {
        law.key = in.text();
        for (double* value : {&law.law.floor_s, &law.law.flop_factor, &law.law.byte_factor}) {
            *value = take_finite(in);
            if (*value < 0) in.fail("a law has a negative number");
        }
        law.rows = in.signed_number();
    }
    const auto by_key = [](const TrainedLaw& a, const TrainedLaw& b) { return a.key < b.key; };
    if (!std::is_sorted(device.laws.begin(), device.laws.end(), by_key)) in.fail("its laws are not sorted");
}

/// The one byte that version 4 had for tiles: 0 none, else edge and tiles at once on a unit.
std::optional<Tiles> tiles_of_version_4(std::uint8_t code) {
    constexpr std::array<Tiles, 5> tiles{{{},
                                          {128, 128, 1, 1, 0, false},
                                          {128, 128, 2, 1, 0, false},
                                          {64, 64, 1, 1, 0, false},
                                          {64, 64, 2, 1, 0, false}}};
    return code < tiles.size() ? std::optional(tiles[code]) : std::nullopt;
}

void put(ByteWriter& out, const Tiles& tiles) {
    for (const int value : {tiles.widest, tiles.narrowest, tiles.at_once, tiles.splits ? 1 : 0})
        out.number(static_cast<std::uint16_t>(value));
    for (const double value : {tiles.share, tiles.half_depth}) out.real(value);
}

Tiles take_tiles(ByteReader& in) {
    Tiles tiles;
    for (int* value : {&tiles.widest, &tiles.narrowest, &tiles.at_once}) *value = in.number<std::uint16_t>();
    tiles.splits = in.number<std::uint16_t>() != 0;
    for (double* value : {&tiles.share, &tiles.half_depth}) *value = take_finite(in);
    if (tiles.widest < tiles.narrowest || tiles.at_once < 1 || !(tiles.share > 0) || tiles.half_depth < 0)
        in.fail("a law has tiles that cannot be");
    return tiles;
}

/// What version 4 adds to each law: what the host takes for its calls, and the tiles of its products. A file without
/// the section knows neither.
void put_more_of_laws(ByteWriter& out, const DeviceModel& device) {
    out.number(static_cast<std::uint32_t>(device.laws.size()));
    for (const TrainedLaw& law : device.laws) {
        out.real(law.issue_s.value_or(std::numeric_limits<double>::quiet_NaN()));
        put(out, law.law.tiles);
    }
}

void take_more_of_laws(ByteReader& in, DeviceModel& device, std::uint32_t version) {
    if (in.count(version == 4 ? 9 : 32) != device.laws.size()) in.fail("it tells more of other laws than it has");
    for (TrainedLaw& law : device.laws) {
        const double issue_s = in.real();  // NaN: not measured
        if (issue_s <= 0 || std::isinf(issue_s)) in.fail("a time of issuing is not positive");
        if (issue_s > 0) law.issue_s = issue_s;
        const auto tiles = version == 4 ? tiles_of_version_4(in.number<std::uint8_t>()) : take_tiles(in);
        if (!tiles) in.fail("a law has tiles that nobody knows");
        law.law.tiles = *tiles;
    }
}

void put_calibration(ByteWriter& out, const DeviceModel& device) {
    for (const double value : {device.call_overhead_s, device.sigma_network, device.memory_half_width}) out.real(value);
    out.signed_number(device.networks);
    out.number(static_cast<std::uint32_t>(device.corrections.size()));
    for (const NetworkCorrection& correction : device.corrections) {
        out.text(correction.key);
        out.real(correction.factor);
        out.signed_number(correction.networks);
    }
}

void take_calibration(ByteReader& in, DeviceModel& device) {
    for (double* value : {&device.call_overhead_s, &device.sigma_network, &device.memory_half_width}) {
        *value = take_finite(in);
        if (*value < 0) in.fail("its calibration has a negative number");
    }
    device.networks = in.signed_number();
    device.corrections.resize(in.count(20));
    for (NetworkCorrection& correction : device.corrections) {
        correction.key = in.text();
        correction.factor = take_finite(in);
        if (!(correction.factor > 0)) in.fail("a network correction is not positive");
        correction.networks = in.signed_number();
    }
}

/// What a network draws: facts of the device, and the factors of its corrections in their order.
void put_power(ByteWriter& out, const DeviceModel& device) {
    const PowerFacts& power = device.power;
    for (const double value : {power.idle_w, power.cap_w, power.busy_w, power.sigma_power, power.sigma_energy})
        out.real(value);
    out.number(static_cast<std::uint32_t>(device.corrections.size()));
    for (const NetworkCorrection& correction : device.corrections) {
        out.real(correction.host_factor);
        out.real(correction.energy_factor);
    }
}

void take_power(ByteReader& in, DeviceModel& device) {
    PowerFacts& power = device.power;
    for (double* value : {&power.idle_w, &power.cap_w, &power.busy_w}) {
        *value = in.real();  // NaN: not known
        if (*value < 0) in.fail("it has a negative power");
    }
    for (double* value : {&power.sigma_power, &power.sigma_energy}) {
        *value = take_finite(in);
        if (*value < 0) in.fail("its calibration has a negative number");
    }
    if (in.count(16) != device.corrections.size()) in.fail("its corrections of power are not those of time");
    for (NetworkCorrection& correction : device.corrections) {
        for (double* factor : {&correction.host_factor, &correction.energy_factor}) {
            *factor = take_finite(in);
            if (!(*factor > 0)) in.fail("a network correction is not positive");
        }
    }
}

/// What calls cost more from other hosts; a file without the section knows none.
void put_hosts(ByteWriter& out, const DeviceModel& device) {
    out.number(static_cast<std::uint32_t>(device.hosts.size()));
    for (const HostExtra& extra : device.hosts) {
        out.text(name(extra.host));
        out.text(name(extra.mode));
        out.real(extra.seconds_per_call);
        out.real(extra.sigma);
        out.signed_number(extra.networks);
    }
}

void take_hosts(ByteReader& in, DeviceModel& device) {
    device.hosts.resize(in.count(32));
    for (HostExtra& extra : device.hosts) {
        extra.host = take_name(in, parse_stored_host, "host");
        extra.mode = take_name(in, parse_mode, "mode");
        extra.seconds_per_call = take_finite(in);
        extra.sigma = take_finite(in);
        if (extra.sigma < 0) in.fail("its calibration has a negative number");
        extra.networks = in.signed_number();
    }
}

void put(ByteWriter& out, const PhysicalPower& power) {
    for (const double value :
         {power.still, power.flop, power.byte, power.matrix, power.other, power.tensor, power.half_width})
        out.real(value);
    out.signed_number(power.devices);
    out.signed_number(power.rows);
}

PhysicalPower take_physical_power(ByteReader& in) {
    PhysicalPower power;
    for (double* value :
         {&power.still, &power.flop, &power.byte, &power.matrix, &power.other, &power.tensor, &power.half_width}) {
        *value = take_finite(in);
        if (*value < 0) in.fail("its physical power model has a negative number");
    }
    power.devices = in.signed_number();
    power.rows = in.signed_number();
    return power;
}

void put(ByteWriter& out, const PaceReference& reference) {
    out.text(reference.operation);
    out.real(reference.usual_s);
}

PaceReference take_pace_reference(ByteReader& in) {
    PaceReference reference;
    reference.operation = in.text();
    reference.usual_s = take_finite(in);
    if (!(reference.usual_s > 0)) in.fail("the usual time of its reference operation is not positive");
    return reference;
}

/// The device that a section belongs to: the last one begun.
DeviceModel& current(Predictor& predictor, const ByteReader& in) {
    if (predictor.devices.empty()) in.fail("a section of a device comes before any device");
    return predictor.devices.back();
}

bool fits(const FamilyModel& model, const Predictor& predictor) {
    return model.ranges.size() == predictor.features.size();
}

/// The clocks of a device whose sections over them have begun.
ClockParameters& current_clocks(Predictor& predictor, const ByteReader& in) {
    DeviceModel& device = current(predictor, in);
    if (!device.clocks) in.fail("a section over the clocks comes before what it belongs to");
    return *device.clocks;
}

/// What a section holds; `model` is that of one with a model, read before.
struct Content {
    const JcpSection& section;
    ByteReader& in;
    Expert&& model;
};

void take_features(Predictor& predictor, Content content) {
    predictor.features = take_texts(content.in);
    if (predictor.features.empty() || predictor.features.size() > most_forest_columns)
        content.in.fail("it has no or too many features");
}

void take_device_model(Predictor& predictor, Content content) {
    DeviceModel& device = predictor.devices.emplace_back();
    device.device = take_device(content.in);
    device.point = take_point(content.in, device.device.id);
}

void take_engine(Predictor& predictor, Content content) {
    std::string& engine = current(predictor, content.in).point.engine;
    engine = content.in.text();
    if (!is_engine(engine)) content.in.fail("its engine is not a name of one");
}

void take_ratio_spread(Predictor& predictor, Content content) {
    DeviceModel& device = current(predictor, content.in);
    if (!device.over_clocks) content.in.fail("its errors of ratios come before the clocks that they belong to");
    device.over_clocks->ratio = take_ratios(content.in);
}

void take_expert(Predictor& predictor, Content content) {
    if (predictor.pooled.empty()) content.in.fail("a model over devices comes before what it belongs to");
    if (!fits(content.model.model, predictor)) content.in.fail("a model comes before the feature list");
    predictor.pooled.back().experts.push_back(std::move(content.model));
}

void take_kept_device(Predictor& predictor, Content content) {
    KeptDevice kept = take_kept(content.in);
    const auto is_start = [&](const PooledModel& pooled) { return pooled.kind == kept.device.kind; };
    if (std::ranges::none_of(predictor.pooled, is_start))
        content.in.fail("operations are kept of a device that no model over devices is for");
    predictor.kept.push_back(std::move(kept));
}

void take_own_model(Predictor& predictor, Content content) {
    if (!fits(content.model.model, predictor)) content.in.fail("a model comes before the feature list");
    current(predictor, content.in).models.push_back(std::move(content.model.model));
}

struct SectionReader {
    std::string_view tag;
    void (*take)(Predictor& predictor, Content content);
};

using P = Predictor&;
using C = Content;

constexpr SectionReader section_readers[] = {
    {"ORIG", [](P p, C c) { p.origin = take_origin(c.in); }},
    {"FEAT", take_features},
    {"DEVI", take_device_model},
    {"ENGI", take_engine},
    {"SHEE", [](P p, C c) { take_sheet(c.in, current(p, c.in).device); }},
    {"FREQ", [](P p, C c) { take_core_clocks(c.in, current(p, c.in).device); }},
    {"LAWS", [](P p, C c) { take_laws(c.in, current(p, c.in)); }},
    {"LAWX", [](P p, C c) { take_more_of_laws(c.in, current(p, c.in), c.section.version); }},
    {"MODL", take_own_model},
    {"CALI", [](P p, C c) { take_calibration(c.in, current(p, c.in)); }},
    {"POWR", [](P p, C c) { take_power(c.in, current(p, c.in)); }},
    {"HOST", [](P p, C c) { take_hosts(c.in, current(p, c.in)); }},
    {"PHYS", [](P p, C c) { current(p, c.in).physical_power = take_physical_power(c.in); }},
    {"PACE", [](P p, C c) { current(p, c.in).pace_reference = take_pace_reference(c.in); }},
    {"FUS2", [](P p, C c) { current(p, c.in).fusions.push_back(take_fusion(c.in)); }},
    {"PUBL", [](P p, C c) { current(p, c.in).published = take_published(c.in); }},
    {"CLCK", [](P p, C c) { current(p, c.in).clocks = take_clocks(c.in); }},
    {"CRES", [](P p, C c) { current_clocks(p, c.in).residuals = take_residuals(c.in); }},
    {"CLRN",
     [](P p, C c) {
         current_clocks(p, c.in).learned =
             SharedLearnedClocks(std::make_shared<const LearnedClocks>(take_learned(c.in)));
     }},
    {"OVCL",
     [](P p, C c) {
         current_clocks(p, c.in);
         current(p, c.in).over_clocks = take_over_clocks(c.in, c.section.version);
     }},
    {"RATI", take_ratio_spread},
    {"POOL", [](P p, C c) { p.pooled.push_back(take_pooled(c.in)); }},
    {"PMOD", take_expert},
    {"KEPT", take_kept_device},
};

/// `model` is that of a section that holds one, read before.
void take_section(Predictor& predictor, const JcpSection& section, ByteReader& in, Expert&& model) {
    const auto* const reader = std::ranges::find(section_readers, section.tag, &SectionReader::tag);
    // Of a later program that kept the version: by the format's rule it may be passed over.
    if (reader == std::end(section_readers)) return;
    reader->take(predictor, {section, in, std::move(model)});
    if (!in.at_end()) in.fail("a section is longer than its content");
}

/// Columns of the models; 0 where no list says them.
std::size_t feature_count(std::span<const JcpSection> sections, const std::string& name) {
    const auto found = std::ranges::find(sections, "FEAT", &JcpSection::tag);
    if (found == sections.end()) return 0;
    ByteReader in = checked_payload(*found, name);
    return take_texts(in).size();
}

/// A section whose model was read, if it holds one: an expert without device where it is that of a device.
struct ReadSection {
    ByteReader rest{{}, ""};
    Expert model;
};

ReadSection read_model(const JcpSection& section, std::size_t columns, const std::string& name) {
    ReadSection read{checked_payload(section, name), {}};
    ByteReader& in = read.rest;
    if (section.tag == "PMOD") {
        read.model.device = in.text();
        read.model.release_year = in.real();  // NaN: not known
    }
    if (section.tag == "PMOD" || section.tag == "MODL")
        read.model.model = take_family_model(in, columns, section.version);
    return read;
}

}  // namespace

std::vector<std::byte> to_jcp(const Predictor& predictor) {
    if (predictor.features.size() > most_forest_columns) throw Error("a predictor file holds at most 254 features");
    JcpWriter out;
    out.section("ORIG", [&](ByteWriter& w) { put(w, predictor.origin); });
    out.section("FEAT", [&](ByteWriter& w) { put(w, predictor.features); });
    for (const DeviceModel& device : predictor.devices) {
        out.section("DEVI", [&](ByteWriter& w) {
            put(w, device.device);
            put(w, device.point);
        });
        if (device.point.engine != OperatingPoint{}.engine)
            out.section("ENGI", [&](ByteWriter& w) { w.text(device.point.engine); });
        out.section("SHEE", [&](ByteWriter& w) { put_sheet(w, device.device); });
        if (!device.device.core_clocks_mhz.empty())
            out.section("FREQ", [&](ByteWriter& w) { put_core_clocks(w, device.device); });
        out.section("LAWS", [&](ByteWriter& w) { put_laws(w, device); });
        const auto has_more = [](const TrainedLaw& law) { return law.issue_s || law.law.tiles != Tiles{}; };
        if (std::ranges::any_of(device.laws, has_more))
            out.section("LAWX", [&](ByteWriter& w) { put_more_of_laws(w, device); });
        for (const FamilyModel& model : device.models) {
            out.section("MODL", [&](ByteWriter& w) { put(w, model); });
        }
        out.section("CALI", [&](ByteWriter& w) { put_calibration(w, device); });
        out.section("HOST", [&](ByteWriter& w) { put_hosts(w, device); });
        out.section("POWR", [&](ByteWriter& w) { put_power(w, device); });
        out.section("PHYS", [&](ByteWriter& w) { put(w, device.physical_power); });
        if (device.pace_reference) out.section("PACE", [&](ByteWriter& w) { put(w, *device.pace_reference); });
        for (const FusionModel& fusion : device.fusions)
            out.section("FUS2", [&](ByteWriter& w) { put_fusion(w, fusion); });
        if (device.published) out.section("PUBL", [&](ByteWriter& w) { put_published(w, *device.published); });
        if (!device.clocks) continue;
        out.section("CLCK", [&](ByteWriter& w) { put_clocks(w, *device.clocks); });
        if (!device.clocks->residuals.empty())
            out.section("CRES", [&](ByteWriter& w) { put_residuals(w, device.clocks->residuals); });
        if (device.clocks->learned)
            out.section("CLRN", [&](ByteWriter& w) { put_learned(w, *device.clocks->learned.get()); });
        if (!device.over_clocks) continue;
        out.section("OVCL", [&](ByteWriter& w) { put_over_clocks(w, *device.over_clocks); });
        out.section("RATI", [&](ByteWriter& w) { put_ratios(w, device.over_clocks->ratio); });
    }
    for (const PooledModel& pooled : predictor.pooled) {
        out.section("POOL", [&](ByteWriter& w) { put_pooled(w, pooled); });
        for (const Expert& expert : pooled.experts) {
            out.section("PMOD", [&](ByteWriter& w) {
                w.text(expert.device);
                w.real(expert.release_year);
                put(w, expert.model);
            });
        }
    }
    for (const KeptDevice& kept : predictor.kept) out.section("KEPT", [&](ByteWriter& w) { put_kept(w, kept); });
    return out.file();
}

Predictor from_jcp(std::span<const std::byte> bytes, const std::string& name) {
    const std::vector<JcpSection> sections = jcp_sections(bytes, name);
    const std::size_t columns = feature_count(sections, name);
    std::vector<ReadSection> read(sections.size());
    // Checksums and trees are nearly all of the work, and no section waits for those of another.
    in_parallel(sections.size(), 0, [&](std::size_t i) { read[i] = read_model(sections[i], columns, name); });
    Predictor predictor;
    for (std::size_t i = 0; i < sections.size(); ++i)
        take_section(predictor, sections[i], read[i].rest, std::move(read[i].model));
    for (const DeviceModel& device : predictor.devices) {
        const bool is_above_idle = std::ranges::any_of(
            device.models, [](const FamilyModel& model) { return model.parts.front().base == Base::dynamic_watt; });
        if (is_above_idle && !device.over_clocks)
            ByteReader({}, "predictor " + name).fail("a power model lacks the clocks that it was trained at");
    }
    if (predictor.devices.empty() && predictor.pooled.empty())
        ByteReader({}, "predictor " + name).fail("it covers no device");
    return predictor;
}

JcpCover jcp_cover(const std::filesystem::path& path) {
    const MappedFile file(path, "predictor", largest_file);
    JcpCover cover;
    for (const JcpSection& section : jcp_sections(file.bytes(), path.string())) {
        if (section.tag == "DEVI") {
            ByteReader in = checked_payload(section, path.string());
            cover.devices.push_back(take_device(in));
            cover.engines.push_back(OperatingPoint().engine);
        } else if (section.tag == "ENGI" && !cover.engines.empty()) {
            cover.engines.back() = checked_payload(section, path.string()).text();
        } else if (section.tag == "POOL") {
            ByteReader in = checked_payload(section, path.string());
            cover.pooled.push_back(take_pooled(in).kind);
        } else if (section.tag == "KEPT") {
            ByteReader in = checked_payload(section, path.string());
            cover.kept.push_back(take_device_of_kept(in));
        }
    }
    return cover;
}

void write_jcp(const Predictor& predictor, const std::filesystem::path& path) {
    FileCalls calls;
    write_jcp(predictor, path, calls);
}

void write_jcp(const Predictor& predictor, const std::filesystem::path& path, FileCalls& calls) {
    const auto bytes = to_jcp(predictor);
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (const int code = replace_file(path, content, calls); code != 0)
        throw Error("cannot write predictor " + path.string() + ": " + std::generic_category().message(code) +
                    ". Check that the folder exists, may be written and has room.");
}

Predictor read_jcp(const std::filesystem::path& path) {
    const MappedFile file(path, "predictor", largest_file);
    return from_jcp(file.bytes(), path.string());
}

}  // namespace joulecast
