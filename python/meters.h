#pragma once

#include <nanobind/nanobind.h>

namespace joulecast::python {

/// The class Recording: a meter that is read in a thread of its own.
void add_meters(nanobind::module_& module);

}  // namespace joulecast::python
