// SPDX-License-Identifier: Apache-2.0
#include "graph/onnx_schemas.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <iterator>

#include "light/inference.h"

namespace light {
namespace {

struct DomainRow {
  std::string_view domain;
  int64_t latest_version;
};

struct OperatorRow {
  std::string_view domain;
  std::string_view name;
  uint32_t first;  // into kRows
  uint32_t count;
};

#include "graph/schema_table.inc"

// Filled by whoever asks first. Zero-initialised, and the schemas are never freed: they outlive static destructors.
std::atomic<const OperatorSchema*> decoded_rows[kRowCount];

/// Reads what generate_schemas.py wrote; the table is part of this library, so nothing is checked.
class RowReader {
 public:
  explicit RowReader(uint32_t start) : next_(kBlob + start) {}

  uint8_t Byte() { return static_cast<uint8_t>(*next_++); }
  uint64_t Unsigned() {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const uint8_t byte = Byte();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  int64_t Signed() {
    const uint64_t coded = Unsigned();
    return static_cast<int64_t>(coded >> 1) ^ -static_cast<int64_t>(coded & 1);
  }
  int Count() {  // 0 stands for any number
    const auto coded = static_cast<int>(Unsigned());
    return coded == 0 ? INT_MAX : coded - 1;
  }
  float Float() {
    float value;
    std::memcpy(&value, next_, sizeof(value));
    next_ += sizeof(value);
    return value;
  }
  std::string Text() {
    const auto size = static_cast<std::size_t>(Unsigned());
    std::string text(next_, size);
    next_ += size;
    return text;
  }

 private:
  const char* next_;
};

template <class T, class Read>
std::vector<T> ReadList(RowReader& row, Read read) {
  std::vector<T> list(row.Unsigned());
  for (T& item : list) item = read();
  return list;
}

Attribute::Data ReadDefault(RowReader& row, AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kFloat:
      return row.Float();
    case AttributeKind::kInt:
      return row.Signed();
    case AttributeKind::kString:
      return row.Text();
    case AttributeKind::kFloats:
      return ReadList<float>(row, [&] { return row.Float(); });
    case AttributeKind::kInts:
      return ReadList<int64_t>(row, [&] { return row.Signed(); });
    case AttributeKind::kStrings:
      return ReadList<std::string>(row, [&] { return row.Text(); });
    default:
      return {};  // the generator refuses defaults of other kinds
  }
}

FormalParameter ReadFormal(RowReader& row) {
  FormalParameter formal;
  formal.name = row.Text();
  formal.type_parameter = static_cast<int>(row.Unsigned());
  const uint8_t flags = row.Byte();
  formal.option = static_cast<FormalParameter::Option>(flags & 3u);
  formal.homogeneous = (flags & 4u) != 0;
  formal.min_arity = static_cast<int>(row.Unsigned());
  return formal;
}

AttributeSchema ReadAttribute(RowReader& row) {
  AttributeSchema attribute;
  attribute.name = row.Text();
  attribute.kind = static_cast<AttributeKind>(row.Unsigned());
  const uint8_t flags = row.Byte();
  attribute.required = (flags & 1u) != 0;
  attribute.has_default = (flags & 2u) != 0;
  if (attribute.has_default) {
    attribute.default_value.name = attribute.name;
    attribute.default_value.kind = attribute.kind;
    attribute.default_value.data = ReadDefault(row, attribute.kind);
  }
  return attribute;
}

std::unique_ptr<const OperatorSchema> Decode(const OperatorRow& op, uint32_t row_index) {
  RowReader row(kRows[row_index]);
  auto schema = std::make_unique<OperatorSchema>();
  schema->domain = op.domain;
  schema->name = op.name;
  schema->deprecated = row.Byte() != 0;
  schema->since_version = static_cast<int>(row.Unsigned());
  schema->min_inputs = row.Count();
  schema->max_inputs = row.Count();
  schema->min_outputs = row.Count();
  schema->max_outputs = row.Count();
  schema->type_parameters.resize(row.Unsigned());
  for (TypeParameter& parameter : schema->type_parameters) {
    parameter.name = row.Text();
    parameter.allowed = kTypeSets[row.Unsigned()];
  }
  schema->inputs = ReadList<FormalParameter>(row, [&] { return ReadFormal(row); });
  schema->outputs = ReadList<FormalParameter>(row, [&] { return ReadFormal(row); });
  schema->attributes = ReadList<AttributeSchema>(row, [&] { return ReadAttribute(row); });
  schema->infer = FindInferenceFn(op.domain, op.name, schema->since_version);
  return schema;
}

const OperatorSchema* Row(const OperatorRow& op, uint32_t row_index) {
  std::atomic<const OperatorSchema*>& cached = decoded_rows[row_index];
  if (const OperatorSchema* schema = cached.load(std::memory_order_acquire)) return schema;
  std::unique_ptr<const OperatorSchema> fresh = Decode(op, row_index);
  const OperatorSchema* expected = nullptr;
  if (!cached.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) return expected;
  return fresh.release();
}

const OperatorRow* FindOperator(std::string_view domain, std::string_view name) {
  const auto before = [](const OperatorRow& op, const std::pair<std::string_view, std::string_view>& key) {
    const int order = op.domain.compare(key.first);
    return order < 0 || (order == 0 && op.name < key.second);
  };
  const auto* found = std::lower_bound(std::begin(kOperators), std::end(kOperators), std::pair(domain, name), before);
  const bool same = found != std::end(kOperators) && found->domain == domain && found->name == name;
  return same ? found : nullptr;
}

/// The version that a row starts with, without decoding the row.
int64_t SinceVersion(uint32_t row_index) {
  RowReader row(kRows[row_index]);
  row.Byte();
  return static_cast<int64_t>(row.Unsigned());
}

}  // namespace

const OperatorSchema* SchemaTable::Find(std::string_view domain, std::string_view name, int64_t opset_version) const {
  const OperatorRow* op = FindOperator(domain, name);
  if (op == nullptr) return nullptr;
  for (uint32_t i = op->first; i < op->first + op->count; ++i) {
    if (SinceVersion(i) <= opset_version) return Row(*op, i);
  }
  return nullptr;
}

bool SchemaTable::Knows(std::string_view domain, std::string_view name) const {
  return FindOperator(domain, name) != nullptr;
}

int64_t SchemaTable::LatestVersion(std::string_view domain) const {
  for (const DomainRow& row : kDomains) {
    if (row.domain == domain) return row.latest_version;
  }
  return 0;
}

void SchemaTable::AppendAll(std::vector<const OperatorSchema*>& all) const {
  all.reserve(all.size() + kRowCount);
  for (const OperatorRow& op : kOperators) {
    for (uint32_t i = op.first; i < op.first + op.count; ++i) all.push_back(Row(op, i));
  }
}

const SchemaSet& OnnxSchemas() {
  static const SchemaTable table;
  static const SchemaSet& schemas = [&]() -> const SchemaSet& {
    auto* set = new SchemaSet();  // never destroyed: sessions may end in static destructors
    set->table_ = &table;
    return *set;
  }();
  return schemas;
}

}  // namespace light
