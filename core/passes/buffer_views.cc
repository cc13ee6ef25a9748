// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/buffer_views.h"

namespace stria::passes {

void restride_views(stripe::Statement& stmt, const std::string& name,
                    const std::vector<Dim>& dims) {
  stripe::Block* inner = stmt.block();
  if (!inner) return;
  for (stripe::Refinement& ref : inner->refs) {
    if (ref.dir == stripe::RefDir::none || ref.from != name) continue;
    for (size_t d = 0; d < dims.size(); ++d) ref.shape.dims[d].stride = dims[d].stride;
    restride_views(*inner, ref.into, dims);
  }
}

void restride_views(stripe::Block& block, const std::string& name, const std::vector<Dim>& dims) {
  for (stripe::Statement& stmt : block.stmts) restride_views(stmt, name, dims);
}

void locate_views(stripe::Statement& stmt, const std::string& name,
                  const stripe::Location& location) {
  stripe::Block* inner = stmt.block();
  if (!inner) return;
  for (stripe::Refinement& ref : inner->refs) {
    if (ref.dir == stripe::RefDir::none || ref.from != name) continue;
    ref.location = location;
    ref.is_const = false;
    for (stripe::Statement& below : inner->stmts) locate_views(below, ref.into, location);
  }
}

}  // namespace stria::passes
