// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <ort_abi/ort_c_api.h>

#include "light/operator_schema.h"

namespace ort_plugin {

/// The attribute of the node that a kernel is made for, or nothing if the node has none of that name and kind.
/// Throws light::Error (kNotImplemented) for a kind that no kernel here has.
std::optional<light::Attribute> ReadAttribute(const OrtApi& api, const OrtKernelInfo* info, const std::string& name,
                                              light::AttributeKind kind);

/// The kind of the attribute if the node has it with another kind than `expected`, else kUndefined. An empty list looks
/// the same whatever its elements would be.
light::AttributeKind FindOtherKind(const OrtApi& api, const OrtKernelInfo* info, const std::string& name,
                                   light::AttributeKind expected);

}  // namespace ort_plugin
