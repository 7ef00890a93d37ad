// SPDX-License-Identifier: Apache-2.0
#include "bridge/kernel_lookup.h"

#include "adapters/logger.h"

namespace ort_host {
namespace {

using light::FormalParameter;
using light::OperatorSchema;

/// How far a definition came; the farther, the nearer the miss.
enum class Stage : uint8_t { kNone, kProvider, kVersion, kName, kType, kMemory };

/// The nearest miss, the first of those; in words only if somebody asks.
class Miss {
 public:
  explicit Miss(std::string* text) noexcept : text_(text) {}

  template <class MakeText>
  void Note(Stage reached, MakeText&& make_text) {
    if (text_ == nullptr || reached <= stage_) return;
    stage_ = reached;
    *text_ = make_text();
  }

 private:
  std::string* text_;
  Stage stage_ = Stage::kNone;
};

std::string OperatorOf(const light::Node& node) {
  return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

/// The arguments that a constraint speaks of: those of a type parameter, or the one of that name if its type is fixed.
struct Subject {
  int parameter = -1;
  const FormalParameter* formal = nullptr;

  bool is_known() const noexcept { return parameter >= 0 || formal != nullptr; }
  bool Concerns(const FormalParameter& other) const noexcept {
    return formal != nullptr ? &other == formal : other.type_parameter == parameter;
  }
};

/// The table has a parameter for each fixed type as well, by the type's own name; a library cannot name that.
bool IsFixedType(const OperatorSchema& schema, int parameter) noexcept {
  return schema.type_parameters[static_cast<std::size_t>(parameter)].name.find('(') != std::string::npos;
}

Subject Resolve(const OperatorSchema& schema, const std::string& name) {
  Subject subject;
  subject.parameter = schema.FindTypeParameter(name);
  if (subject.parameter >= 0 && !IsFixedType(schema, subject.parameter)) return subject;
  subject.parameter = -1;
  for (const auto* formals : {&schema.inputs, &schema.outputs}) {
    for (const FormalParameter& formal : *formals) {
      if (formal.name != name || formal.type_parameter < 0 || !IsFixedType(schema, formal.type_parameter)) continue;
      subject.formal = &formal;
      return subject;
    }
  }
  return subject;
}

/// The type of the first argument that the constraint does not admit; null if it admits all that the node has.
const light::ValueType* FindUnwanted(const light::Graph& graph, const light::Node& node,
                                     const light::TypeConstraint& constraint, const Subject& subject) {
  const auto find = [&](const std::vector<light::ValueId>& values, auto formal_of) -> const light::ValueType* {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] == light::kNoValue) continue;
      const FormalParameter* formal = (node.schema->*formal_of)(i);
      if (formal == nullptr || !subject.Concerns(*formal)) continue;
      const light::ValueType& type = graph.value(values[i]).type;
      if (!constraint.allowed.Contains(type)) return &type;
    }
    return nullptr;
  };
  const light::ValueType* unwanted = find(node.inputs, &OperatorSchema::InputFormal);
  return unwanted != nullptr ? unwanted : find(node.outputs, &OperatorSchema::OutputFormal);
}

bool IsMemoryType(OrtMemType type) noexcept {
  return type == OrtMemTypeDefault || type == OrtMemTypeCPUInput || type == OrtMemTypeCPUOutput;
}

/// The first memory type that does not exist, in words; "" if all do.
std::string UnknownMemory(const KernelDefinition& definition) {
  const auto find = [](const MemoryTypes& types, const char* side) {
    for (const auto& [index, type] : types) {
      if (IsMemoryType(type)) continue;
      return "memory type " + std::to_string(static_cast<int>(type)) + " of " + side + " " + std::to_string(index) +
             " does not exist";
    }
    return std::string();
  };
  std::string text = find(definition.input_memory, "input");
  return !text.empty() ? text : find(definition.output_memory, "output");
}

std::string VersionMiss(const KernelDefinition& definition, int version) {
  const std::string start = "version " + std::to_string(version) + " is ";
  if (definition.until == INT_MAX) {
    return start + "not " + std::to_string(definition.since) + "; without an end a definition is for its start alone";
  }
  return start + "outside " + std::to_string(definition.since) + " to " + std::to_string(definition.until);
}

/// A definition that no node of the version can match is a mistake of the library's: one line says so.
void TellOnce(const RegisteredKernel& kernel, const std::string& ep_name, const light::Node& node,
              const std::string& what) {
  if (kernel.has_told_of_fault.exchange(true, std::memory_order_relaxed)) return;
  LogLine(ORT_LOGGING_LEVEL_WARNING, "kernel " + kernel.definition.definition().Label() + " of provider '" + ep_name +
                                         "' matches no node of version " + std::to_string(node.since_version) + ": " +
                                         what);
}

bool Matches(const RegisteredKernel& kernel, const std::string& ep_name, const light::Graph& graph,
             const light::Node& node, Miss& miss) {
  const KernelDefinition& definition = kernel.definition.definition();
  if (definition.provider != ep_name) {
    miss.Note(Stage::kProvider, [&] { return "the definition names provider '" + definition.provider + "'"; });
    return false;
  }
  if (!definition.Covers(node.since_version)) {
    miss.Note(Stage::kVersion, [&] { return VersionMiss(definition, node.since_version); });
    return false;
  }
  for (const light::TypeConstraint& constraint : definition.constraints) {
    const Subject subject = Resolve(*node.schema, constraint.parameter);
    if (!subject.is_known()) {
      const std::string text = "'" + constraint.parameter + "' is no type parameter of " + OperatorOf(node);
      TellOnce(kernel, ep_name, node, text);
      miss.Note(Stage::kName, [&] { return text; });
      return false;
    }
    const light::ValueType* unwanted = FindUnwanted(graph, node, constraint, subject);
    if (unwanted == nullptr) continue;
    miss.Note(Stage::kType, [&] {
      return constraint.parameter + " is " + unwanted->ToString() + ", the kernel takes " +
             constraint.allowed.ToString();
    });
    return false;
  }
  const std::string memory = UnknownMemory(definition);
  if (memory.empty()) return true;
  TellOnce(kernel, ep_name, node, memory);
  miss.Note(Stage::kMemory, [&] { return memory; });
  return false;
}

/// In which domains the operator has kernels, if not in the node's.
std::string OperatorMiss(const KernelRegistryAdapter& registry, const light::Node& node) {
  for (const RegisteredKernel& kernel : registry.kernels()) {
    const KernelDefinition& definition = kernel.definition.definition();
    if (definition.op_type != node.op_type) continue;
    return "the kernel for " + node.op_type + " is for domain '" + definition.domain + "'";
  }
  return "no kernel is registered for " + OperatorOf(node);
}

}  // namespace

const RegisteredKernel* FindRegisteredKernel(const KernelRegistryAdapter& registry, const std::string& ep_name,
                                             const light::Graph& graph, const light::Node& node, std::string* why) {
  if (!node.subgraphs.empty()) {
    if (why != nullptr) *why = "a node with subgraphs runs on no kernel of a library";
    return nullptr;
  }
  const auto& candidates = registry.Of(node.domain, node.op_type);
  Miss miss(why);
  for (const RegisteredKernel* kernel : candidates) {
    if (Matches(*kernel, ep_name, graph, node, miss)) return kernel;
  }
  if (why != nullptr && candidates.empty()) *why = OperatorMiss(registry, node);
  return nullptr;
}

}  // namespace ort_host
