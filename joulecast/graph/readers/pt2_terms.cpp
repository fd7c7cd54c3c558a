#include "joulecast/graph/readers/pt2_terms.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

#include "joulecast/error.h"

namespace joulecast::pt2 {
namespace {

std::optional<Dtype> dtype_of(std::int64_t code) {
    // torch/_export/serde/schema.py, ScalarType.
    static const std::map<std::int64_t, Dtype> dtypes = {
        {1, Dtype::u8},       {2, Dtype::i8},    {3, Dtype::i16},       {4, Dtype::i32},    {5, Dtype::i64},
        {6, Dtype::f16},      {7, Dtype::f32},   {8, Dtype::f64},       {10, Dtype::c64},   {11, Dtype::c128},
        {12, Dtype::boolean}, {13, Dtype::bf16}, {29, Dtype::f8e4m3fn}, {30, Dtype::f8e5m2}};
    const auto found = dtypes.find(code);
    return found == dtypes.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Dtype required_dtype(std::int64_t code) {
    if (const auto dtype = dtype_of(code)) return *dtype;
    throw FormatError("its dtype has torch's number " + std::to_string(code) +
                      ", which joulecast does not know. Cast it to another dtype before the export");
}

std::string shown(std::string_view name) {
    constexpr std::size_t longest = 200;
    std::string text(name.substr(0, longest));
    for (char& c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
    return name.size() > longest ? text + "..." : text;
}

std::string target_of(const std::string& python) {
    constexpr std::string_view prefix = "torch.ops.";
    std::string target = python;
    std::size_t split = 0;
    if (target.starts_with(prefix)) {
        target.erase(0, prefix.size());
        split = target.find('.');
        constexpr std::string_view default_overload = ".default";
        if (target.ends_with(default_overload)) target.erase(target.size() - default_overload.size());
    } else {
        // Python's module of operators; its true name has an underscore.
        if (target.starts_with("_operator.")) target.erase(0, 1);
        split = target.rfind('.');
    }
    if (split == std::string::npos || split == 0 || split >= target.size())
        throw FormatError("\"" + shown(python) + "\" is not a name of an operation");
    target.replace(split, 1, "::");
    const auto is_plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == ':';
    };
    constexpr std::size_t longest_target = 256;
    if (target.size() > longest_target || !std::ranges::all_of(target, is_plain))
        throw FormatError("\"" + shown(python) + "\" is not a name of an operation");
    return target;
}

std::string module_path_of(const std::string& stack) {
    const std::size_t start = stack.rfind(';') == std::string::npos ? 0 : stack.rfind(';') + 1;
    const std::size_t first = stack.find(',', start);
    if (first == std::string::npos) return {};
    const std::size_t second = stack.find(',', first + 1);
    std::string path = stack.substr(first + 1, second == std::string::npos ? second : second - first - 1);
    for (const std::string_view root : {"L['self'].", "L['self']", "L__self__."})
        if (path.starts_with(root)) path.erase(0, root.size());
    // What torch writes for the calls it adds itself, such as reading a symbolic size.
    if (path.starts_with("_empty_nn_module_stack")) return {};
    return path.substr(0, path.find('@'));
}

std::string source_line_of(const std::string& trace) {
    constexpr std::string_view file = "File \"";
    constexpr std::string_view line = "\", line ";
    const std::size_t start = trace.rfind(file);
    if (start == std::string::npos) return {};
    const std::size_t name = start + file.size();
    const std::size_t quote = trace.find(line, name);
    if (quote == std::string::npos) return {};
    const std::size_t number = quote + line.size();
    const std::size_t end = trace.find_first_not_of("0123456789", number);
    return trace.substr(name, quote - name) + ":" + trace.substr(number, end == std::string::npos ? end : end - number);
}

}  // namespace joulecast::pt2
