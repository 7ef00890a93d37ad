// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "conversions/buffer.h"

namespace light {

/// Memory for what kernels make of constants and keep: not initialised, aligned as AllocateBuffer's. Pieces that are
/// neither small nor large share blocks of several megabytes, which the system maps with huge pages: a product of few
/// rows reads its weights once and is bound by that. A block lives as long as one of its pieces. Safe from any thread.
/// Throws conversions::OutOfMemory.
conversions::OwnedBuffer AllocateWeights(std::size_t bytes);

}  // namespace light
