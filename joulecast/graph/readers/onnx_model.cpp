#include "joulecast/graph/readers/onnx_model.h"

#include <algorithm>

#include "joulecast/error.h"
#include "joulecast/graph/readers/onnx_names.h"
#include "joulecast/graph/readers/onnx_tensor.h"
#include "joulecast/graph/readers/pt2_terms.h"

namespace joulecast::onnx {

namespace {

// Far beyond any network: the largest exported ones have some ten thousand nodes, three levels of If and Loop.
constexpr std::size_t most_nodes = 1'000'000;
constexpr std::size_t most_names = 65536;
constexpr std::size_t most_items = 65536;
constexpr std::size_t most_dimensions = 64;
constexpr int deepest = 32;

std::string domain_of(std::string domain) {
    return domain == "ai.onnx" ? std::string() : std::move(domain);
}

class ModelParser {
  public:
    explicit ModelParser(Source& source) : source_(source) {}

    Model model();

  private:
    void count_node() {
        if (++nodes_ > most_nodes) throw FormatError("it has more than a million nodes, more than any network");
    }
    Body body(Fields fields, int depth);
    Node node(Fields fields, int depth);
    Attribute attribute(Fields fields, int depth);
    Function function(Fields fields, std::pair<std::string, std::string>& name);
    static ValueInfo value_info(Fields fields);
    static void type(Fields fields, ValueInfo& info);
    static std::vector<Dimension> shape(Fields fields);
    static void opset(Fields fields, Opsets& opsets);
    static void metadata(Fields fields, Node& node);

