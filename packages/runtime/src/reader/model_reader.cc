// SPDX-License-Identifier: Apache-2.0
#include "light/model_reader.h"

#include "light/error.h"
#include "reader/external_data.h"
#include "reader/graph_reader.h"
#include "reader/wire.h"

namespace light {
namespace {

ModelDef ReadModelMessage(WireCursor cursor, GraphReader& reader) {
  ModelDef model;
  bool has_graph = false;
  while (cursor.Next()) {
    switch (cursor.field()) {
      case 1:
        model.ir_version = cursor.Int64("ir_version");
        break;
      case 2:
        model.producer_name = cursor.Bytes("producer_name");
        break;
      case 3:
        model.producer_version = cursor.Bytes("producer_version");
        break;
      case 4:
        model.domain = cursor.Bytes("domain");
        break;
      case 5:
        model.model_version = cursor.Int64("model_version");
        break;
      case 6:
        model.doc_string = cursor.Bytes("doc_string");
        break;
      case 7:
        reader.ReadGraph(cursor.Message("graph"), model.graph);
        has_graph = true;
        break;
      case 8:
        ReadOpsetImport(cursor.Message("opset_import"), model.opset_imports);
        break;
      case 14:
        model.metadata.push_back(ReadStringPair(cursor.Message("metadata_props")));
        break;
      case 25:
        model.functions.push_back(
            reader.ReadFunction(cursor.Message("functions", static_cast<int64_t>(model.functions.size()))));
        break;
      default:
        break;
    }
  }
  if (!has_graph) throw Error(ErrorCode::kInvalidProtobuf, "there is no graph in it");
  return model;
}

}  // namespace

ModelDef ReadModel(const void* bytes, std::size_t size, const std::filesystem::path& folder,
                   const ReaderLimits& limits) {
  try {
    if (size == 0) throw Error(ErrorCode::kInvalidProtobuf, "there are no bytes in it");
    GraphReader reader(limits, folder);
    return ReadModelMessage(WireCursor(bytes, size, limits.max_depth), reader);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidProtobuf) throw;
    throw Error(error.code(), std::string("not an ONNX model: ") + error.what());
  }
}

ModelDef ReadModelFile(const std::filesystem::path& path, const ReaderLimits& limits) {
  std::size_t size = 0;
  const std::unique_ptr<char[]> bytes = ReadWholeFile(path, &size);
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  try {
    return ReadModel(bytes.get(), size, folder, limits);
  } catch (const Error& error) {
    throw Error(error.code(), path.string() + ": " + error.what());
  }
}

}  // namespace light
