// SPDX-License-Identifier: Apache-2.0
#include "kernels/weight_memory.h"

#include <memory>
#include <mutex>

namespace light {
namespace {

constexpr std::size_t kBlock = std::size_t{8} << 20;
constexpr std::size_t kSmallest = std::size_t{32} << 10;  // below, translation of addresses costs nothing
constexpr std::size_t kLargest = kBlock / 2;              // above, a block of its own is large enough

/// The block that pieces are taken from. It holds no reference: the last piece frees it.
struct OpenBlock {
  std::mutex mutex;
  std::weak_ptr<void> owner;
  char* data = nullptr;
  std::size_t used = 0;
};

/// Never destroyed: sessions may end with the process.
OpenBlock& Open() {
  static auto* open = new OpenBlock;
  return *open;
}

}  // namespace

conversions::OwnedBuffer AllocateWeights(std::size_t bytes) {
  if (bytes < kSmallest || bytes > kLargest) return conversions::AllocateBuffer(bytes);
  const std::size_t room =
      (bytes + conversions::kBufferAlignment - 1) / conversions::kBufferAlignment * conversions::kBufferAlignment;
  OpenBlock& open = Open();
  const std::lock_guard lock(open.mutex);
  std::shared_ptr<void> owner = open.owner.lock();
  if (owner == nullptr || kBlock - open.used < room) {
    conversions::OwnedBuffer block = conversions::AllocateBuffer(kBlock);
    owner = std::move(block.owner);
    open.owner = owner;
    open.data = static_cast<char*>(block.data);
    open.used = 0;
  }
  void* const piece = open.data + open.used;
  open.used += room;
  return {piece, bytes, std::shared_ptr<void>(std::move(owner), piece)};
}

}  // namespace light
