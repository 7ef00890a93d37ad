// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "light/model_def.h"

namespace light {

/// Returns the model as the bytes of a file, which ReadModel and every other reader of ONNX reads back. All tensors are
/// written inline, external ones too.
std::string WriteModel(const ModelDef& model);

}  // namespace light
