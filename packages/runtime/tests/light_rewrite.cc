// SPDX-License-Identifier: Apache-2.0
// Reads models from standard input, each with a length in front (4 bytes, little-endian), and writes each back as the
// runtime's writer writes it, likewise. Ends with 1 at a model that cannot be read.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "light/error.h"
#include "light/model_reader.h"
#include "light/model_writer.h"

int main() {
  std::vector<char> bytes;
  uint32_t size = 0;
  while (std::fread(&size, sizeof(size), 1, stdin) == 1) {
    bytes.resize(size);
    if (std::fread(bytes.data(), 1, size, stdin) != size) return 2;
    try {
      const std::string written = light::WriteModel(light::ReadModel(bytes.data(), bytes.size()));
      size = static_cast<uint32_t>(written.size());
      std::fwrite(&size, sizeof(size), 1, stdout);
      std::fwrite(written.data(), 1, written.size(), stdout);
    } catch (const light::Error& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }
  return 0;
}
