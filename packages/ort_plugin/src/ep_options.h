// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include <ort_abi/ort_c_api.h>

namespace ort_plugin {

/// What a session tells the provider, in config entries `ep.onnxlightexecutionprovider.<name>`.
struct EpOptions {
  int threads = 0;                  ///< most threads of the host that a kernel uses; 0: all of them
  bool compiles = true;             ///< takes groups of nodes and runs each as one program, instead of node by node
  bool winograd = true;             ///< convolutions may use Winograd's transform
  bool float16 = false;             ///< takes nodes with float16 arguments, and rounds after each
  std::set<std::string> operators;  ///< operators that may be taken; empty: every one that there is a kernel for
};

/// Throws ort_abi::StatusError: an option that does not exist, a value that it cannot have.
EpOptions ReadEpOptions(const OrtApi& api, const OrtSessionOptions* session_options);

}  // namespace ort_plugin
