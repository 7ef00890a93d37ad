// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "adapters/checked.h"
#include "bridge/reference_kernels.h"
#include "engine/engine.h"
#include "engine/session_checks.h"
#include "engine/session_impl.h"
#include "light/model_reader.h"
#include "loader/loaded_library.h"

namespace ort_host {
namespace {

NodeArg Describe(const light::GraphValue& value) {
  NodeArg arg;
  arg.name = value.name;
  arg.type = value.type.ToString();
  arg.is_optional = value.is_overridable;
  if (!value.type.is_tensor()) return arg;
  arg.element_type = conversions::ToOnnx(value.type.element);
  arg.has_shape = value.type.shape.has_rank();
  for (const light::Dim& dim : value.type.shape.dims()) {
    arg.extents.push_back(dim.extent());
    arg.symbols.push_back(dim.symbol());
  }
  return arg;
}

std::vector<NodeArg> DescribeAll(const light::Graph& graph, const std::vector<light::ValueId>& ids) {
  std::vector<NodeArg> args;
  for (const light::ValueId id : ids) args.push_back(Describe(graph.value(id)));
  return args;
}

std::vector<std::string> NamesOf(const light::Graph& graph, const std::vector<light::ValueId>& ids) {
  std::vector<std::string> names;
  for (const light::ValueId id : ids) names.push_back(id == light::kNoValue ? "" : graph.value(id).name);
  return names;
}

std::string DescribeAudit(const LoadedLibrary& library) {
  if (library.audit() == nullptr) return "unaudited library";
  return std::string("audited as ") + library.audit()->name + " " + library.audit()->version;
}

/// The plugin EP of that name, or null.
const EpInstance* InstanceOf(const SessionImpl& session, const std::string& name) {
  for (const auto& provider : session.providers().all()) {
    if (provider->name() == name) return &provider->instance();
  }
  return nullptr;
}

std::string NotesOf(const SessionImpl& session, const light::NodeAssignment& assigned) {
  const EpInstance* instance = InstanceOf(session, assigned.provider);
  return instance != nullptr ? instance->Notes() : "";
}

/// The entries that are options of the provider: not those of another one whose name begins with this one's and a dot.
std::vector<std::pair<std::string, std::string>> OptionsOf(const EpInstance& instance, const SessionImpl& session) {
  std::vector<std::pair<std::string, std::string>> options;
  const std::string prefix = EpOptionPrefix(instance.name());
  for (const auto& [key, value] : instance.scope()->config()) {
    const auto& all = session.providers().all();
    const bool is_anothers = std::any_of(all.begin(), all.end(), [&](const auto& provider) {
      const std::string other = EpOptionPrefix(provider->name());
      return other.size() > prefix.size() && key.starts_with(other);
    });
    if (key.starts_with(prefix) && !is_anothers) options.emplace_back(key.substr(prefix.size()), value);
  }
  return options;
}

/// The library whose code runs the node; null if that is ours.
const LoadedLibrary* LibraryOf(const SessionImpl& session, const light::NodeAssignment& assigned) {
  if (const LoadedLibrary* library = session.custom_ops().LibraryOf(assigned.entry)) return library;
  const EpInstance* instance = InstanceOf(session, assigned.provider);
  return instance != nullptr ? instance->selection().library->library().get() : nullptr;
}

/// The path of a body of a node in the graph at `path`.
std::string PathOfBody(const std::string& path, const light::Node& node, std::size_t body) {
  const std::string step = "#" + std::to_string(node.id) + "." + node.subgraphs[body].attribute;
  return path.empty() ? step : path + "/" + step;
}

void ListPartitions(const light::Program& program, const std::string& path, const SessionImpl& session,
                    std::vector<PartitionRow>& rows) {
  const light::Graph& graph = program.graph();
  for (const light::Node& node : graph.nodes()) {
    const auto bodies = program.bodies(node.id);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      ListPartitions(*bodies[i], PathOfBody(path, node, i), session, rows);
    }
  }
  const auto& partitions = program.assignment().partitions;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const light::PartitionShape& shape = partitions[i].shape;
    PartitionRow& row = rows.emplace_back();
    row.graph = path;
    row.index = static_cast<int>(i);
    row.name = shape.proposal.name;
    row.provider = partitions[i].provider;
    if (const EpInstance* instance = InstanceOf(session, row.provider)) {
      row.library = instance->selection().library->path();
    }
    row.nodes.assign(shape.nodes.begin(), shape.nodes.end());
    row.inputs = NamesOf(graph, shape.inputs);
    row.outputs = NamesOf(graph, shape.outputs);
    row.constants = NamesOf(graph, shape.constants);
  }
}

void ListAssignments(const light::Program& program, const std::string& path, const SessionImpl& session,
                     std::vector<AssignmentRow>& rows) {
  for (const light::NodeAssignment& assigned : program.assignment().nodes) {
    const light::Node& node = program.graph().node(assigned.node);
    AssignmentRow row;
    row.graph = path;
    row.index = static_cast<int>(node.id);
    row.name = node.name;
    row.domain = node.domain;
    row.op_type = node.op_type;
    row.provider = assigned.provider;
    row.kernel = assigned.kernel;
    row.partition = assigned.partition;
    row.reason = assigned.reason;
    row.inputs = NamesOf(program.graph(), node.inputs);
    row.outputs = NamesOf(program.graph(), node.outputs);
    if (const LoadedLibrary* library = LibraryOf(session, assigned)) {
      row.library = library->path();
      row.reason += "; " + DescribeAudit(*library);
    }
    if (const std::string notes = NotesOf(session, assigned); !notes.empty()) row.reason += "; " + notes;
    if (!assigned.declined.empty()) row.reason += "; " + assigned.declined;
    rows.push_back(std::move(row));
    const auto bodies = program.bodies(node.id);
    for (std::size_t i = 0; i < bodies.size(); ++i) {
      ListAssignments(*bodies[i], PathOfBody(path, node, i), session, rows);
    }
  }
}

