// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/kinds.h"
#include "light/model_def.h"

namespace ort_host {

/// Behind OrtOpAttr: an attribute of a node. Borrowed ones live as long as their context.
class OpAttrAdapter final : public AdapterBase {
 public:
  explicit OpAttrAdapter(light::Attribute attribute) : AdapterBase(kOpAttrKind), attribute_(std::move(attribute)) {}

  const light::Attribute& attribute() const noexcept { return attribute_; }
  /// ORT's numbering of kinds; UNDEFINED for a kind that it does not have.
  OrtOpAttrType type() const noexcept;

 private:
  light::Attribute attribute_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtOpAttr, OpAttrAdapter, kOpAttrKind, "attribute");