    Source& source_;
    std::size_t nodes_ = 0;
};

void append_name(std::vector<std::string>& names, const Fields& fields) {
    if (names.size() >= most_names) throw FormatError("a node has more than 65536 inputs or outputs");
    names.push_back(fields.text());
}

std::vector<Dimension> ModelParser::shape(Fields fields) {
    std::vector<Dimension> dimensions;
    while (fields.next()) {
        if (fields.number() != 1) continue;
        if (dimensions.size() >= most_dimensions) throw FormatError("a tensor has more than 64 dimensions");
        Dimension& dimension = dimensions.emplace_back();
        for (Fields parts = fields.message(); parts.next();) {
            if (parts.number() == 1) dimension.value = parts.integer();
            if (parts.number() == 2) dimension.parameter = parts.text();
        }
    }
    return dimensions;
}

void ModelParser::type(Fields fields, ValueInfo& info) {
    while (fields.next()) {
        if (fields.number() == 6) continue;  // what the dimensions mean
        info.kind = fields.number();
        if (fields.number() != 1) continue;  // sequences, maps, optionals and sparse tensors
        for (Fields parts = fields.message(); parts.next();) {
            if (parts.number() == 1) {
                info.data_type = parts.integer();
                info.dtype = dtype_of(info.data_type);
            }
            if (parts.number() == 2) info.shape = shape(parts.message());
        }
    }
}

ValueInfo ModelParser::value_info(Fields fields) {
    ValueInfo info;
    while (fields.next()) {
        if (fields.number() == 1) info.name = fields.text();
        if (fields.number() == 2) type(fields.message(), info);
    }
    return info;
}

Attribute ModelParser::attribute(Fields fields, int depth) {
    Attribute result;
    while (fields.next()) {
        switch (fields.number()) {
            case 1:
                result.name = fields.text();
                break;
            case 2:
                result.real = fields.real();
                break;
            case 3:
                result.integer = fields.integer();
                break;
            case 4:
                // Bytes of any kind; those that are no text (a packed kernel, say) decide no cost.
                if (fields.payload().length <= longest_text)
                    result.text = source_.read(fields.payload().offset, fields.payload().length);
                break;
            case 5:
                result.tensor = parse_tensor(source_, fields.message());
                break;
            case 6:
                result.body = std::make_shared<const Body>(body(fields.message(), depth + 1));
                break;
            case 7:
                fields.append_reals(result.reals, most_items);
                break;
            case 8:
                fields.append_integers(result.integers, most_items);
                break;
            case 9:
                if (result.texts.size() >= most_items) throw FormatError("an attribute has more than 65536 texts");
                result.texts.push_back(
                    source_.read(fields.payload().offset, std::min(fields.payload().length, longest_text)));
                break;
            case 21:
                result.reference = fields.text();
                break;
            default:
                break;
        }
    }
    return result;
}

/// What torch.onnx.export(dynamo=True) notes of where a call comes from.
void ModelParser::metadata(Fields fields, Node& node) {
    std::string key;
    std::string text;
    while (fields.next()) {
        if (fields.number() == 1) key = fields.text();
        if (fields.number() == 2 && fields.payload().length <= longest_text) text = fields.text();
    }
    if (key == "pkg.torch.onnx.name_scopes") node.module_path = module_path_of_scopes(text);
    if (key == "pkg.torch.onnx.stack_trace") node.source_line = pt2::source_line_of(text);
}

Node ModelParser::node(Fields fields, int depth) {
    count_node();
    Node result;
    while (fields.next()) {
        switch (fields.number()) {
            case 1:
                append_name(result.inputs, fields);
                break;
            case 2:
                append_name(result.outputs, fields);
                break;
            case 3:
                result.name = fields.text();
                break;
            case 4:
                result.op_type = fields.text();
                break;
            case 5:
                if (result.attributes.size() >= most_names) throw FormatError("a node has too many attributes");
                result.attributes.push_back(attribute(fields.message(), depth));
                break;
            case 7:
                result.domain = domain_of(fields.text());
                break;
            case 9:
                metadata(fields.message(), result);
                break;
            default:
                break;
        }
    }
    if (result.module_path.empty()) result.module_path = module_path_of_name(result.name);
    return result;
}

Body ModelParser::body(Fields fields, int depth) {
    if (depth > deepest) throw FormatError("it nests graphs deeper than 32 levels");
    Body result;
    while (fields.next()) {
        switch (fields.number()) {
            case 1:
                result.nodes.push_back(node(fields.message(), depth));
                break;
            case 2:
                result.name = fields.text();
                break;
            case 5:
                count_node();
                result.initializers.push_back(parse_tensor(source_, fields.message()));
                break;
            case 11:
                count_node();
                result.inputs.push_back(value_info(fields.message()));
                break;
            case 12:
                count_node();
                result.outputs.push_back(value_info(fields.message()));
                break;
            case 13: {
                count_node();
                ValueInfo info = value_info(fields.message());
                result.value_infos[info.name] = std::move(info);
                break;
            }
            case 15:
                throw FormatError("it has sparse initializers, which joulecast does not know. Store them densely");
            default:
                break;
        }
    }
    return result;
}

void ModelParser::opset(Fields fields, Opsets& opsets) {
    std::string domain;
    std::int64_t version = 1;
    while (fields.next()) {
        if (fields.number() == 1) domain = domain_of(fields.text());
        if (fields.number() == 2) version = fields.integer();
    }
    opsets[domain] = version;
}

Function ModelParser::function(Fields fields, std::pair<std::string, std::string>& name) {
    Function result;
    while (fields.next()) {
        switch (fields.number()) {
            case 1:
                name.second = fields.text();
                break;
            case 4:
                append_name(result.inputs, fields);
                break;
            case 5:
                append_name(result.outputs, fields);
                break;
            case 7:
                result.nodes.push_back(node(fields.message(), 0));
                break;
            case 9:
                opset(fields.message(), result.opsets);
                break;
            case 10:
                name.first = domain_of(fields.text());
                break;
            case 11:
                result.defaults.push_back(attribute(fields.message(), 0));
                break;
            default:
                break;
        }
    }
    return result;
}

Model ModelParser::model() {
    Model result;
    bool has_graph = false;
    for (Fields fields(source_, {0, source_.size()}); fields.next();) {
        switch (fields.number()) {
            case 2:
                result.producer = fields.text();
                break;
            case 7:
                if (has_graph) throw FormatError("it has two graphs");
                has_graph = true;
                result.graph = body(fields.message(), 0);
                break;
            case 8:
                opset(fields.message(), result.opsets);
                break;
            case 25: {
                count_node();
                std::pair<std::string, std::string> name;
                Function parsed = function(fields.message(), name);
                result.functions[name] = std::move(parsed);
                break;
            }
            default:
                break;
        }
    }
    if (!has_graph) throw FormatError("it holds no graph. Is it an ONNX model, and whole?");
    return result;
}

}  // namespace

std::string ValueInfo::why_no_type() const {
    constexpr std::uint32_t tensor = 1;
    if (kind != 0 && kind != tensor) {
        const std::string what = kind == 4 ? "a sequence" : kind == 5 ? "a map" : kind == 9 ? "an optional" : "sparse";
        return "it is " + what +
               ", not a dense tensor, so its sizes are not in the file. Export the network with "
               "tensors as inputs";
    }
    // Throws, with the reason.
    if (data_type != 0) required_dtype(data_type);
    return "it has no dtype or no number of dimensions. Export the network with typed inputs";
}

const Attribute* Node::find(std::string_view attribute) const {
    const auto found = std::ranges::find(attributes, attribute, &Attribute::name);
    return found == attributes.end() ? nullptr : &*found;
}

Model parse_model(Source& source) {
    return ModelParser(source).model();
}

}  // namespace joulecast::onnx
