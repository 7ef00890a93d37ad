// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "adapters/session_scope.h"
#include "adapters/value.h"
#include "light/kernel_info.h"
#include "light/partition.h"

namespace ort_host {

/// What a library may know of the node that it makes a kernel for. A copy of its own, so that a kernel info which a
/// library keeps is good for as long as it is kept. Immutable.
struct KernelContent {
  struct Argument {
    std::string name;  ///< "" if omitted
    light::ValueType type;
    std::unique_ptr<ValueAdapter> constant;  ///< of a constant input
  };

  KernelContent(const light::KernelInfo& info, std::shared_ptr<SessionScope> session, std::string library_path);
  /// Of a group of nodes that `provider` runs, which has no attributes and no constants.
  KernelContent(const light::Graph& graph, const light::PartitionShape& shape, const std::string& provider,
                std::shared_ptr<SessionScope> session, std::string library_path);

  std::shared_ptr<SessionScope> scope;
  const OrtEp* ep = nullptr;  ///< of a kernel of a plugin EP
  std::string library;        ///< path of the library whose code the kernel runs
  std::string label;          ///< for messages: `node 'n' (domain.Op) of /path/lib.so`
  std::string node_name;
  std::string op_type;
  std::string domain;
  int since_version = 0;
  std::vector<light::Attribute> attributes;
  std::vector<Argument> inputs;
  std::vector<Argument> outputs;
  std::vector<std::pair<std::size_t, std::size_t>> aliases;  ///< (input, output) that must share memory

  /// The attribute as written on the node, or null.
  const light::Attribute* FindAttribute(const char* name) const noexcept;
};

/// Behind OrtKernelInfo: a reference to the content. The wrapper of a kernel keeps the one it passed to CreateKernel;
/// copies live until ReleaseKernelInfo.
class KernelInfoAdapter final : public AdapterBase {
 public:
  explicit KernelInfoAdapter(std::shared_ptr<const KernelContent> content) noexcept
      : AdapterBase(kKernelInfoKind), content_(std::move(content)) {}

  /// A copy that a library releases.
  static std::unique_ptr<KernelInfoAdapter> MakeOwned(std::shared_ptr<const KernelContent> content) {
    auto info = std::make_unique<KernelInfoAdapter>(std::move(content));
    info->is_owned_ = true;
    return info;
  }

  /// False for the one that a kernel is made with.
  bool is_owned() const noexcept { return is_owned_; }
  const KernelContent& content() const noexcept { return *content_; }
  const std::shared_ptr<const KernelContent>& content_ptr() const noexcept { return content_; }

 private:
  std::shared_ptr<const KernelContent> content_;
  bool is_owned_ = false;
};

}  // namespace ort_host

ORT_HOST_HANDLE(OrtKernelInfo, KernelInfoAdapter, kKernelInfoKind, "kernel info");
