// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/walk.h"

#include <algorithm>

namespace stria::stripe {
namespace {

void visit_const(const Block& block, Place place, const std::function<void(const Place&)>& visit) {
  place.block = &block;
  place.box = block.index_box(place.parent ? place.parent->box : std::map<std::string, Interval>());
  visit(place);
  for (size_t i = 0; i < block.stmts.size(); ++i)
    if (const Block* child = block.stmts[i].block())
      visit_const(*child, {&place, nullptr, i, place.depth + 1, {}}, visit);
}

void visit_mutable(Block& block, Place place,
                   const std::function<void(Block&, const Place&)>& visit) {
  place.block = &block;
  std::map<std::string, Interval> outer =
      place.parent ? place.parent->box : std::map<std::string, Interval>();
  place.box = block.index_box(outer);
  visit(block, place);
  place.box = block.index_box(outer);  // the visit may have changed the indices
  for (size_t i = 0; i < block.stmts.size(); ++i)
    if (Block* child = block.stmts[i].block())
      visit_mutable(*child, {&place, nullptr, i, place.depth + 1, {}}, visit);
}

void append_refs(const Block& block, bool writes, std::vector<const Refinement*>& out) {
  for (const Refinement& ref : block.refs) {
    bool is_write = is_written(ref);
    if (ref.dir != RefDir::none && is_write == writes) out.push_back(&ref);
  }
}

}  // namespace

std::string Place::path() const {
  std::string own = block->name.empty() ? fmt::format("{}", position) : block->name;
  return parent ? parent->path() + "/" + own : own;
}

void visit_blocks(const Block& root, const std::function<void(const Place&)>& visit) {
  visit_const(root, {}, visit);
}

void visit_blocks(Block& root, const std::function<void(Block&, const Place&)>& visit) {
  visit_mutable(root, {}, visit);
}

std::vector<const Refinement*> kernel_arguments(const Block& kernel) {
  std::vector<const Refinement*> arguments;
  append_refs(kernel, true, arguments);
  append_refs(kernel, false, arguments);
  return arguments;
}

Result<Block> block_around(const Statement& statement, const Block& section) {
  const Special* special = statement.special();
  if (!special) return invalid_argument("a statement of #main is neither a block nor a special");
  Block block;
  block.name = special->name;
  for (const auto* names : {&special->outputs, &special->inputs}) {
    for (const std::string& name : *names) {
      const Refinement* ref = section.find_ref(name);
      if (!ref)
        return invalid_argument("special '{}' names '{}', which #main does not have", special->name,
                                name);
      Refinement view = *ref;
      view.dir = names == &special->outputs ? RefDir::out : RefDir::in;
      view.from = view.into;
      std::fill(view.access.begin(), view.access.end(), Affine(0));
      block.refs.push_back(std::move(view));
    }
  }
  block.stmts.push_back(statement);
  return block;
}

}  // namespace stria::stripe
