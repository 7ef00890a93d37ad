// SPDX-License-Identifier: Apache-2.0
// Precompiled, for shorter builds: the standard headers that many files here include. Each file still includes what it
// uses; a build with -Db_pch=false shows it.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ort_abi/ort_c_api.h>
