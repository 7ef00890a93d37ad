// SPDX-License-Identifier: Apache-2.0
#include "abi/sections.h"

namespace ort_host::abi {

void FillGraphs(OrtApi&) noexcept {}

}  // namespace ort_host::abi
