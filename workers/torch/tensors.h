#pragma once

#include <cstdint>
#include <random>

#include <ATen/ATen.h>

#include "joulecast/graph/tensor_type.h"
#include "workers/torch/content.h"

namespace joulecast::torch_worker {

/// Throws Error naming the dtype if LibTorch has no such type.
at::ScalarType scalar_type(Dtype dtype);

/// A parameter as a module holds it requires a gradient in inference too, which decides kernels though none is
/// computed: a linear layer whose input is no plain matrix is copied into one for such a weight, and for another
/// multiplied matrix by matrix (should_fold() in ATen's LinearAlgebra.cpp, torch 2.13).
TensorType as_parameter(TensorType type);

/// Makes tensors with sensible random contents. Values come from pools drawn once in the life of the process for each
/// seed and type: drawing 100 MB of normal numbers for every operation would take longer than measuring it.
class TensorMaker {
  public:
    explicit TensorMaker(std::uint64_t seed, at::Device place = at::kCPU) : seed_(seed), random_(seed), place_(place) {}

    at::Device place() const { return place_; }

    /// A tensor of its own storage, of that dtype, sizes and strides; requires a gradient if the type says so.
    at::Tensor make(const TensorType& type, const Content& content);
    /// Standard normal (0, 1) like `like`, for the gradients that enter a backward pass.
    at::Tensor normal_like(const at::Tensor& like);

  private:
    void fill(at::Tensor& dense, const Content& content);
    const at::Tensor& pool(at::ScalarType type, Content::Kind kind);
    void fill_integers(at::Tensor& dense, const Content& content);

    std::uint64_t seed_;
    std::mt19937_64 random_;
    at::Device place_;
};

}  // namespace joulecast::torch_worker
