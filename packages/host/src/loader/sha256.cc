// SPDX-License-Identifier: Apache-2.0
#include "loader/sha256.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "engine/host_error.h"

namespace ort_host {
namespace {

constexpr std::size_t kBlockBytes = 64;

/// FIPS 180-4: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

class Sha256 {
 public:
  void Block(const unsigned char* bytes) noexcept {
    uint32_t schedule[64];
    for (int i = 0; i < 16; ++i) {
      uint32_t word;
      std::memcpy(&word, bytes + 4 * i, sizeof(word));
      schedule[i] = __builtin_bswap32(word);
    }
    for (int i = 16; i < 64; ++i) {
      const uint32_t a = schedule[i - 15];
      const uint32_t b = schedule[i - 2];
      schedule[i] = schedule[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + schedule[i - 7] +
                    (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    std::array<uint32_t, 8> s = state_;
    for (std::size_t i = 0; i < 64; ++i) {
      const uint32_t sum1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
      const uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
      const uint32_t t1 = s[7] + sum1 + choice + kRoundConstants[i] + schedule[i];
      const uint32_t sum0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
      const uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
      s = {t1 + sum0 + majority, s[0], s[1], s[2], s[3] + t1, s[4], s[5], s[6]};
    }
    for (std::size_t i = 0; i < state_.size(); ++i) state_[i] += s[i];
  }

  /// Takes the bytes behind the last whole block and ends.
  std::string Finish(const unsigned char* rest, std::size_t count, uint64_t total_bytes) noexcept {
    unsigned char tail[2 * kBlockBytes] = {};
    if (count > 0) std::memcpy(tail, rest, count);
    tail[count] = 0x80;
    const std::size_t blocks = count + 9 > kBlockBytes ? 2 : 1;
    const uint64_t bits = __builtin_bswap64(total_bytes * 8);
    std::memcpy(tail + blocks * kBlockBytes - sizeof(bits), &bits, sizeof(bits));
    for (std::size_t i = 0; i < blocks; ++i) Block(tail + i * kBlockBytes);
    std::string text;
    for (const uint32_t word : state_) {
      for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(word >> shift) & 15];
    }
    return text;
  }

 private:
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

}  // namespace

std::string Sha256OfFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<unsigned char> buffer(std::size_t{1} << 16);  // a multiple of the block
  Sha256 sum;
  uint64_t total = 0;
  while (file) {
    file.read(reinterpret_cast<char*>(buffer.data()), static_cast<std::streamsize>(buffer.size()));
    const auto got = static_cast<std::size_t>(file.gcount());
    total += got;
    std::size_t at = 0;
    for (; at + kBlockBytes <= got; at += kBlockBytes) sum.Block(buffer.data() + at);
    if (file.eof()) return sum.Finish(buffer.data() + at, got - at, total);
  }
  throw HostError(ORT_NO_SUCHFILE, path + ": cannot be read");
}

}  // namespace ort_host
