#pragma once

#include <nanobind/nanobind.h>

namespace joulecast::python {

/// The classes Question and Session, and the functions recommend() and extract().
void add_answers(nanobind::module_& module);

}  // namespace joulecast::python
