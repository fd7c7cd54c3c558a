#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "joulecast/graph/expression.h"
#include "joulecast/graph/graph.h"
#include "joulecast/graph/readers/onnx_model.h"

namespace joulecast::onnx {

/// The symbols of a model: what its file calls dimensions whose size it does not give ("batch", "batch*heads",
/// "unk__12"). ONNX has no sizes at export, so each symbol of an input needs a value.
class Symbols {
  public:
    explicit Symbols(const Body& graph);

    /// All symbols, with the values given. Throws Error for a name that is none of them; FormatError for an input's
    /// symbol without a value, naming the input, the dimension and how to set it. Names that may be those of sizes at
    /// run time ("<value>_dim_<n>") or of an input's numbers ("<input>_value_<n>", which may be negative) go to
    /// `unclaimed`.
    std::map<std::string, Symbol> chosen(const SymbolValues& given, std::set<std::string>& unclaimed) const;
    /// Throws the Error for a name that is no symbol.
    [[noreturn]] void refuse(const std::string& name) const;

    /// Size of a dimension, `expression_of(...)` evaluated; absent when the file says nothing.
    static std::optional<std::int64_t> size_of(const Dimension& dimension, const SymbolValues& values);
    /// What stands in a dimension without a value; a name is a symbol even if it would parse as a difference
    /// ("batch-size").
    static Expression expression_of(const std::string& parameter);

  private:
    /// Symbol -> the place in an input that needs it; empty for those that only inner values have.
    std::map<std::string, std::string> places_;
};

/// Inputs' dimensions about which the file says nothing get a name: "<input>_dim_<position>".
void name_unknown_dimensions(Body& graph);

}  // namespace joulecast::onnx
