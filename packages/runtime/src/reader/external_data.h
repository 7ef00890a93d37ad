// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_map>

namespace light {

/// A file mapped read-only and private: pages are read when they are touched, and nothing can be written back.
class MappedFile {
 public:
  /// `path` must be a regular file. Throws Error (kNoSuchFile).
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The files beside a model that hold tensors. Each is mapped once, however many tensors it holds.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// The file at `location`, a path relative to the folder, not empty. Throws Error: kInvalidGraph if the location is
  /// absolute, has a `..` or leads out of the folder through a link, kNoSuchFile if there is no such file or no folder.
  std::shared_ptr<const MappedFile> Open(const std::string& location);

 private:
  std::filesystem::path folder_;
  std::unordered_map<std::string, std::shared_ptr<const MappedFile>> files_;  // by location
};

/// Reads a whole regular file. Throws Error (kNoSuchFile).
std::unique_ptr<char[]> ReadWholeFile(const std::filesystem::path& path, std::size_t* size);

}  // namespace light
