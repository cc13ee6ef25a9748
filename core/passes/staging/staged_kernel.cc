// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/staging/staged_kernel.h"
#include "stria/stripe/tags.h"

#include <algorithm>
#include <utility>

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

}  // namespace

std::vector<OwnBuffer> own_buffers(Block& kernel, const std::string& memory) {
  std::vector<OwnBuffer> found;
  collect(kernel, memory, 1, found);
  return found;
}

Refusal stage_tensor(Block& kernel, const stripe::Place& place, PlaceNames& names,
                     const std::string& tensor, const CopySpec& spec, PassContext& context) {
  std::vector<std::pair<std::string, RefDir>> views;
  for (const Refinement& ref : kernel.refs)
    if (ref.dir != RefDir::none && ref.from == tensor) views.emplace_back(ref.into, ref.dir);
  for (const auto& [name, dir] : views)
    STRIA_RETURN_IF_REFUSED(dir == RefDir::in ? copy_in(kernel, place, names, name, spec, context)
                                              : copy_out(kernel, place, name, spec));
  return Refusal::none();
}

int64_t points_of(const Block& kernel) {
  int64_t points = 1;
  for (const stripe::Index& index : kernel.idxs)
    if (__builtin_mul_overflow(points, index.range, &points)) return INT64_MAX;
  return points;
}

}  // namespace stria::passes
