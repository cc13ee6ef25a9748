// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/kernel_memo.h"

#include <string>

#include "stria/base/text.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Refinement;
using stripe::Statement;

class Numbering {
 public:
  void block(Block& block) {
    block.name.clear();
    block.comments.clear();
    for (Refinement& ref : block.refs) {
      tensor(ref.from);
      tensor(ref.into);
    }
    for (Statement& stmt : block.stmts) statement(stmt);
  }

 private:
  void statement(Statement& stmt) {
    if (Block* inner = stmt.block()) return block(*inner);
    if (stripe::Special* special = stmt.special()) {
      for (std::string& name : special->inputs) tensor(name);
      for (std::string& name : special->outputs) tensor(name);
    } else if (auto* load = std::get_if<stripe::Load>(&stmt.op)) {
      tensor(load->from);
      for (std::string& name : load->at) scalar(name);
      scalar(load->into);
    } else if (auto* store = std::get_if<stripe::Store>(&stmt.op)) {
      scalar(store->from);
      for (std::string& name : store->at) scalar(name);
      tensor(store->into);
    } else if (auto* index = std::get_if<stripe::LoadIndex>(&stmt.op)) {
      scalar(index->into);
    } else if (auto* constant = std::get_if<stripe::Constant>(&stmt.op)) {
      scalar(constant->into);
    } else if (auto* op = std::get_if<stripe::Intrinsic>(&stmt.op)) {
      for (std::string& name : op->inputs) scalar(name);
      for (std::string& name : op->outputs) scalar(name);
    }
  }

  void tensor(std::string& name) { number(name, tensors_); }
  void scalar(std::string& name) { number(name, scalars_); }

  static void number(std::string& name, std::unordered_map<std::string, std::string>& numbers) {
    if (name.empty()) return;
    auto [at, added] = numbers.try_emplace(name);
    if (added) at->second = fmt::format("{}", numbers.size());
    name = at->second;
  }

  std::unordered_map<std::string, std::string> tensors_, scalars_;
};

size_t mixed(size_t hash, int64_t number) {
  return (hash ^ static_cast<size_t>(number)) * size_t{0x9e3779b97f4a7c15} + (hash >> 29);
}

size_t add_shape(size_t hash, const Block& block) {
  hash = mixed(hash, static_cast<int64_t>(block.tags.all().size()));
  for (const stripe::Index& index : block.idxs) hash = mixed(hash, index.range);
  for (const Refinement& ref : block.refs)
    for (const Dim& dim : ref.shape.dims) hash = mixed(mixed(hash, dim.size), dim.stride);
  hash = mixed(hash, static_cast<int64_t>(block.stmts.size()));
  for (const Statement& stmt : block.stmts) {
    hash = mixed(hash, static_cast<int64_t>(stmt.op.index()));
    if (const Block* inner = stmt.block()) hash = add_shape(hash, *inner);
  }
  return hash;
}

}  // namespace

Block nameless(Block block) {
  Numbering().block(block);
  return block;
}

size_t shape_hash(const Block& block) { return add_shape(0, block); }

}  // namespace stria::passes
