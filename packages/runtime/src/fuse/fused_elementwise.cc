// SPDX-License-Identifier: Apache-2.0
#include "fuse/fused_elementwise.h"

#include <algorithm>
#include <unordered_map>

#include "conversions/checked_size.h"
#include "exec/step_error.h"
#include "kernels/broadcast.h"

namespace light {
namespace {

constexpr int64_t kTileFloats = 6144;  // of all buffers together: most of a first-level cache
constexpr int64_t kLongestTile = 1024;
constexpr int64_t kTileUnit = 64;
constexpr double kPollNanoseconds = 4e6;  // of one thread

}  // namespace

/// How one run meets its inputs and outputs.
struct FusedElementwise::Walk {
  /// Element i is data[i / inner % count].
  struct Input {
    const float* data;
    int64_t inner;
    int64_t count;
    bool is_full;  ///< has the extents of the result: element i is data[i]
    bool IsPeriodic() const { return !is_full && count > 1; }
  };
  std::array<const Tensor*, kMostReads> tensors;
  std::array<Input, kMostReads> inputs;
  std::array<float*, kMostOutputs> outputs;
  Dims extents;
  int64_t total = 0;
  int64_t tile = 0;

  bool Classify(std::size_t i);
  TileOperand Read(std::size_t i, int64_t at, int64_t n, float*& buffer) const;
};

/// Sets inputs[i]. False if it broadcasts in a way that is not walked.
bool FusedElementwise::Walk::Classify(std::size_t i) {
  const Tensor& tensor = *tensors[i];
  Input& input = inputs[i] = {tensor.Data<float>(), 1, 1, tensor.dims().Equals(extents)};
  if (input.is_full || tensor.element_count() == 1) return true;
  const std::size_t missing = extents.rank() - tensor.rank();
  std::size_t d = extents.rank();
  const auto extent = [&](std::size_t axis) { return axis < missing ? 1 : tensor.dim(axis - missing); };
  for (; d > 0 && extent(d - 1) == 1; --d) input.inner *= extents[d - 1];
  for (; d > 0 && extent(d - 1) == extents[d - 1]; --d) input.count *= extents[d - 1];
  for (; d > 0; --d)
    if (extent(d - 1) != 1) return false;
  return true;
}

/// Elements [at, at + n) of input `i`, in a tile of `buffer` if they do not lie somewhere as they are.
TileOperand FusedElementwise::Walk::Read(std::size_t i, int64_t at, int64_t n, float*& buffer) const {
  const Input& input = inputs[i];
  if (input.is_full) return {input.data + at, true};
  if (input.count == 1) return {input.data, false};
  float* const own = buffer;
  buffer += tile;
  const int64_t inner = input.inner;
  const int64_t first = at / inner % input.count;
  if (inner > 1 && at % inner + n <= inner) return {input.data + first, false};
  if (inner == 1 && first + n <= input.count) return {input.data + first, true};
  if (inner == 1) {
    // One period, and then what is there already once more, twice as much each time.
    const int64_t period = std::min(input.count, n);
    const int64_t head = std::min(input.count - first, n);
    std::copy_n(input.data + first, head, own);
    if (period > head) std::copy_n(input.data, period - head, own + head);
    for (int64_t filled = period; filled < n;) {
      const int64_t more = std::min(filled, n - filled);
      std::copy_n(own, more, own + filled);
      filled += more;
    }
    return {own, true};
  }
  for (int64_t to = 0, element = first; to < n; element = element + 1 == input.count ? 0 : element + 1) {
    const int64_t length = std::min(n - to, inner - (at + to) % inner);
    std::fill_n(own + to, length, input.data[element]);
    to += length;
  }
  return {own, true};
}

bool FusedElementwise::CanRun(const Graph& graph, const Fusion& fusion) {
  if (fusion.inputs.empty() || fusion.inputs.size() > kMostReads || fusion.outputs.size() > kMostOutputs) return false;
  // Values that are alive at once, if a result never takes the place of an operand.
  std::unordered_map<ValueId, std::size_t> uses;
  std::size_t alive = 0;
  for (const NodeId id : fusion.nodes) {
    const Node& node = graph.node(id);
    if (++alive > kMostBuffers) return false;
    for (const ValueId value : node.inputs) {
      const auto used = uses.find(value);
      if (used == uses.end() || --used->second > 0) continue;
      --alive;
      uses.erase(used);
    }
    const ValueId result = node.outputs[0];
    const bool leaves = std::find(fusion.outputs.begin(), fusion.outputs.end(), result) != fusion.outputs.end();
    const std::size_t count = graph.value(result).uses.size();
    if (leaves || count == 0) {
      --alive;
    } else {
      uses.emplace(result, count);
    }
  }
  return true;
}

FusedElementwise::FusedElementwise(const Graph& graph, const Fusion& fusion,
                                   std::vector<std::unique_ptr<KernelBase>> kernels)
    : members_(graph, fusion, std::move(kernels)), output_count_(fusion.outputs.size()), makers_(output_count_) {
  PlaceValues();
  FindInplace();
}

void FusedElementwise::PlaceValues() {
  const std::size_t input_count = members_.input_count(), first_buffer = input_count + output_count_;
  constexpr uint16_t kNothing = 0xffff;
  std::vector<uint16_t> entry_of(input_count + members_.size());
  for (uint16_t i = 0; i < input_count; ++i) entry_of[i] = i;
  std::vector<uint16_t> free;
  for (uint32_t m = 0; m < members_.size(); ++m) {
    const Members::Member& member = members_[m];
    const auto& kernel = dynamic_cast<const ElementwiseKernel&>(*member.kernel);
    cost_ += kernel.tile_cost();
    const std::size_t walked = std::min(kernel.tile_inputs(), member.inputs.size());
    Call call{&kernel, static_cast<uint16_t>(operands_.size()), static_cast<uint16_t>(member.inputs.size()), 0};
    std::vector<uint16_t> freed_later;
    bool reads_inputs_alone = true;
    for (std::size_t i = 0; i < member.inputs.size(); ++i) {
      const uint32_t value = member.inputs[i];
      operands_.push_back(value == Members::kAbsent ? kNothing : entry_of[value]);
      if (value == Members::kAbsent) continue;
      if (i >= walked) {
        scalars_.push_back(static_cast<uint16_t>(value));
      } else if (value >= input_count) {
        reads_inputs_alone = false;
      }
      const bool is_first_time =
          std::find(member.inputs.begin(), member.inputs.begin() + static_cast<std::ptrdiff_t>(i), value) ==
          member.inputs.begin() + static_cast<std::ptrdiff_t>(i);
      if (entry_of[value] < first_buffer || members_.LastUse(value) != m || !is_first_time) continue;
      // The result may take the place of one of the first two operands.
      const bool is_later_too = member.inputs.size() > 2 &&
                                std::find(member.inputs.begin() + 2, member.inputs.end(), value) != member.inputs.end();
      (is_later_too ? freed_later : free).push_back(entry_of[value]);
    }
    if (reads_inputs_alone) unfounded_.push_back(m);
    uint16_t& result = entry_of[members_.ResultOf(m)];
    if (member.output >= 0) {
      makers_[static_cast<std::size_t>(member.output)] = m;
      result = static_cast<uint16_t>(input_count + static_cast<std::size_t>(member.output));
    } else if (!free.empty()) {
      result = free.back();
      free.pop_back();
    } else {
      result = static_cast<uint16_t>(first_buffer + buffer_count_++);
    }
    free.insert(free.end(), freed_later.begin(), freed_later.end());
    if (member.output < 0 && members_.LastUse(members_.ResultOf(m)) == m) free.push_back(result);  // nobody reads it
    call.result = result;
    calls_.push_back(call);
  }
  for (uint16_t& operand : operands_)
    if (operand == kNothing) operand = static_cast<uint16_t>(first_buffer + buffer_count_);
}

void FusedElementwise::FindInplace() {
  for (std::size_t output = 0; output < output_count_; ++output) {
    const std::size_t maker = makers_[output];
    const auto& operands = members_[maker].inputs;
    for (uint32_t input = 0; input < members_.input_count(); ++input) {
      if (members_.LastUse(input) > maker || std::count(scalars_.begin(), scalars_.end(), input) > 0) continue;
      if (operands.size() > 2 && std::find(operands.begin() + 2, operands.end(), input) != operands.end()) continue;
      may_inplace_.emplace_back(static_cast<int>(input), static_cast<int>(output));
    }
  }
}

bool FusedElementwise::Fits(RuntimeContext& context, Walk& walk) const {
  const std::size_t count = members_.input_count();
  bool is_same = true;
  for (std::size_t i = 0; i < count; ++i) {
    walk.tensors[i] = context.Input(i);
    is_same = is_same && walk.tensors[i]->dims().Equals(walk.tensors[0]->dims());
  }
  walk.extents = walk.tensors[0]->dims();
  if (is_same) [[likely]] {
    for (std::size_t i = 0; i < count; ++i) walk.inputs[i] = {walk.tensors[i]->Data<float>(), 1, 1, true};
  } else {
    try {
      for (std::size_t i = 1; i < count; ++i) WidenExtents(walk.extents, walk.tensors[i]->dims(), i);
    } catch (const Error&) {
      return false;  // one of the nodes says it in its own words
    }
    for (std::size_t i = 0; i < count; ++i)
      if (!walk.Classify(i)) return false;
    for (const uint32_t m : unfounded_) {
      const auto& inputs = members_[m].inputs;
      const auto& kernel = *calls_[m].kernel;
      const std::size_t walked = std::min(kernel.tile_inputs(), inputs.size());
      Dims result = walk.tensors[inputs[0]]->dims();
      for (std::size_t i = 1; i < walked; ++i) WidenExtents(result, walk.tensors[inputs[i]]->dims(), i);
      if (!result.Equals(walk.extents)) return false;
    }
  }
  for (const uint16_t i : scalars_)
    if (walk.tensors[i]->rank() != 0) return false;
  const auto total = conversions::CheckedElementCount(walk.extents);
  walk.total = total.value_or(0);
  return total.has_value();
}

void FusedElementwise::MapTiles(const Walk& walk, int64_t begin, int64_t end) const {
  alignas(64) float buffers[kTileFloats];
  TileOperand table[kMostReads + kMostOutputs + kMostBuffers + 1];
  TileOperand operands[kMostReads];
  const std::size_t inputs = members_.input_count();
  for (std::size_t b = 0; b < buffer_count_; ++b)
    table[inputs + output_count_ + b] = {buffers + static_cast<int64_t>(b) * walk.tile, true};
  for (int64_t at = begin; at < end; at += walk.tile) {
    const int64_t n = std::min(walk.tile, end - at);
    float* own = buffers + static_cast<int64_t>(buffer_count_) * walk.tile;
    for (std::size_t i = 0; i < inputs; ++i) table[i] = walk.Read(i, at, n, own);
    for (std::size_t i = 0; i < output_count_; ++i) table[inputs + i] = {walk.outputs[i] + at, true};
    for (const Call& call : calls_) {
      const uint16_t* entries = operands_.data() + call.first;
      for (uint16_t i = 0; i < call.count; ++i) operands[i] = table[entries[i]];
      call.kernel->MapTile(operands, const_cast<float*>(table[call.result].data), n);
    }
  }
}

void FusedElementwise::Run(RuntimeContext& context) {
  Walk walk;
  if (!Fits(context, walk)) return members_.RunApart(context);
  for (std::size_t i = 0; i < output_count_; ++i) {
    try {
      walk.outputs[i] = context.Output(i, walk.extents).Data<float>();
    } catch (const std::exception&) {
      RethrowLocated(members_.Label(makers_[i]));
    }
  }
  if (walk.total == 0) return;
  const auto periodic =
      std::count_if(walk.inputs.begin(), walk.inputs.begin() + static_cast<std::ptrdiff_t>(members_.input_count()),
                    [](const Walk::Input& input) { return input.IsPeriodic(); });
  const int64_t tiles = std::max<int64_t>(static_cast<int64_t>(buffer_count_) + periodic, 1);
  walk.tile = std::min(kLongestTile, kTileFloats / tiles / kTileUnit * kTileUnit);
  Cancellation* const cancellation = context.cancellation();
  int64_t chunk = walk.total;
  if (cancellation != nullptr) {
    const double elements = kPollNanoseconds * context.parallel().thread_count() / cost_;
    if (elements < static_cast<double>(walk.total)) chunk = std::max<int64_t>(static_cast<int64_t>(elements), 1 << 16);
  }
  for (int64_t first = 0; first < walk.total; first += chunk) {
    if (first > 0) cancellation->Poll();
    context.ParallelFor(std::min(chunk, walk.total - first), cost_,
                        [&](int64_t begin, int64_t end) { MapTiles(walk, first + begin, first + end); });
  }
}

}  // namespace light
