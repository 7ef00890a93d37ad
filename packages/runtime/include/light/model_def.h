// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "light/tensor.h"
#include "light/value_type.h"

namespace light {

// A model as it is written, before names are resolved: what the wire reader makes from bytes and the plugin from a
// foreign graph, and what GraphBuilder turns into a Graph. Plain data.

struct GraphDef;

/// Attribute kinds, numbered as ONNX's AttributeProto.AttributeType.
enum class AttributeKind : int32_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

const char* ToString(AttributeKind kind) noexcept;

struct Attribute {
  using Data = std::variant<std::monostate, float, int64_t, std::string, Tensor, std::shared_ptr<const GraphDef>,
                            std::vector<float>, std::vector<int64_t>, std::vector<std::string>, std::vector<Tensor>,
                            std::vector<std::shared_ptr<const GraphDef>>, ValueType>;
  std::string name;
  AttributeKind kind = AttributeKind::kUndefined;
  Data data;
  std::string ref_attr_name;  ///< inside a function body: takes the value of this attribute of the calling node
};

struct NodeDef {
  std::string name;
  std::string op_type;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;   ///< "" where an optional input is omitted
  std::vector<std::string> outputs;  ///< "" where an optional output is omitted
  std::vector<Attribute> attributes;
};

struct ValueInfoDef {
  std::string name;
  ValueType type;
};

/// Where an initializer's bytes lie outside the model file. Kept for plugins that ask; the tensor itself is mapped.
struct ExternalData {
  std::string location;
  int64_t offset = 0;
  std::size_t length = 0;
};

struct InitializerDef {
  std::string name;
  Tensor tensor;
  std::shared_ptr<const ExternalData> external;
};

struct GraphDef {
  std::string name;
  std::string doc_string;
  std::vector<NodeDef> nodes;
  std::vector<InitializerDef> initializers;
  std::vector<ValueInfoDef> inputs;
  std::vector<ValueInfoDef> outputs;
  std::vector<ValueInfoDef> value_info;
};

/// Domain to version. The ONNX domain is "".
using OpsetImports = std::map<std::string, int64_t>;

struct FunctionDef {
  std::string name;
  std::string domain;
  std::string overload;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::string> attributes;  ///< names without a default
  std::vector<Attribute> attribute_defaults;
  std::vector<NodeDef> nodes;
  OpsetImports opset_imports;
};

/// What a model says about itself.
struct ModelInfo {
  int64_t ir_version = 0;
  std::string producer_name;
  std::string producer_version;
  std::string domain;
  int64_t model_version = 0;
  std::string doc_string;
  OpsetImports opset_imports;
  std::vector<std::pair<std::string, std::string>> metadata;
};

struct ModelDef : ModelInfo {
  GraphDef graph;
  std::vector<FunctionDef> functions;
};

}  // namespace light
