// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/layout/shared_copies.h"

#include <set>
#include <utility>

namespace stria::passes {
namespace {

using stripe::RefDir;
using stripe::Refinement;

// Two names of a section may be one allocation of the block around.
std::string allocation(const std::string& name, const stripe::Block& section) {
  const Refinement* ref = section.find_ref(name);
  return ref && ref->dir != RefDir::none ? ref->from : name;
}

}  // namespace

const Refinement* SharedCopies::find(const std::string& tensor, size_t dim, int64_t width) const {
  const auto at = made_.find({tensor, dim, width});
  return at == made_.end() ? nullptr : &at->second;
}

void SharedCopies::add(const std::string& tensor, size_t dim, int64_t width,
                       const Refinement& copy) {
  made_.insert_or_assign({tensor, dim, width}, copy);
}

void SharedCopies::after(const stripe::Statement& stmt, const stripe::Block& section) {
  if (made_.empty()) return;
  const stripe::Block* block = stmt.block();
  if (!block) return made_.clear();  // a special
  std::set<std::string> written;
  for (const Refinement& ref : block->refs)
    if (stripe::is_written(ref)) written.insert(allocation(ref.from, section));
  std::erase_if(made_, [&](const auto& one) {
    return written.contains(allocation(std::get<0>(one.first), section));
  });
}

}  // namespace stria::passes
