// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/kernel_alone.h"

#include <algorithm>
#include <vector>

#include "stria/rewrite/write_domain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// Finds the positions of statements that lead from `from` to `block`, the last one first. False if
// there are none.
bool find(const Block& from, const Block& block, std::vector<size_t>& path) {
  if (&from == &block) return true;
  for (size_t i = 0; i < from.stmts.size(); ++i)
    if (const Block* inner = from.stmts[i].block(); inner && find(*inner, block, path)) {
      path.push_back(i);
      return true;
    }
  return false;
}

Block around(const Block& block) {
  Block out;
  out.name = block.name;
  out.location = block.location;
  out.tags = block.tags;
  for (const char* tag : {stripe::tag::kDeps, stripe::tag::kPlaced, stripe::tag::kPrologue})
    out.tags.remove(tag);
  return out;
}

// Makes constants ordinary inputs, so that nothing is kept from run to run.
void forget_constants(Block& block) {
  for (Refinement& ref : block.refs) ref.is_const = false;
  for (stripe::Statement& statement : block.stmts)
    if (Block* inner = statement.block()) forget_constants(*inner);
}

RefDir both(RefDir a, RefDir b) { return a == b ? a : RefDir::inout; }

}  // namespace

Result<stripe::Program> kernel_alone(const stripe::Program& program, const Block& block,
                                     Block candidate) {
  for (const Block* section : {program.prologue(), program.main()}) {
    if (!section) continue;
    for (const stripe::Statement& statement : section->stmts) {
      const Block* kernel = statement.block();
      std::vector<size_t> path;
      if (!kernel || !find(*kernel, block, path)) continue;
      Block copy = *kernel;
      Block* place = &copy;
      for (auto position = path.rbegin(); position != path.rend(); ++position)
        place = place->stmts[*position].block();
      *place = std::move(candidate);

      stripe::Program out;
      out.entry = around(program.entry);
      Block main = around(*section);
      main.name = "main";
      main.tags.set(stripe::tag::kMain);
      for (const Refinement& used : copy.refs) {
        if (used.dir == RefDir::none) continue;
        if (Refinement* known = main.find_ref(used.from)) {
          known->dir = both(known->dir, used.dir);
          continue;
        }
        const Refinement* tensor = section->find_ref(used.from);
        if (!tensor)
          return internal_error("kernel '{}': there is no tensor '{}'", kernel->name, used.from);
        const bool temporary = tensor->dir == RefDir::none;
        const Refinement* allocation = temporary ? tensor : program.entry.find_ref(tensor->from);
        if (!allocation)
          return internal_error("kernel '{}': there is no tensor '{}'", kernel->name, tensor->from);
        Refinement whole = *allocation;
        whole.offset_bytes = 0;
        while (temporary && (program.entry.find_ref(whole.into) || out.entry.find_ref(whole.into)))
          whole.into += "_";
        Refinement view = *tensor;
        view.from = whole.into;
        view.dir = used.dir;
        view.offset_bytes = 0;
        view.swizzle.reset();
        view.is_const = whole.is_const;
        main.refs.push_back(std::move(view));
        if (!out.entry.find_ref(whole.into)) out.entry.refs.push_back(std::move(whole));
      }
      main.stmts.emplace_back(std::move(copy));
      out.entry.stmts.emplace_back(std::move(main));
      // A kernel that depends on constants alone would not run again.
      const std::vector<Refinement>& tensors = out.entry.refs;
      const bool varies = std::any_of(tensors.begin(), tensors.end(), [&](const Refinement& ref) {
        const Refinement* used = find_view(*out.main(), ref.into);
        return !ref.is_const && used && used->dir != RefDir::out;
      });
      if (section == program.prologue() || !varies) forget_constants(out.entry);
      return out;
    }
  }
  return unsupported("block '{}' stands in no kernel", block.name);
}

}  // namespace stria::passes
