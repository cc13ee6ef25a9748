// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/build/shared_arrays.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "stria/semtree/build/lane_units.h"
#include "stria/stripe/allocation_lives.h"
#include "stria/stripe/tags.h"

namespace stria::semtree {
namespace {

using stripe::Block;
using stripe::Refinement;

struct Range {
  const Refinement* ref = nullptr;
  int64_t begin = 0, end = 0;  // elements of the type
};

// Adds what the block allocates, and the blocks inside it that are not lane blocks.
Status add_ranges(const Block& kernel, const Block& block, std::vector<Range>& ranges) {
  int64_t points = 1;
  for (const stripe::Index& index : block.idxs)
    if (__builtin_mul_overflow(points, std::max<int64_t>(index.range, 1), &points)) points = -1;
  int64_t copies = stripe::pipeline_copies(block);
  const bool pipelined = block.tags.integer(stripe::tag::kPipeline).value_or(1) > 1;
  if (points > 0) copies = std::min(copies, points);
  for (const Refinement& ref : block.refs) {
    if (ref.dir != stripe::RefDir::none || slot_form(ref) || !stripe::places(kernel, ref)) continue;
    const int64_t bytes = byte_size(ref.shape.type);
    if (ref.offset_bytes % bytes != 0)
      return unsupported("allocation '{}' of kernel '{}' begins at byte {}, inside an element",
                         ref.into, kernel.name, ref.offset_bytes);
    const int64_t begin = ref.offset_bytes / bytes;
    const int64_t span = std::max<int64_t>(ref.shape.span_elements(), 1);
    ranges.push_back({&ref, begin, begin + span * copies});
  }
  // What a pipelined block allocates further inside has arrays of its own.
  for (const stripe::Statement& stmt : block.stmts)
    if (const Block* inner = stmt.block(); inner && !pipelined && !is_lane_block(*inner))
      STRIA_RETURN_IF_ERROR(add_ranges(kernel, *inner, ranges));
  return {};
}

}  // namespace

Result<std::map<const Refinement*, SharedPart>> shared_parts(const Block& kernel) {
  std::vector<Range> ranges;
  STRIA_RETURN_IF_ERROR(add_ranges(kernel, kernel, ranges));
  const auto key = [](const Range& range) {
    return std::tuple(range.ref->shape.type, range.begin, range.end);
  };
  std::stable_sort(ranges.begin(), ranges.end(),
                   [&](const Range& a, const Range& b) { return key(a) < key(b); });
  std::map<const Refinement*, SharedPart> out;
  int arrays = 0;
  for (size_t from = 0, to = 0; from < ranges.size(); from = to) {
    int64_t end = ranges[from].end;
    for (to = from + 1; to < ranges.size() && ranges[to].begin < end &&
                        ranges[to].ref->shape.type == ranges[from].ref->shape.type;
         ++to)
      end = std::max(end, ranges[to].end);
    if (to == from + 1) continue;
    for (size_t i = from; i < to; ++i)
      out[ranges[i].ref] = {arrays, end - ranges[from].begin, ranges[i].begin - ranges[from].begin};
    ++arrays;
  }
  return out;
}

}  // namespace stria::semtree
