// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>

#include "light/inference.h"

namespace light {

/// The elements of output 0 of the node that was just inferred, if they are known before a run: a Constant, or a small
/// integer computation on shapes. nullptr if they are not. A tensor that is computed is kept in `owned`.
const Tensor* KnownConstant(const InferenceContext& context, std::deque<Tensor>& owned);

}  // namespace light
