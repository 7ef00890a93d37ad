// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/kinds.h"
#include "light/model_def.h"

namespace ort_host {

/// Behind OrtOpAttr: an attribute of a node, which a context lends as long as it lives, or one that a library made and
/// releases.
class OpAttrAdapter final : public AdapterBase {
 public:
  enum class Owner : uint8_t { kContext, kLibrary };
  OpAttrAdapter(light::Attribute attribute, Owner owner)
      : AdapterBase(kOpAttrKind), attribute_(std::move(attribute)), owner_(owner) {}

  const light::Attribute& attribute() const noexcept { return attribute_; }
  /// ORT's numbering of kinds; UNDEFINED for a kind that it does not have.
  OrtOpAttrType type() const noexcept;
  /// True for what a library must release.
  bool is_owned() const noexcept { return owner_ == Owner::kLibrary; }

 private:
  light::Attribute attribute_;
  Owner owner_;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtOpAttr, OpAttrAdapter, kOpAttrKind, "attribute");
