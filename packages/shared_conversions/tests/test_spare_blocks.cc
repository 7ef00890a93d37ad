// SPDX-License-Identifier: Apache-2.0
#include "spare_blocks.h"

#include <cstring>
#include <thread>
#include <vector>

#include "check.h"
#include "conversions/buffer.h"

using namespace conversions;

constexpr std::size_t kMiB = std::size_t{1} << 20;

static SpareBlocks::Block Make(std::size_t bytes) { return {AllocateBytes(bytes), bytes}; }

static void BlocksComeBackIfTheyFit() {
  SpareBlocks spare;
  CHECK(spare.Take(kMiB).data == nullptr);
  const SpareBlocks::Block small = Make(kMiB), large = Make(4 * kMiB);
  spare.Keep(small);
  spare.Keep(large);
  CHECK(spare.Take(2 * kMiB).data == nullptr);  // the large one is far too large, and a small one too small
  CHECK(spare.Take(kMiB + 1).data == nullptr);
  const SpareBlocks::Block found = spare.Take(4 * kMiB - 100);
  CHECK(found.data == large.data && found.bytes == large.bytes);
  CHECK(spare.Take(4 * kMiB).data == nullptr);  // nobody gets it twice
  CHECK(spare.Take(kMiB).data == small.data);
  spare.Keep(found);
  spare.Keep(small);
}

static void TheClosestAndThenTheLatestIsTaken() {
  SpareBlocks spare;
  const SpareBlocks::Block wide = Make(10 * kMiB), first = Make(9 * kMiB), second = Make(9 * kMiB);
  for (const SpareBlocks::Block& block : {first, second, wide}) spare.Keep(block);
  CHECK(spare.Take(9 * kMiB).data == second.data);
  CHECK(spare.Take(9 * kMiB).data == first.data);
  CHECK(spare.Take(9 * kMiB).data == wide.data);
  for (const SpareBlocks::Block& block : {first, second, wide}) spare.Keep(block);
}

static void TheOldestAreFreed() {
  SpareBlocks spare;
  std::vector<SpareBlocks::Block> blocks;
  for (int i = 0; i < 20; ++i) {
    blocks.push_back(Make(kMiB));
    spare.Keep(blocks.back());
  }
  int kept = 0;
  while (spare.Take(kMiB).data != nullptr) ++kept;
  CHECK(kept == 16);
  for (int i = 4; i < 20; ++i) spare.Keep(blocks[static_cast<std::size_t>(i)]);
  spare.Keep(Make(SpareBlocks::kMostBytes - 2 * kMiB));  // there is room for two beside it
  kept = 0;
  for (; spare.Take(kMiB).data != nullptr; ++kept) std::free(blocks[static_cast<std::size_t>(19 - kept)].data);
  CHECK(kept == 2);
  spare.Keep(Make(SpareBlocks::kMostBytes + 1));
  CHECK(spare.Take(SpareBlocks::kMostBytes + 1).data == nullptr);
}

static void BuffersReuseThem() {
#if !defined(__SANITIZE_ADDRESS__)
  void* first = nullptr;
  {
    const OwnedBuffer buffer = AllocateBuffer(3 * kMiB);
    first = buffer.data;
    std::memset(first, 1, buffer.bytes);
  }
  const OwnedBuffer again = AllocateBuffer(3 * kMiB), another = AllocateBuffer(3 * kMiB);
  CHECK(again.data == first && another.data != first && again.bytes == 3 * kMiB);
#endif
}

static void ThreadsDoNotShareABlock() {
  std::vector<std::thread> threads;
  for (unsigned char id = 1; id <= 4; ++id) {
    threads.emplace_back([id] {
      for (int i = 0; i < 200; ++i) {
        const OwnedBuffer buffer = AllocateBuffer(kMiB + static_cast<std::size_t>(i % 7) * 4096);
        auto* bytes = static_cast<unsigned char*>(buffer.data);
        for (std::size_t at = 0; at < buffer.bytes; at += 4096) bytes[at] = id;
        for (std::size_t at = 0; at < buffer.bytes; at += 4096) CHECK(bytes[at] == id);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

int main() {
  BlocksComeBackIfTheyFit();
  TheClosestAndThenTheLatestIsTaken();
  TheOldestAreFreed();
  BuffersReuseThem();
  ThreadsDoNotShareABlock();
}
