// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/custom_op_domain.h"
#include "adapters/key_value_pairs.h"

namespace ort_host {

/// A domain that a library added to session options.
struct StagedDomain {
  std::shared_ptr<CustomOpDomain> domain;
  std::string library;   ///< path of the library that added it
  std::string provider;  ///< execution provider that it came with; "" for a domain of RegisterCustomOps
};

/// Behind OrtSessionOptions: what a library sees and changes while it registers. A registration gets a copy, which is
/// taken over when it succeeds: copies are independent, except that domains are shared. What a library was lent once is
/// no longer open when its call has returned. Not thread-safe.
class SessionOptionsAdapter final : public AdapterBase {
 public:
  SessionOptionsAdapter() noexcept : AdapterBase(kSessionOptionsKind) {}

  /// Limits are those of ORT: a key of 1 to 1024 bytes, a value up to 8192.
  /// Returns "" or what is wrong.
  std::string SetConfig(std::string_view key, std::string_view value);
  /// Null if there is no such entry; valid until the next change.
  const std::string* FindConfig(std::string_view key) const noexcept;
  const ConfigEntries& config() const noexcept { return config_; }

  /// Never fails; a domain that is there twice is an error when the session is made.
  void AddDomain(std::shared_ptr<CustomOpDomain> domain, std::string provider = "") {
    domains_.push_back({std::move(domain), library_, std::move(provider)});
  }
  const std::vector<StagedDomain>& domains() const noexcept { return domains_; }

  /// Adds what a registration did to `after`, a copy of `before`: others may have changed these options meanwhile.
  void Merge(const SessionOptionsAdapter& before, const SessionOptionsAdapter& after);

  /// The library that is registering right now, for messages; "" between registrations.
  const std::string& library() const noexcept { return library_; }
  void set_library(std::string path) { library_ = std::move(path); }

  bool is_open() const noexcept { return is_open_; }
  void set_open(bool is_open) noexcept { is_open_ = is_open; }

 private:
  ConfigEntries config_;
  std::vector<StagedDomain> domains_;
  std::string library_;
  bool is_open_ = true;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtSessionOptions, SessionOptionsAdapter, kSessionOptionsKind, "session options");

namespace ort_host {

/// The options behind a handle. Throws StatusError (INVALID_ARGUMENT), also when the call is over that they were lent
/// for.
template <class Options>
auto& BorrowOptions(Options* options) {
  auto& adapter = ort_abi::Borrow(options);
  if (!adapter.is_open()) [[unlikely]] {
    throw ort_abi::StatusError(ORT_INVALID_ARGUMENT,
                               "session options: the registration that they were lent for is over");
  }
  return adapter;
}

}  // namespace ort_host
