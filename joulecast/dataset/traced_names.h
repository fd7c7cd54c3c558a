#pragma once

#include <string>

namespace joulecast {

/// What a network is called now that was measured under that name before schema 13 and joulecast.csv/2: until then the
/// zoo's transformers were as torch.export traces them, with masks and copies that PyTorch does not have when it runs
/// (docs/decisions/0039). Their graphs are in the zoo as "bert-base@traced". All other names stay.
std::string name_of_traced(const std::string& network);

}  // namespace joulecast
