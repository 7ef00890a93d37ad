// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "light/model_def.h"

namespace light {

/// Bounds that hold for every model, before any memory is taken for what it asks for.
struct ReaderLimits {
  int max_depth = 64;                                   ///< nested messages: subgraphs in subgraphs, types in types
  std::size_t max_tensor_bytes = std::size_t{1} << 40;  ///< of one tensor, external data included
  int max_rank = 256;
};

/// Reads a model from the bytes of its file. `folder` is where external data files may lie; empty: none allowed.
/// Inline tensors are copied to aligned storage, external ones are mapped. Nothing in `bytes` is kept.
/// Throws Error: kInvalidProtobuf (not a model; says the field path and the byte offset), kNotImplemented (a feature
/// that is valid and not supported), kInvalidGraph, kNoSuchFile (external data).
ModelDef ReadModel(const void* bytes, std::size_t size, const std::filesystem::path& folder = {},
                   const ReaderLimits& limits = {});

/// Reads a model file. Throws as ReadModel, and Error (kNoSuchFile) if the file cannot be read.
ModelDef ReadModelFile(const std::filesystem::path& path, const ReaderLimits& limits = {});

}  // namespace light
