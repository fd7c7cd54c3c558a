#pragma once

#include "joulecast/error.h"

namespace joulecast {

/// A network cannot be had in a precision, mode or engine that was asked for. Others that were asked for beside it can.
class UnsupportedError : public Error {
  public:
    using Error::Error;
};

}  // namespace joulecast
