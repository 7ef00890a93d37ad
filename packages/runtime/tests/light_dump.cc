// SPDX-License-Identifier: Apache-2.0
// Reads a model and prints its graph as JSON, or the error that it gives, for tests that compare with the onnx package.
// `light_dump -` reads a stream of length-prefixed (4 bytes, little-endian) models and answers one line for each.
// `light_dump --schemas` prints every operator schema, one a line, and `light_dump --kernels` every native kernel.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "light/error.h"
#include "light/graph_builder.h"
#include "light/kernel_registry.h"
#include "light/model_reader.h"

namespace {

std::string Quote(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", byte);
      out += escape;
    } else {
      out += c;
    }
  }
  return out + "\"";
}

const char* CodeName(light::ErrorCode code) {
  switch (code) {
    case light::ErrorCode::kFail:
      return "Fail";
    case light::ErrorCode::kInvalidArgument:
      return "InvalidArgument";
    case light::ErrorCode::kNoSuchFile:
      return "NoSuchFile";
    case light::ErrorCode::kInvalidProtobuf:
      return "InvalidProtobuf";
    case light::ErrorCode::kInvalidGraph:
      return "InvalidGraph";
    case light::ErrorCode::kNotImplemented:
      return "NotImplemented";
    case light::ErrorCode::kEpFail:
      return "EpFail";
    case light::ErrorCode::kRuntimeException:
      return "RuntimeException";
  }
  return "";
}

template <class List, class Print>
std::string Join(const List& list, Print print) {
  std::string out = "[";
  for (const auto& item : list) {
    if (out.size() > 1) out += ", ";
    out += print(item);
  }
  return out + "]";
}

std::string PrintShape(const light::Shape& shape) {
  if (!shape.has_rank()) return "null";
  return Join(shape.dims(), [](const light::Dim& dim) {
    return dim.is_known()      ? std::to_string(dim.extent())
           : dim.is_symbolic() ? Quote(dim.symbol())
                               : std::string("null");
  });
}

std::string PrintBytes(const light::Tensor& tensor) {
  if (tensor.type() == light::ElementType::kString) {
    return Join(tensor.Span<std::string>(), [](const std::string& text) { return Quote(text); });
  }
  static const char kDigits[] = "0123456789abcdef";
  std::string out = "\"";
  const auto* bytes = static_cast<const unsigned char*>(tensor.data());
  for (std::size_t i = 0; i < tensor.byte_size(); ++i) {
    out += kDigits[bytes[i] >> 4];
    out += kDigits[bytes[i] & 15];
  }
  return out + "\"";
}

std::string PrintValue(const light::GraphValue& value) {
  std::string out = "{\"name\": " + Quote(value.name) + ", \"type\": " + Quote(value.type.ToString()) +
                    ", \"shape\": " + PrintShape(value.type.shape) +
                    ", \"origin\": " + std::to_string(static_cast<int>(value.origin)) +
                    ", \"overridable\": " + (value.is_overridable ? "true" : "false") +
                    ", \"uses\": " + std::to_string(value.uses.size());
  if (value.external) {
    out += ", \"external\": [" + Quote(value.external->location) + ", " + std::to_string(value.external->offset) +
           ", " + std::to_string(value.external->length) + "]";
  }
  if (value.initializer && value.initializer->byte_size() <= 4096)
    out += ", \"data\": " + PrintBytes(*value.initializer);
  return out + "}";
}

std::string PrintDefault(const light::AttributeSchema& attribute) {
  if (!attribute.has_default) return "null";
  const auto& data = attribute.default_value.data;
  const auto number = [](auto value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.9g", static_cast<double>(value));
    return std::string(text);
  };
  if (const auto* value = std::get_if<float>(&data)) return number(*value);
  if (const auto* value = std::get_if<int64_t>(&data)) return std::to_string(*value);
  if (const auto* value = std::get_if<std::string>(&data)) return Quote(*value);
  if (const auto* value = std::get_if<std::vector<float>>(&data)) return Join(*value, number);
  if (const auto* value = std::get_if<std::vector<std::string>>(&data)) return Join(*value, Quote);
  if (const auto* value = std::get_if<std::vector<int64_t>>(&data)) {
    return Join(*value, [](int64_t item) { return std::to_string(item); });
  }
  return "\"?\"";
}

std::string PrintSchema(const light::OperatorSchema& schema) {
  const auto formal = [&](const light::FormalParameter& parameter) {
    const auto& type = schema.type_parameters.at(static_cast<std::size_t>(parameter.type_parameter));
    return "[" + Quote(parameter.name) + ", " + Quote(type.name) + ", " + Quote(type.allowed.ToString()) + ", " +
           std::to_string(static_cast<int>(parameter.option)) + ", " + (parameter.homogeneous ? "true" : "false") +
           ", " + std::to_string(parameter.min_arity) + "]";
  };
  const auto attribute = [](const light::AttributeSchema& item) {
    return "[" + Quote(item.name) + ", " + std::to_string(static_cast<int>(item.kind)) + ", " +
           (item.required ? "true" : "false") + ", " + PrintDefault(item) + "]";
  };
  return "{\"domain\": " + Quote(schema.domain) + ", \"name\": " + Quote(schema.name) +
         ", \"since\": " + std::to_string(schema.since_version) +
         ", \"deprecated\": " + (schema.deprecated ? "true" : "false") + ", \"arity\": " +
         Join(std::vector<int>{schema.min_inputs, schema.max_inputs, schema.min_outputs, schema.max_outputs},
              [](int n) { return std::to_string(n); }) +
         ", \"inputs\": " + Join(schema.inputs, formal) + ", \"outputs\": " + Join(schema.outputs, formal) +
         ", \"attributes\": " + Join(schema.attributes, attribute) + "}";
}

