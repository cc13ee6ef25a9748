// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/block.h"
#include "stria/stripe/tags.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>

namespace stria::stripe {
namespace {

template <typename Program, typename Block>
Block* tagged(Program& program, std::string_view tag) {
  for (auto& stmt : program.entry.stmts)
    if (auto* block = stmt.block(); block && block->tags.has(tag)) return block;
  return nullptr;
}

void collect_scalars(const Statement& stmt, std::set<std::string>& names) {
  if (auto* s = std::get_if<Load>(&stmt.op)) names.insert(s->into);
  if (auto* s = std::get_if<LoadIndex>(&stmt.op)) names.insert(s->into);
  if (auto* s = std::get_if<Constant>(&stmt.op)) names.insert(s->into);
  if (auto* s = std::get_if<Intrinsic>(&stmt.op))
    names.insert(s->outputs.begin(), s->outputs.end());
}

}  // namespace

Tags::Tags(std::initializer_list<const char*> names) {
  for (const char* name : names) set(name);
}

bool Tags::has(std::string_view name) const { return find(name) != nullptr; }

bool Tags::has_all(const std::vector<std::string>& names) const {
  for (const std::string& name : names)
    if (!has(name)) return false;
  return true;
}

const TagValue* Tags::find(std::string_view name) const {
  for (const Tag& tag : tags_)
    if (tag.name == name) return &tag.value;
  return nullptr;
}

std::optional<int64_t> Tags::integer(std::string_view name) const {
  const TagValue* value = find(name);
  if (!value) return std::nullopt;
  if (auto* number = std::get_if<int64_t>(value)) return *number;
  return std::nullopt;
}

void Tags::set(std::string_view name, TagValue value) {
  for (Tag& tag : tags_) {
    if (tag.name == name) {
      tag.value = std::move(value);
      return;
    }
  }
  tags_.push_back({std::string(name), std::move(value)});
}

void Tags::set_all(const std::vector<std::string>& names) {
  for (const std::string& name : names) set(name);
}

void Tags::remove(std::string_view name) {
  std::erase_if(tags_, [&](const Tag& tag) { return tag.name == name; });
}

std::string_view name_of(AggOp op) {
  switch (op) {
    case AggOp::add: return "add";
    case AggOp::mul: return "mul";
    case AggOp::max: return "max";
    case AggOp::min: return "min";
  }
  return "add";
}

std::optional<AggOp> parse_agg_op(std::string_view name) {
  for (AggOp op : {AggOp::add, AggOp::mul, AggOp::max, AggOp::min})
    if (name_of(op) == name) return op;
  return std::nullopt;
}

std::string_view name_of(RefDir dir) {
  switch (dir) {
    case RefDir::none: return "none";
    case RefDir::in: return "in";
    case RefDir::out: return "out";
    case RefDir::inout: return "inout";
  }
  return "none";
}

Affine Refinement::flat_access() const {
  Affine flat;
  for (size_t i = 0; i < access.size(); ++i) flat += access[i] * shape.dims[i].stride;
  return flat;
}

bool Constant::operator==(const Constant& other) const {
  return into == other.into && value.type == other.value.type &&
         std::memcmp(&value.i, &other.value.i, sizeof value.i) == 0;
}

Statement::Statement(Block block) : op(Box<Block>(std::move(block))) {}

Block* Statement::block() {
  auto* box = std::get_if<Box<Block>>(&op);
  return box ? &**box : nullptr;
}

const Block* Statement::block() const {
  auto* box = std::get_if<Box<Block>>(&op);
  return box ? &**box : nullptr;
}

Special* Statement::special() {
  auto* box = std::get_if<Box<Special>>(&op);
  return box ? &**box : nullptr;
}

const Special* Statement::special() const {
  auto* box = std::get_if<Box<Special>>(&op);
  return box ? &**box : nullptr;
}

bool is_barrier(const Statement& stmt) {
  return stmt.special() && stmt.special()->name == "barrier";
}

Index* Block::find_index(std::string_view index_name) {
  for (Index& index : idxs)
    if (index.name == index_name) return &index;
  return nullptr;
}

const Index* Block::find_index(std::string_view index_name) const {
  return const_cast<Block*>(this)->find_index(index_name);
}

Refinement* Block::find_ref(std::string_view into) {
  for (Refinement& ref : refs)
    if (ref.into == into) return &ref;
  return nullptr;
}

const Refinement* Block::find_ref(std::string_view into) const {
  return const_cast<Block*>(this)->find_ref(into);
}

std::map<std::string, Interval> Block::index_box(
    const std::map<std::string, Interval>& outer) const {
  std::map<std::string, Interval> box;
  for (const Index& index : idxs) {
    Interval start{0, 0};
    if (index.affine) start = interval_of(*index.affine, outer);
    int64_t upper = 0;
    if (__builtin_add_overflow(start.upper, std::max<int64_t>(index.range, 0) - 1, &upper))
      upper = std::numeric_limits<int64_t>::max();
    box[index.name] = {start.lower, upper};
  }
  return box;
}

std::string Block::fresh_name(std::string_view base) const {
  std::set<std::string> taken;
  for (const Index& index : idxs) taken.insert(index.name);
  for (const Refinement& ref : refs) taken.insert(ref.into);
  for (const Statement& stmt : stmts) collect_scalars(stmt, taken);
  std::string name(base);
  for (int i = 0; taken.count(name); ++i) name = fmt::format("{}_{}", base, i);
  return name;
}

Block* Program::main() { return tagged<Program, Block>(*this, tag::kMain); }
const Block* Program::main() const { return tagged<const Program, const Block>(*this, tag::kMain); }
Block* Program::prologue() { return tagged<Program, Block>(*this, tag::kPrologue); }
const Block* Program::prologue() const {
  return tagged<const Program, const Block>(*this, tag::kPrologue);
}

}  // namespace stria::stripe
