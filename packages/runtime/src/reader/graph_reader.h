// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <utility>

#include "light/model_def.h"
#include "light/model_reader.h"
#include "reader/external_data.h"
#include "reader/wire.h"

namespace light {

/// "ai.onnx" is another spelling of the ONNX domain.
std::string NormaliseDomain(std::string domain);

/// Reads the messages that make up graphs. One reader serves one model.
class GraphReader {
 public:
  GraphReader(const ReaderLimits& limits, const std::filesystem::path& folder) : limits_(limits), files_(folder) {}

  /// Adds to `graph`, since a message that occurs twice is merged.
  void ReadGraph(WireCursor cursor, GraphDef& graph);
  FunctionDef ReadFunction(WireCursor cursor);

 private:
  NodeDef ReadNode(WireCursor cursor);
  Attribute ReadAttribute(WireCursor cursor);
  ValueInfoDef ReadValueInfo(WireCursor cursor);

  const ReaderLimits& limits_;
  ExternalFiles files_;
};

/// Reads an OperatorSetIdProto into `imports`.
void ReadOpsetImport(WireCursor cursor, OpsetImports& imports);

/// Reads a StringStringEntryProto.
std::pair<std::string, std::string> ReadStringPair(WireCursor cursor);

}  // namespace light
