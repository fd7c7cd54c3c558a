#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "joulecast/graph/graph.h"

namespace joulecast {

/// Reads a .pt2 file (torch.export, torch 2.6 or newer; both archive layouts), re-shaped to the `set` symbols; the
/// others keep their sizes at export. Weights are never read. Errors: FormatError for a file that is damaged, hostile
/// or of another schema, naming file, place and cure; for a size without a value that is not in `set`; Error for a
/// symbol in `set` that the graph does not have.
Graph read_pt2(const std::filesystem::path& path, const SymbolValues& set = {});
/// The same from memory, for tests and fuzzing.
Graph read_pt2(std::span<const std::byte> bytes, const std::string& name, const SymbolValues& set = {});

/// Reads a .graph.json file (docs/graph-json.md), re-shaped to the `set` symbols. Errors as above.
Graph read_graph_json(const std::filesystem::path& path, const SymbolValues& set = {});
/// The same from memory.
Graph read_graph_json(std::string_view json, const std::string& name, const SymbolValues& set = {});

/// Reads an .onnx file (operator sets 11 to 22; others with a note) as ATen calls, at the `set` values of
/// its symbols: each symbol of an input needs one, since ONNX has no sizes at export. Weights are never read. Errors as
/// above.
Graph read_onnx(const std::filesystem::path& path, const SymbolValues& set = {});
/// The same from memory.
Graph read_onnx(std::span<const std::byte> bytes, const std::string& name, const SymbolValues& set = {});

/// Opens what a user names: a path by its suffix, or else a zoo network ("resnet50", "resnet50@299" for images of that
/// size; short names are understood). A zoo network comes in the form that `mode` wants: auxiliary heads and stochastic
/// depth are only in the one that trains; to_training() is still the caller's. A user's file is taken as it is.
/// `zoo` is the folder of the shipped graphs. Throws Error listing near names, or sizes, if there is none.
Graph open_model(const std::string& model, const std::filesystem::path& zoo, const SymbolValues& set = {},
                 Mode mode = Mode::inference);

/// Whether a text means a file of a network, by its suffix, whether or not it exists.
bool names_file(std::string_view text);

/// Whether a text means a network rather than anything else: a file of one by its suffix, whether or not it exists, or
/// a name that the zoo knows, whatever size stands behind its @.
bool names_network(const std::string& text, const std::filesystem::path& zoo);

/// The sizes that people mean where they name none: a network of the zoo infers with a batch of 1, not with the 2 that
/// it was exported with (torch.export would have written a 1 into the graph for good). Training, and files of the
/// user's, keep the sizes of their export.
SymbolValues usual_sizes(const std::string& model, SymbolValues set, Mode mode);

/// Names of the zoo's networks, sorted.
std::vector<std::string> zoo_names(const std::filesystem::path& zoo);

}  // namespace joulecast
