// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "light/operator_schema.h"

namespace light {

/// The generated table behind OnnxSchemas(): a row is decoded when it is first asked for. Stateless; safe from any
/// thread.
class SchemaTable {
 public:
  const OperatorSchema* Find(std::string_view domain, std::string_view name, int64_t opset_version) const;
  bool Knows(std::string_view domain, std::string_view name) const;
  int64_t LatestVersion(std::string_view domain) const;
  void AppendAll(std::vector<const OperatorSchema*>& all) const;
};

}  // namespace light