std::vector<std::string> NamesOf(const std::vector<EpSelection>& selections) {
  std::vector<std::string> names;
  for (const EpSelection& selection : selections) names.push_back(selection.name());
  return names;
}

/// Runs `make` and lets nothing but HostError out.
template <class Make>
auto AsHost(Make&& make) {
  try {
    return make();
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

}  // namespace

SessionImpl::SessionImpl(light::ModelDef model, const std::string& model_path, const SessionOptionsState& options)
    : selections_(options.providers),
      sources_(options.Sources()),
      scope_(std::make_shared<SessionScope>(options.adapter.config(), options.log_severity, options.log_id)),
      leaks_{scope_.get()},
      owner_(std::make_unique<checked::Owner>(scope_.get())),
      custom_ops_(std::make_unique<CustomOps>(sources_, scope_,
                                              CustomOps::Options{options.allow_onnx_override, NamesOf(selections_)})),
      schemas_(std::make_unique<CurrentSchemas>(custom_ops_->schemas())),
      providers_(std::make_unique<SessionProviders>(selections_, options, scope_, model_path)) {
  RequireKnownModes(model, options.adapter);
  if (options.strict_layout) providers_->RequireModelLayout();
  light::SessionConfig config;
  config.intra_op_threads = options.intra_op_threads;
  config.memory_limit_bytes = options.memory_limit_bytes;
  config.fuse = options.graph_optimization_level > 0;
  config.kernels.winograd = options.winograd;
  config.schemas = &custom_ops_->schemas();
  config.sources.providers = providers_->AsSources();
  config.sources.overrides = &custom_ops_->overrides();
  config.sources.custom = &custom_ops_->kernels();
  if (options.reference_fallback) config.sources.fallback = ReferenceKernels;
  config.warn = [scope = scope_](const std::string& line) {
    scope->logger().Log(ORT_LOGGING_LEVEL_WARNING, line.c_str());
  };
  session_ = std::make_unique<light::Session>(std::move(model), config);
  inputs_ = DescribeAll(session_->graph(), session_->graph().inputs());
  outputs_ = DescribeAll(session_->graph(), session_->graph().outputs());
  RequireProvidersAlone(session_->program(), options.adapter);
  providers_->EndInitialization();
  schemas_.reset();
  owner_.reset();
}

SessionImpl::~SessionImpl() {
  scope_->Close();  // what libraries free from here on is charged to nobody: the budget ends with the session
  session_.reset();
  providers_.reset();
  custom_ops_.reset();
}

Session::Session(std::unique_ptr<SessionImpl> impl) : impl_(std::move(impl)) {}
Session::~Session() = default;

std::unique_ptr<Session> Session::FromFile(const std::string& path, const SessionOptions& options) {
  return AsHost([&] {
    return std::unique_ptr<Session>(
        new Session(std::make_unique<SessionImpl>(light::ReadModelFile(path), path, options.impl().Snapshot())));
  });
}

std::unique_ptr<Session> Session::FromBytes(const void* bytes, std::size_t size, const SessionOptions& options) {
  return AsHost([&] {
    return std::unique_ptr<Session>(
        new Session(std::make_unique<SessionImpl>(light::ReadModel(bytes, size), "", options.impl().Snapshot())));
  });
}

const std::vector<NodeArg>& Session::inputs() const noexcept { return impl_->inputs(); }
const std::vector<NodeArg>& Session::outputs() const noexcept { return impl_->outputs(); }
const light::ValueType& Session::input_type(std::size_t i) const noexcept {
  const light::Graph& graph = impl_->session().graph();
  return graph.value(graph.inputs()[i]).type;
}
const light::ModelInfo& Session::model() const noexcept { return impl_->session().graph().model(); }
const std::string& Session::graph_name() const noexcept { return impl_->session().graph().name(); }
const std::string& Session::graph_doc_string() const noexcept { return impl_->session().graph().doc_string(); }

std::vector<AssignmentRow> Session::assignments() const {
  return AsHost([&] {
    std::vector<AssignmentRow> rows;
    ListAssignments(impl_->session().program(), "", *impl_, rows);
    return rows;
  });
}

std::vector<PartitionRow> Session::partitions() const {
  return AsHost([&] {
    std::vector<PartitionRow> rows;
    ListPartitions(impl_->session().program(), "", *impl_, rows);
    return rows;
  });
}

std::vector<ProviderInfo> Session::providers() const {
  return AsHost([&] {
    std::vector<ProviderInfo> providers;
    for (const auto& provider : impl_->providers().all()) {
      const EpInstance& instance = provider->instance();
      ProviderInfo& info = providers.emplace_back();
      info.name = instance.name();
      info.library = instance.selection().library->path();
      info.audit = DescribeAudit(*instance.selection().library->library());
      info.options = OptionsOf(instance, *impl_);
      info.notes = instance.Notes();
    }
    providers.emplace_back().name = light::kCpuProvider;
    return providers;
  });
}

}  // namespace ort_host
