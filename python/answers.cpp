// Questions of Python to answer/, and to the verbs recommend and extract; answers as dicts with the keys of their JSON.
#include "python/answers.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/extraction.h"
#include "cli/forecast_lines.h"
#include "cli/recommendation_text.h"
#include "cli/recommending.h"
#include "cli/setting_options.h"
#include "cli/settings.h"
#include "joulecast/answer/session.h"
#include "joulecast/error.h"
#include "joulecast/forecast/issue_order.h"
#include "python/values.h"

namespace nb = nanobind;

namespace joulecast::python {
namespace {

using Json = nlohmann::ordered_json;

/// Symbols with the values that they take.
using Sizes = std::vector<std::pair<std::string, std::vector<std::int64_t>>>;

/// The value of a word. Throws UsageError for one that is none of them.
template <class Parse>
auto parsed(Parse parse, const std::string& word, const char* what, const char* words) {
    const auto found = parse(word);
    if (!found) throw UsageError(std::string(what) + " is one of " + words + ", not '" + word + "'");
    return *found;
}

void set_modes(Question& question, const std::vector<std::string>& words) {
    question.modes.clear();
    for (const std::string& word : words)
        question.modes.push_back(parsed(parse_mode, word, "mode", "inference and training"));
}

void set_hosts(Question& question, const std::vector<std::string>& words) {
    question.hosts.clear();
    for (const std::string& word : words)
        question.hosts.push_back(parsed(parse_host, word, "host", "python, cpp and graph"));
}

MemoryFormat memory_format_of(const std::string& word) {
    return parsed(parse_memory_format, word, "memory_format", "contiguous and channels_last");
}

void set_memory_formats(Question& question, const std::vector<std::string>& words) {
    question.memory_formats.clear();
    for (const std::string& word : words) question.memory_formats.push_back(memory_format_of(word));
}

void set_accumulate(Question& question, std::int64_t passes) {
    if (passes < 1 || passes > most_accumulation)
        throw UsageError("accumulate is 1 to " + std::to_string(most_accumulation) + " passes, not " +
                         std::to_string(passes));
    question.training.accumulation = passes;
}

/// What no setter can tell, since others come behind it.
void check(const Question& question) {
    const TrainingSetup& training = question.training;
    const bool is_given =
        training.optimizer != Optimizer::none || training.form || training.accumulation != 1 || training.checkpointing;
    if (is_given && std::ranges::find(question.modes, Mode::training) == question.modes.end())
        throw UsageError("optimizer, accumulate and checkpointing need mode=\"training\"");
    if (training.form && training.optimizer == Optimizer::none) throw UsageError("optimizer_form needs optimizer");
}

nb::dict dict_of(const Forecast& forecast) {
    DictObject whole;
    add_reported(whole, forecast, cli::forecast_report::forecast_lines);
    nb::list calls;
    for (const OperationForecast& operation : forecast.network.operations) {
        DictObject call;
        add_reported(call, operation, cli::forecast_report::call_lines);
        calls.append(call.dict);
    }
    whole.dict["operations"] = calls;
    return whole.dict;
}

nb::tuple answer(Session& session, const Question& question) {
    Answer answer;
    cli::Shortfalls missing;
    {
        const nb::gil_scoped_release free;
        check(question);
        answer = session.answer(question);
        missing = cli::shortfalls(answer.forecasts);
    }
    nb::list predictions;
    for (const Forecast& forecast : answer.forecasts) predictions.append(dict_of(forecast));
    answer.notes.insert(answer.notes.end(), missing.notes.begin(), missing.notes.end());
    return nb::make_tuple(predictions, texts(answer.notes), texts(missing.unknown), missing.fits);
}

nb::object object_of(const Json& json) {
    switch (json.type()) {
        case Json::value_t::object: {
            nb::dict dict;
            for (const auto& [key, value] : json.items()) dict[text(key)] = object_of(value);
            return dict;
        }
        case Json::value_t::array: {
            nb::list list;
            for (const Json& value : json) list.append(object_of(value));
            return list;
        }
        case Json::value_t::string:
            return text(json.get_ref<const std::string&>());
        case Json::value_t::boolean:
            return nb::bool_(json.get<bool>());
        case Json::value_t::number_integer:
            return nb::int_(json.get<std::int64_t>());
        case Json::value_t::number_unsigned:
            return nb::int_(json.get<std::uint64_t>());
        case Json::value_t::number_float:
            return number_or_none(json.get<double>());
        default:
            return nb::none();
    }
}

nb::tuple recommend(const Question& question, const Goal& goal, const std::map<std::string, double>& device_prices,
                    const std::string& clocks, const std::string& power_limits, const std::string& predictor,
                    const std::string& database) {
    std::vector<std::string> notes, unknown;
    Json json;
    {
        const nb::gil_scoped_release free;
        check(question);
        const cli::Choice choice{question, cli::grid(clocks, power_limits), goal, device_prices};
        const auto phases = cli::recommendations(choice, cli::for_one_question(predictor, database),
                                                 [&](const std::string& note) { notes.push_back(note); });
        json = cli::recommendations_json(phases);
        for (const cli::Answered& phase : phases) {
            if (const std::string note = cli::unknown_note(phase); !note.empty()) unknown.push_back(note);
        }
    }
    return nb::make_tuple(object_of(json), texts(notes), texts(unknown));
}

nb::tuple extract(const std::vector<std::string>& models, const Sizes& sizes, const std::string& mode,
                  const std::string& precision, const std::string& device, std::size_t top, bool by_module,
                  std::size_t depth, const std::string& graph, bool bag, const std::string& memory_format) {
    if (!mode.empty()) parsed(parse_mode, mode, "mode", "inference and training");
    if (device != "cpu" && device != "cuda") throw UsageError("device is cpu or cuda, not '" + device + "'");
    std::vector<std::string> notes;
    std::string missing;
    Json json;
    {
        const nb::gil_scoped_release free;
        const cli::ExtractRequest request{
            models, cli::combinations(sizes),       mode, precision, device, top, by_module, depth, graph,
            bag,    memory_format_of(memory_format)};
        const auto counted = cli::count_models(request, [&](const std::string& note) { notes.push_back(note); });
        missing = cli::missing_records_text(cli::pointers(counted));
        json = cli::extraction_json(counted, request);
    }
    return nb::make_tuple(object_of(json.at("models")), texts(notes), text(missing));
}

void add_question(nb::module_& module) {
    using Words = std::vector<std::string>;
    const auto make = [](Question* self, const Words& models, const Sizes& sizes, const Words& devices) {
        Question question;
        question.models = models;
        question.sizes = cli::combinations(sizes);
        for (const std::string& name : devices) question.devices.push_back(device_at_clock(name));
        new (self) Question(std::move(question));
    };
    const auto set_clocks = [](Question& self, const std::string& clocks, const std::string& power_limits,
                               const std::string& memory_clocks) {
        self.clocks = parse_clock_wish(clocks, power_limits, memory_clocks);
    };
    const auto set_pace = [](Question& self, const std::string& pace, const std::string& worker) {
        if (pace != "usual" && pace != "now") throw UsageError("pace is usual or now, not '" + pace + "'");
        self.at_pace_of_now = pace == "now";
        self.worker = worker;
    };
    const auto set_optimizer = [](Question& self, const std::string& word) {
        self.training.optimizer = parsed(parse_optimizer, word, "optimizer", "none, sgd, momentum, adam and adamw");
    };
    const auto set_form = [](Question& self, const std::string& word) {
        self.training.form = parsed(parse_update_form, word, "optimizer_form", "loop, foreach and fused");
    };
    nb::class_<Question>(module, "Question")
        .def("__init__", make, nb::arg("models"), nb::arg("sizes"), nb::arg("devices"))
        .def("set_mode", &set_modes)
        .def("set_precision", [](Question& self, const Words& words) { self.precisions = words; })
        .def("set_memory_format", &set_memory_formats)
        .def("set_host", &set_hosts)
        .def("set_host_cpu", [](Question& self, const std::string& cpu) { self.host_cpu = cpu; })
        .def("set_clocks", set_clocks, nb::arg("clocks"), nb::arg("power_limits"), nb::arg("memory_clocks"))
        .def("set_pace", set_pace, nb::arg("pace"), nb::arg("worker"))
        .def("set_optimizer", set_optimizer)
        .def("set_optimizer_form", set_form)
        .def("set_accumulate", &set_accumulate)
        .def("set_checkpointing", [](Question& self, bool on) { self.training.checkpointing = on; });
}

void add_goal(nb::module_& module) {
    const auto make = [](Goal* self, const std::string& minimise) {
        Goal goal;
        goal.objective = parsed(parse_objective, minimise, "minimise", objective_words().c_str());
        new (self) Goal(goal);
    };
    nb::class_<Goal>(module, "Goal")
        .def("__init__", make, nb::arg("minimise"))
        .def("set_max_time", [](Goal& self, double s) { self.limits.time_s = s; })
        .def("set_max_power", [](Goal& self, double w) { self.limits.power_w = w; })
        .def("set_max_memory", [](Goal& self, double bytes) { self.limits.memory_bytes = bytes; })
        .def("set_max_price", [](Goal& self, double price) { self.limits.price = price; })
        .def("set_max_hours", [](Goal& self, double hours) { self.limits.job_s = hours * seconds_per_hour; })
        .def("set_samples", [](Goal& self, double samples) { self.job = Job{samples}; })
        .def("set_electricity_price", [](Goal& self, double price) { self.prices.electricity_per_kwh = price; })
        .def("set_carbon", [](Goal& self, double grams) { self.prices.carbon_g_per_kwh = grams; });
}

}  // namespace

void add_answers(nb::module_& module) {
    add_question(module);
    add_goal(module);
    const auto make = [](Session* self, const std::string& predictor, const std::string& database) {
        new (self) Session(cli::for_one_question(predictor, database));
    };
    nb::class_<Session>(module, "Session")
        .def("__init__", make, nb::arg("predictor"), nb::arg("database"))
        .def("answer", &answer, nb::arg("question"));
    module.def("recommend", &recommend, nb::arg("question"), nb::arg("goal"), nb::arg("device_prices"),
               nb::arg("clocks"), nb::arg("power_limits"), nb::arg("predictor"), nb::arg("database"));
    module.def("extract", &extract, nb::arg("models"), nb::arg("sizes"), nb::arg("mode") = "",
               nb::arg("precision") = "", nb::arg("device") = "cuda", nb::arg("top") = 0, nb::arg("by_module") = false,
               nb::arg("depth") = 2, nb::arg("graph") = "", nb::arg("bag") = false,
               nb::arg("memory_format") = "contiguous");
}

}  // namespace joulecast::python
