// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/overlap/fetch_request.h"

#include <algorithm>
#include <cstdlib>

#include "stria/rewrite/large_views.h"
#include "stria/stripe/tags.h"

namespace stria::passes {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;

bool FetchRequest::excludes(const Block& block) const {
  return std::any_of(exclude.begin(), exclude.end(),
                     [&](const std::string& tag) { return block.tags.has(tag); });
}

int64_t FetchRequest::step(const Refinement& view, const Index& index) const {
  const int64_t elements = view.flat_access().coefficient(index.name);
  return std::abs(elements) < ceil_div(min_bytes, byte_size(view.shape.type)) ? 0 : elements;
}

std::vector<const Index*> loop_indices(const Block& block) {
  std::vector<const Index*> out;
  for (size_t i = block.idxs.size(); i-- > 0;)
    if (!block.idxs[i].affine && block.idxs[i].range > 1) out.push_back(&block.idxs[i]);
  return out;
}

bool is_streamed(const Block& block, const std::string& name) {
  return std::any_of(block.refs.begin(), block.refs.end(), [&](const Refinement& ref) {
    if (ref.from != name || !can_be_fetched(ref)) return false;
    return ref.tags.has(stripe::tag::kStream) ||
           std::any_of(block.stmts.begin(), block.stmts.end(), [&](const stripe::Statement& stmt) {
             const Block* inner = stmt.block();
             return inner && is_streamed(*inner, ref.into);
           });
  });
}

}  // namespace stria::passes
