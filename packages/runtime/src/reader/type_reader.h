// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "light/model_reader.h"
#include "light/value_type.h"
#include "reader/wire.h"

namespace light {

/// Reads a TypeProto. Throws Error: kInvalidProtobuf, kNotImplemented (an element type that is not known).
ValueType ReadType(WireCursor cursor, const ReaderLimits& limits);

}  // namespace light
