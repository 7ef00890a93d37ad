// SPDX-License-Identifier: Apache-2.0
#include "reader/external_data.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "light/error.h"

namespace light {
namespace {

[[noreturn]] void FailFile(const std::filesystem::path& path, const std::string& what) {
  throw Error(ErrorCode::kNoSuchFile, path.string() + ": " + what);
}

std::string SystemMessage(int error) { return std::generic_category().message(error); }

/// An open regular file.
class OpenFile {
 public:
  explicit OpenFile(const std::filesystem::path& path) {
    // Non-blocking, so that a pipe in the file's place cannot hang the process.
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd_ < 0) FailFile(path, "cannot be opened: " + SystemMessage(errno));
    struct stat info;
    const bool regular = ::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode);
    if (!regular) {
      ::close(fd_);
      FailFile(path, "not a regular file");
    }
    size_ = static_cast<std::size_t>(info.st_size);
  }
  ~OpenFile() { ::close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  int fd() const noexcept { return fd_; }
  std::size_t size() const noexcept { return size_; }

 private:
  int fd_ = -1;
  std::size_t size_ = 0;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path) {
  const OpenFile file(path);
  size_ = file.size();
  if (size_ == 0) return;  // an empty mapping does not exist
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd(), 0);
  if (mapped == MAP_FAILED) FailFile(path, "cannot be mapped: " + SystemMessage(errno));
  data_ = static_cast<std::byte*>(mapped);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

std::shared_ptr<const MappedFile> ExternalFiles::Open(const std::string& location) {
  auto& file = files_[location];
  if (file) return file;

  const auto refuse = [&](const std::string& what) {
    throw Error(ErrorCode::kInvalidGraph, what + ", got '" + location + "'");
  };
  if (folder_.empty()) {
    throw Error(ErrorCode::kNoSuchFile,
                "the model was given as bytes, so its external file cannot be found, got '" + location + "'");
  }
  const std::filesystem::path relative(location);
  if (relative.is_absolute()) refuse("the location must be a relative path");
  if (std::find(relative.begin(), relative.end(), "..") != relative.end()) refuse("the location must not contain '..'");

  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(folder_, error);
  if (error) FailFile(folder_, "the folder cannot be opened: " + error.message());
  const std::filesystem::path target = std::filesystem::canonical(folder / relative, error);
  if (error) FailFile(folder / relative, "the file cannot be opened: " + error.message());
  const auto inside = std::mismatch(folder.begin(), folder.end(), target.begin(), target.end());
  if (inside.first != folder.end()) refuse("the location leads out of the model's folder through a link");
  file = std::make_shared<MappedFile>(target);
  return file;
}

std::unique_ptr<char[]> ReadWholeFile(const std::filesystem::path& path, std::size_t* size) {
  const OpenFile file(path);
  auto bytes = std::make_unique_for_overwrite<char[]>(std::max<std::size_t>(file.size(), 1));
  std::size_t done = 0;
  while (done < file.size()) {
    const ssize_t count = ::read(file.fd(), bytes.get() + done, file.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) FailFile(path, "cannot be read: " + SystemMessage(errno));
    if (count == 0) break;  // the file became shorter meanwhile
    done += static_cast<std::size_t>(count);
  }
  *size = done;
  return bytes;
}

}  // namespace light
