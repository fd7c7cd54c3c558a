#include <string>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "cli/predict_service.h"
#include "joulecast/answer/shipped.h"
#include "joulecast/error.h"
#include "python/answers.h"
#include "python/meters.h"
#include "python/values.h"

namespace nb = nanobind;

namespace joulecast::python {
namespace {

nb::object answer(cli::PredictService& service, const std::string& request) {
    std::string line;
    {
        const nb::gil_scoped_release free;
        line = service.answer(request);
    }
    return text(line);
}

void add_service(nb::module_& module) {
    using cli::PredictService;
    const auto make = [](PredictService* self, const std::string& device, const std::string& predictor,
                         const std::string& database, bool strict) {
        new (self) PredictService(cli::RequestSource{device, predictor, database, strict});
    };
    nb::class_<PredictService>(module, "PredictService")
        .def("__init__", make, nb::arg("device"), nb::arg("predictor"), nb::arg("database"), nb::arg("strict"))
        .def("answer", &answer, nb::arg("request"));
}

/// Both exceptions of the package. A wrong argument is a ValueError, too, as Python has it.
void add_exceptions(nb::module_& module) {
    const nb::exception<Error> error(module, "Error", PyExc_RuntimeError);
    const nb::exception<UsageError> usage(module, "UsageError", nb::make_tuple(error, nb::handle(PyExc_ValueError)));
    for (const nb::object& type : {nb::object(error), nb::object(usage)}) type.attr("__module__") = "joulecast";
}

}  // namespace
}  // namespace joulecast::python

NB_MODULE(_native, module) {
    module.doc() = "The C++ side of joulecast: questions to a session with their answers as dicts, and meters.";
    module.attr("__version__") = JOULECAST_VERSION;
    joulecast::python::add_exceptions(module);
    joulecast::python::add_answers(module);
    module.def("ship_from", [](const std::string& folder) { joulecast::ship_from(folder); }, nb::arg("folder"));
    joulecast::python::add_service(module);
    joulecast::python::add_meters(module);
}
