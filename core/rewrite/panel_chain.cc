// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/panel_chain.h"

#include <algorithm>
#include <numeric>

#include "stria/rewrite/write_domain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

bool find_path(const Block& from, const Block& block, std::vector<const Block*>& path) {
  path.push_back(&from);
  if (&from == &block) return true;
  for (const stripe::Statement& stmt : from.stmts)
    if (const Block* inner = stmt.block())
      if (find_path(*inner, block, path)) return true;
  path.pop_back();
  return false;
}

// Does only the block itself load through the view, and do indices alone choose the element?
bool is_loaded_alone(const Block& block, const std::string& name) {
  return std::all_of(block.stmts.begin(), block.stmts.end(), [&](const stripe::Statement& stmt) {
    if (const auto* load = std::get_if<stripe::Load>(&stmt.op))
      return load->from != name || load->at.empty();
    if (const stripe::Special* special = stmt.special())
      return std::find(special->inputs.begin(), special->inputs.end(), name) ==
             special->inputs.end();
    const Block* inner = stmt.block();
    return !inner || find_view(*inner, name) == nullptr;
  });
}

// Is the block's refinement used only through one view, in the block inside?
bool is_viewed_once(const Block& block, const std::string& name, const Block& inside) {
  int64_t views = 0;
  for (const Refinement& ref : inside.refs) views += ref.dir != RefDir::none && ref.from == name;
  if (views != 1) return false;
  return std::all_of(block.stmts.begin(), block.stmts.end(), [&](const stripe::Statement& stmt) {
    const auto* load = std::get_if<stripe::Load>(&stmt.op);
    const Block* inner = stmt.block();
    const stripe::Special* special = stmt.special();
    return !(load && load->from == name) &&
           !(inner && inner != &inside && find_view(*inner, name)) &&
           !(special && std::find(special->inputs.begin(), special->inputs.end(), name) !=
                            special->inputs.end());
  });
}

// Are the section's refinements views of one tensor of the program?
bool is_same_tensor(const Block& section, const std::string& a, const std::string& b) {
  if (a == b) return true;
  const Refinement* one = section.find_ref(a);
  const Refinement* other = section.find_ref(b);
  return one && other && one->dir != RefDir::none && other->dir != RefDir::none &&
         one->from == other->from;
}

bool writes(const Block& kernel, const std::string& tensor, const Block& section) {
  return std::any_of(kernel.refs.begin(), kernel.refs.end(), [&](const Refinement& ref) {
    return ref.dir != RefDir::in && ref.dir != RefDir::none &&
           is_same_tensor(section, ref.from, tensor);
  });
}

// The one dimension along which the index walks, if no other index does, and from its beginning.
std::optional<size_t> walked_dim(const Refinement& view, const std::string& index) {
  std::optional<size_t> out;
  for (size_t d = 0; d < view.access.size(); ++d) {
    if (!view.access[d].uses(index)) continue;
    if (out || view.access[d] != Affine::of(index)) return std::nullopt;
    out = d;
  }
  return out;
}

}  // namespace

std::vector<const Block*> path_to(const stripe::Program& program, const Block& block) {
  std::vector<const Block*> path = {&program.entry};
  for (const Block* section : {program.prologue(), program.main()})
    if (section && &block != section && find_path(*section, block, path)) return path;
  return {};
}

std::optional<PanelChain> panel_chain(const std::vector<const Block*>& path,
                                      const std::string& name, const std::string& index) {
  if (path.size() < 3) return std::nullopt;
  const Block& section = *path[1];
  const stripe::Index* walks = path.back()->find_index(index);
  if (!walks || walks->affine || walks->range < 1) return std::nullopt;
  if (section.tags.has(stripe::tag::kDeps) || !is_loaded_alone(*path.back(), name))
    return std::nullopt;
  PanelChain out;
  std::string into = name;
  for (size_t depth = path.size() - 1; depth > 1; --depth) {
    const Refinement* view = path[depth]->find_ref(into);
    if (!view || view->dir != RefDir::in || view->tags.has(stripe::tag::kClamp) ||
        view->tags.has(stripe::tag::kZeroFill))
      return std::nullopt;
    if (depth == path.size() - 1) {
      const std::optional<size_t> dim = walked_dim(*view, index);
      if (!dim) return std::nullopt;
      out.dim = *dim;
    } else {
      if (!is_viewed_once(*path[depth], into, *path[depth + 1])) return std::nullopt;
      const Affine& begin = view->access[out.dim];
      out.multiple = std::gcd(out.multiple, begin.constant());
      for (const auto& [term, coefficient] : begin.terms())
        out.multiple = std::gcd(out.multiple, coefficient);
    }
    out.views.insert(out.views.begin(), view);
    into = view->from;
  }
  out.tensor = section.find_ref(into);
  if (!out.tensor || writes(*path[2], into, section)) return std::nullopt;
  out.is_const = out.tensor->is_const && !section.tags.has(stripe::tag::kPrologue);
  return out;
}

}  // namespace stria::passes
