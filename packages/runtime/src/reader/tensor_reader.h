// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "light/model_def.h"
#include "light/model_reader.h"
#include "reader/external_data.h"
#include "reader/wire.h"

namespace light {

/// A tensor as it stands in a model.
struct NamedTensor {
  std::string name;
  Tensor tensor;
  std::shared_ptr<const ExternalData> external;  ///< nullptr unless the bytes lie in another file
};

/// Reads a TensorProto. No memory is taken for elements before the message proved to hold them all.
/// Throws Error: kInvalidProtobuf, kNotImplemented (an element type that is not known), and as ExternalFiles::Open.
NamedTensor ReadTensor(WireCursor cursor, const ReaderLimits& limits, ExternalFiles& files);

}  // namespace light
