#include "workers/torch/math_mode.h"

#include <ATen/Context.h>
#include <torch/version.h>

namespace joulecast::torch_worker {

// The one place that knows how the setters changed: one precision for each backend and operation since torch 2.9 (texts
// in 2.9, enumerators from 2.10 on), two switches before.
#if TORCH_VERSION_MAJOR > 2 || TORCH_VERSION_MINOR >= 10

namespace {

constexpr std::initializer_list<at::Float32Op> operations = {at::Float32Op::MATMUL, at::Float32Op::CONV,
                                                             at::Float32Op::RNN};

}  // namespace

void set_math(Math math) {
    const auto precision = math == Math::tf32 ? at::Float32Precision::TF32 : at::Float32Precision::IEEE;
    for (const at::Float32Op operation : operations) {
        at::globalContext().setFloat32Precision(at::Float32Backend::CUDA, operation, precision);
    }
}

Math math_now() {
    for (const at::Float32Op operation : operations) {
        const auto precision = at::globalContext().float32Precision(at::Float32Backend::CUDA, operation);
        if (precision == at::Float32Precision::TF32) return Math::tf32;
    }
    return Math::ieee;
}

#else

void set_math(Math math) {
    at::globalContext().setAllowTF32CuBLAS(math == Math::tf32);
    at::globalContext().setAllowTF32CuDNN(math == Math::tf32);
}

Math math_now() {
    return at::globalContext().allowTF32CuBLAS() || at::globalContext().allowTF32CuDNN() ? Math::tf32 : Math::ieee;
}

#endif

}  // namespace joulecast::torch_worker
