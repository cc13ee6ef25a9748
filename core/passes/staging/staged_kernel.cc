// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/staged_kernel.h"

#include <algorithm>
#include <map>
#include <utility>

#include "stria/rewrite/accumulator.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

void collect(Block& block, const std::string& memory, int64_t copies,
             std::vector<OwnBuffer>& found) {
  if (__builtin_mul_overflow(
          copies, std::max<int64_t>(1, block.tags.integer(stripe::tag::kPipeline).value_or(1)),
          &copies))
    return;  // the verifier refuses such a program
  for (Refinement& ref : block.refs) {
    if (ref.dir != RefDir::none || ref.location.path.size() != 1) continue;
    const stripe::LocationUnit& at = ref.location.path[0];
    if (at.name != memory || !at.owners.empty() || at.units.size() > 1) continue;
    OwnBuffer buffer{&block, &ref, 0, -1};
    if (!at.units.empty()) {
      if (!at.units[0].is_constant()) continue;
      buffer.bank = at.units[0].constant();
    }
    if (!__builtin_mul_overflow(ref.shape.span_bytes(), copies, &buffer.bytes))
      found.push_back(buffer);
  }
  for (stripe::Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) collect(*inner, memory, copies, found);
}

bool uses_index(const std::vector<Affine>& access, const std::string& index) {
  return std::any_of(access.begin(), access.end(),
                     [&](const Affine& form) { return form.uses(index); });
}

// Is the view another one from point to point of the block?
bool moves(const Block& block, const Refinement& ref) {
  return std::any_of(block.idxs.begin(), block.idxs.end(), [&](const stripe::Index& index) {
    return index.range > 1 && uses_index(ref.access, index.name);
  });
}

// Does what the kernel writes move with the index?
bool moves_output(const Block& kernel, const std::string& index) {
  return std::any_of(kernel.refs.begin(), kernel.refs.end(), [&](const Refinement& ref) {
    return (ref.dir == RefDir::out || ref.dir == RefDir::inout) && uses_index(ref.access, index);
  });
}

size_t position_of(const Block& block, const Block& inner) {
  size_t position = 0;
  while (block.stmts[position].block() != &inner) ++position;
  return position;
}

stripe::Place place_in(const Block& inner, const stripe::Place& around, size_t position) {
  return {&around, &inner, position, around.depth + 1, inner.index_box(around.box)};
}

}  // namespace

std::vector<OwnBuffer> own_buffers(Block& kernel, const std::string& memory) {
  std::vector<OwnBuffer> found;
  collect(kernel, memory, 1, found);
  return found;
}

bool adds_from_point_to_point(const Block& kernel) {
  return std::any_of(kernel.idxs.begin(), kernel.idxs.end(), [&](const stripe::Index& index) {
    return index.range > 1 && !moves_output(kernel, index.name);
  });
}

void split_steps(Block& kernel, int64_t under_way) {
  std::map<std::string, int64_t> tile;
  for (const stripe::Index& index : kernel.idxs)
    if (moves_output(kernel, index.name)) tile[index.name] = 1;
  split_block(kernel, tile);
  Block& steps = *kernel.stmts[0].block();
  steps.tags.set(stripe::tag::kSteps);
  if (under_way > 1) steps.tags.set(stripe::tag::kPipeline, under_way);
}

Block* steps_of(Block& kernel) {
  for (stripe::Statement& stmt : kernel.stmts)
    if (Block* inner = stmt.block(); inner && inner->tags.has(stripe::tag::kSteps)) return inner;
  return nullptr;
}

Refusal stage_tensor(Block& kernel, const KernelPlace& at, PlaceNames& names,
                     const std::string& tensor, const CopySpec& spec, bool updates,
                     PassContext& context) {
  const stripe::Place place{at.section, &kernel, at.position, at.section->depth + 1,
                            kernel.index_box({})};
  std::vector<std::pair<std::string, RefDir>> views;
  for (const Refinement& ref : kernel.refs)
    if (ref.dir != RefDir::none && ref.from == tensor) views.emplace_back(ref.into, ref.dir);
  for (const auto& [name, dir] : views) {
    Block* const steps = steps_of(kernel);
    if (dir != RefDir::in) {
      // Steps that write parts of their own copy them out themselves.
      const Refinement* part = steps ? find_view(*steps, name) : nullptr;
      if (part && part->dir == RefDir::out && moves(*steps, *part)) {
        const std::string view = part->into;
        STRIA_RETURN_IF_REFUSED(
            copy_out(*steps, place_in(*steps, place, position_of(kernel, *steps)), view, spec));
        drop_aggregation({&kernel, steps}, view);
        continue;
      }
      const Refusal refusal = copy_out(kernel, place, name, spec);
      if (!refusal) continue;
      if (!updates) return refusal;
      STRIA_RETURN_IF_REFUSED(copy_in_and_out(kernel, place, name, spec));
      continue;
    }
    std::vector<std::string> of_steps;
    if (steps)
      for (const Refinement& ref : steps->refs)
        if (ref.dir == RefDir::in && ref.from == name && moves(*steps, ref))
          of_steps.push_back(ref.into);
    if (of_steps.empty()) {
      STRIA_RETURN_IF_REFUSED(copy_in(kernel, place, names, name, spec, context));
      continue;
    }
    const stripe::Place inside = place_in(*steps, place, position_of(kernel, *steps));
    for (const std::string& view : of_steps)
      STRIA_RETURN_IF_REFUSED(copy_in(*steps, inside, names, view, spec, context));
  }
  return Refusal::none();
}

int64_t points_of(const Block& kernel) {
  int64_t points = 1;
  for (const stripe::Index& index : kernel.idxs)
    if (__builtin_mul_overflow(points, index.range, &points)) return INT64_MAX;
  return points;
}

}  // namespace stria::passes
