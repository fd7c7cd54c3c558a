#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "joulecast/recommend/candidate.h"

namespace joulecast {

/// Which of the candidates named no other of them beats: none takes as little time per sample for less energy per
/// sample. From the fastest to the one of least energy; of equals the first. Candidates without energy are not in it.
std::vector<std::size_t> pareto_front(std::span<const Candidate> candidates, std::span<const std::size_t> among);

}  // namespace joulecast
