// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/operator_schema.h"

namespace ort_host {

/// While it lives, as while a session is made, a library that asks on this thread for an operator's schema finds those
/// of the session too, custom operators included. Otherwise there are ONNX's alone: the slot that answers gets no
/// session.
class CurrentSchemas {
 public:
  /// The set outlives this.
  explicit CurrentSchemas(const light::SchemaSet& schemas) noexcept : outer_(current_) { current_ = &schemas; }
  ~CurrentSchemas() { current_ = outer_; }
  CurrentSchemas(const CurrentSchemas&) = delete;

  static const light::SchemaSet& Get() { return current_ != nullptr ? *current_ : light::OnnxSchemas(); }

 private:
  static inline constinit thread_local const light::SchemaSet* current_ = nullptr;

  const light::SchemaSet* outer_;
};

}  // namespace ort_host