std::string PrintKernel(const light::KernelRegistration& kernel) {
  const auto constraint = [](const light::TypeConstraint& one) {
    return '[' + Quote(one.parameter) + ", " + Quote(one.allowed.ToString()) + ']';
  };
  return "{\"domain\": " + Quote(kernel.domain) + ", \"name\": " + Quote(kernel.op_type) +
         ", \"since\": " + std::to_string(kernel.since) + ", \"until\": " + std::to_string(kernel.until) +
         ", \"may_decline\": " + (kernel.declines != nullptr ? "true" : "false") +
         ", \"constraints\": " + Join(kernel.constraints, constraint) + "}";
}

std::string PrintGraph(const light::Graph& graph);

std::string PrintNode(const light::Graph& graph, const light::Node& node) {
  const auto name_of = [&](light::ValueId id) {
    return id == light::kNoValue ? std::string("\"\"") : Quote(graph.value(id).name);
  };
  std::string out = "{\"name\": " + Quote(node.name) + ", \"op\": " + Quote(node.op_type) +
                    ", \"domain\": " + Quote(node.domain) + ", \"since\": " + std::to_string(node.since_version) +
                    ", \"inputs\": " + Join(node.inputs, name_of) + ", \"outputs\": " + Join(node.outputs, name_of) +
                    ", \"captures\": " + Join(node.captures, name_of);
  out += ", \"attributes\": " + Join(node.attributes, [](const light::Attribute& attribute) {
           std::string text = "[" + Quote(attribute.name) + ", " + Quote(light::ToString(attribute.kind));
           if (const auto* number = std::get_if<int64_t>(&attribute.data)) text += ", " + std::to_string(*number);
           return text + "]";
         });
  out += ", \"subgraphs\": " + Join(node.subgraphs, [](const light::Subgraph& subgraph) {
           return "{\"attribute\": " + Quote(subgraph.attribute) + ", \"graph\": " + PrintGraph(*subgraph.graph) + "}";
         });
  return out + "}";
}

std::string PrintGraph(const light::Graph& graph) {
  const auto name_of = [&](light::ValueId id) { return Quote(graph.value(id).name); };
  return "{\"name\": " + Quote(graph.name()) + ", \"inputs\": " + Join(graph.inputs(), name_of) +
         ", \"outputs\": " + Join(graph.outputs(), name_of) +
         ", \"initializers\": " + Join(graph.initializers(), name_of) +
         ", \"captures\": " + Join(graph.captures(), name_of) + ", \"values\": " + Join(graph.values(), PrintValue) +
         ", \"nodes\": " + Join(graph.nodes(), [&](const light::Node& node) { return PrintNode(graph, node); }) + "}";
}

template <class Read>
std::string Answer(Read read) {
  std::vector<std::string> warnings;
  std::string out;
  try {
    const light::GraphBuilder builder(light::OnnxSchemas(),
                                      {[&](const std::string& line) { warnings.push_back(line); }});
    const auto graph = builder.Build(read());
    out = "{\"ir_version\": " + std::to_string(graph->model().ir_version) + ", \"graph\": " + PrintGraph(*graph);
  } catch (const light::Error& error) {
    out = "{\"code\": " + Quote(CodeName(error.code())) + ", \"error\": " + Quote(error.what());
  } catch (const std::bad_alloc&) {
    out = "{\"code\": \"bad_alloc\", \"error\": \"out of memory\"";
  }
  return out + ", \"warnings\": " + Join(warnings, [](const std::string& line) { return Quote(line); }) + "}";
}

int AnswerStream() {
  std::vector<char> bytes;
  unsigned char prefix[4];
  while (std::fread(prefix, 1, sizeof(prefix), stdin) == sizeof(prefix)) {
    uint32_t size = 0;
    std::memcpy(&size, prefix, sizeof(size));
    bytes.resize(size);
    if (std::fread(bytes.data(), 1, size, stdin) != size) return 2;
    const std::string line = Answer([&] { return light::ReadModel(bytes.data(), bytes.size()); });
    std::puts(line.c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string(argv[1]) == "-") return AnswerStream();
  if (argc == 2 && std::string(argv[1]) == "--schemas") {
    for (const light::OperatorSchema* schema : light::OnnxSchemas().All()) std::puts(PrintSchema(*schema).c_str());
    return 0;
  }
  if (argc == 2 && std::string(argv[1]) == "--kernels") {
    for (const light::KernelEntry* kernel : light::NativeKernels().All()) {
      std::puts(PrintKernel(kernel->registration).c_str());
    }
    return 0;
  }
  if (argc != 2) {
    std::fprintf(stderr, "usage: light_dump MODEL | - | --schemas | --kernels\n");
    return 2;
  }
  const std::string line = Answer([&] { return light::ReadModelFile(argv[1]); });
  std::puts(line.c_str());
  return 0;
}
