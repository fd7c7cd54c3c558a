#include "workers/pretend/card_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "joulecast/device/figures.h"
#include "joulecast/error.h"
#include "joulecast/units/bounded_json.h"

namespace joulecast::pretend {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* schema = "joulecast.pretend/1";
constexpr std::size_t most_cards = 100;
constexpr std::size_t most_clocks = 1000;

/// One card of the file; every fault names it.
class CardReader {
  public:
    CardReader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {}

    Card read() {
        if (!json_.is_object()) fault("", "is not an object");
        Card card = base();
        card.sheet.id = text("id");
        if (card.sheet.id.empty() ||
            card.sheet.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos)
            fault("id", "has other characters than a-z, 0-9 and -");
        where_ = "card " + card.sheet.id;
        card.sheet.display_name = "Pretended " + card.sheet.id + " (no real hardware)";
        for (const auto& [key, value] : json_.items()) set(card, key, value);
        return card;
    }

  private:
    Card base() const {
        const std::string wanted = json_.contains("based_on") ? text("based_on") : "pretend-a";
        for (Card& card : built_in_cards()) {
            if (card.sheet.id == wanted) return card;
        }
        fault("based_on", "'" + wanted + "' is not a built-in card");
    }

    void set(Card& card, const std::string& key, const Json& value) const {
        if (key == "id" || key == "based_on") return;
        if (key == "display_name") {
            const std::string name = text("display_name");
            if (name.find("retended") == std::string::npos) fault(key, "does not say that the card is pretended");
            card.sheet.display_name = name;
        } else if (key == "units") {
            card.sheet.units = static_cast<int>(number(key, value, 1, 65536));
        } else if (key == "sm_clocks_mhz") {
            card.sm_clocks_mhz = clocks(key, value);
        } else if (key == "memory_clocks_mhz") {
            card.memory_clocks_mhz = clocks(key, value);
        } else if (key == "power_limit_low_w") {
            card.power_limit_low_w = number(key, value, 0, 1e6);
        } else if (key == "power_limit_high_w") {
            card.power_limit_high_w = number(key, value, 0, 1e6);
        } else if (const Figure* figure = find_figure(key)) {
            card.sheet.*figure->value =
                value.is_null() ? Device::unknown : number(key, value, figure->low, figure->high);
        } else {
            set_constant(card, key, value);
        }
    }

    void set_constant(Card& card, const std::string& key, const Json& value) const {
        const auto found = std::ranges::find(constants(), std::string_view(key), &Constant::name);
        if (found == constants().end()) fault(key, "is not a figure of devices and no constant of the laws");
        card.*found->value = number(key, value, found->low, found->high);
    }

    std::string text(const char* key) const {
        const auto found = json_.find(key);
        if (found == json_.end() || !found->is_string()) fault(key, "is not a string");
        return found->get<std::string>();
    }
    double number(const std::string& key, const Json& value, double low, double high) const {
        if (!value.is_number()) fault(key, "is not a number");
        const double result = value.get<double>();
        if (!(result >= low && result <= high))
            fault(key, "must lie between " + Json(low).dump() + " and " + Json(high).dump());
        return result;
    }
    std::vector<double> clocks(const std::string& key, const Json& value) const {
        if (!value.is_array() || value.size() > most_clocks) fault(key, "is not a list of at most 1000 clocks");
        std::vector<double> list;
        for (const Json& each : value) list.push_back(number(key, each, 1, 100000));
        std::ranges::sort(list);
        return list;
    }
    [[noreturn]] void fault(const std::string& key, const std::string& what) const {
        throw FormatError(where_ + ": " + key + " " + what);
    }

    const Json& json_;
    std::string where_;
};

/// What no law can do without.
void require_whole(const Card& card, const std::string& source) {
    const Device& sheet = card.sheet;
    const std::pair<const char*, double> needed[] = {{"boost_clock_mhz", sheet.boost_clock_mhz},
                                                     {"peak_flop_per_s_fp32", sheet.peak_flop_per_s_fp32},
                                                     {"vector_flop_per_s_fp32", sheet.vector_flop_per_s_fp32},
                                                     {"bandwidth_bytes_per_s", sheet.bandwidth_bytes_per_s},
                                                     {"last_level_cache_bytes", sheet.last_level_cache_bytes},
                                                     {"memory_bytes", sheet.memory_bytes},
                                                     {"tdp_w", sheet.tdp_w}};
    for (const auto& [name, value] : needed) {
        if (!(value > 0)) throw FormatError(source + ": card " + sheet.id + ": " + name + " is missing");
    }
    if (card.is_gpu() && card.sm_clocks_mhz.empty())
        throw FormatError(source + ": card " + sheet.id + ": sm_clocks_mhz is empty");
    if (card.is_gpu() && card.memory_clocks_mhz.empty())
        throw FormatError(source + ": card " + sheet.id + ": memory_clocks_mhz is empty");
}

}  // namespace

std::vector<Card> cards_from_json(const std::string& text, const std::string& source) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object() || json.value("schema", "") != schema || !json.contains("cards") ||
        !json["cards"].is_array() || json["cards"].empty() || json["cards"].size() > most_cards)
        throw FormatError(source + " is not JSON of the form {\"schema\":\"" + schema + "\",\"cards\":[...]}");
    std::vector<Card> cards;
    for (const Json& each : json["cards"]) {
        Card card = CardReader(each, source + ": card " + std::to_string(cards.size() + 1)).read();
        require_whole(card, source);
        const bool is_double =
            std::ranges::any_of(cards, [&](const Card& other) { return other.sheet.id == card.sheet.id; });
        if (is_double) throw FormatError(source + ": two cards are called " + card.sheet.id);
        cards.push_back(std::move(card));
    }
    return cards;
}

std::vector<Card> read_cards(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    if (!(text << file.rdbuf())) throw Error("cannot read " + path);
    return cards_from_json(text.str(), path);
}

std::string cards_to_json(const std::vector<Card>& cards) {
    Json list = Json::array();
    for (const Card& card : cards) {
        Json json;
        json["id"] = card.sheet.id;
        // Its kind, and what no key names.
        json["based_on"] = card.is_gpu() ? "pretend-a" : "pretend-cpu";
        json["display_name"] = card.sheet.display_name;
        json["units"] = card.sheet.units;
        json["sm_clocks_mhz"] = card.sm_clocks_mhz;
        json["memory_clocks_mhz"] = card.memory_clocks_mhz;
        if (card.power_limit_low_w > 0) json["power_limit_low_w"] = card.power_limit_low_w;
        if (card.power_limit_high_w > 0) json["power_limit_high_w"] = card.power_limit_high_w;
        for (const Figure& figure : figures())
            json[std::string(figure.name)] = number_or_null(card.sheet.*figure.value);
        for (const Constant& constant : constants()) json[std::string(constant.name)] = card.*constant.value;
        list.push_back(std::move(json));
    }
    return Json{{"schema", schema}, {"cards", list}}.dump(2) + "\n";
}

}  // namespace joulecast::pretend
