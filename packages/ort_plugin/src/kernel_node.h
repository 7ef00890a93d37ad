// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <ort_abi/ort_c_api.h>

#include "node_description.h"

namespace ort_plugin {

/// Where a kernel is made: what it may rely on.
enum class Origin : uint8_t {
  kOnnxNode,      ///< a standard node: the host has checked it against ONNX's schema
  kCustomOpNode,  ///< a node of a custom operator: nobody has checked its attributes
};

/// Describes the node that a kernel is made for as ONNX's operator `op_type` of `domain` at `since_version`. Its
/// constants are views of the host's, which live as long as the session.
/// Throws light::Error, ort_abi::StatusError.
NodeDescription DescribeKernelNode(const OrtApi& api, const OrtKernelInfo* info, const light::OperatorSchema& schema,
                                   Origin origin);

std::string OperatorTypeOf(const OrtApi& api, const OrtKernelInfo* info);
std::string OperatorDomainOf(const OrtApi& api, const OrtKernelInfo* info);
std::string NodeNameOf(const OrtApi& api, const OrtKernelInfo* info);

}  // namespace ort_plugin
