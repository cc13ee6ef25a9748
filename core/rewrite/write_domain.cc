// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/write_domain.h"

#include <algorithm>
#include <map>
#include <set>

#include "stria/poly/integer_set.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/split_block.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;

using Forms = std::map<std::string, Affine>;

WriteDomain refuse(Refusal refusal) {
  WriteDomain nest;
  nest.refusal = std::move(refusal);
  return nest;
}

// The block's indices as forms, given those of its parent. `own_name` makes the names of the
// block's own indices, and of the steps from an affine form.
template <typename OwnName>
Forms index_forms(const Block& block, const Forms& parent, const OwnName& own_name) {
  Forms forms;
  for (const Index& index : block.idxs) {
    Affine& form = forms[index.name];
    if (index.affine) form = index.affine->substitute(parent);
    if (index.range != 1) form += Affine::of(own_name(index));
  }
  return forms;
}

// The set of the path's points, over the names "level.index". `host` is set to the forms of the
// host's indices.
IntegerSet path_domain(const std::vector<const Block*>& path, Forms& host) {
  std::vector<std::pair<std::string, Interval>> box;
  std::vector<Affine> constraints;
  for (size_t level = 0; level < path.size(); ++level) {
    host = index_forms(*path[level], host, [&](const Index& index) {
      box.emplace_back(fmt::format("{}.{}", level, index.name), Interval{0, index.range - 1});
      return box.back().first;
    });
    for (const Affine& constraint : path[level]->constraints)
      constraints.push_back(constraint.substitute(host));
  }
  IntegerSet domain = IntegerSet::box(box);
  for (const Affine& constraint : constraints) domain.add_ge(constraint);
  return domain;
}

// The points of a chain under a host, and the element that each of them writes.
struct System {
  std::vector<Index> indices;       // of all blocks, with names that differ from each other
  std::vector<Affine> constraints;  // over these and the host's indices
  std::vector<Affine> access;
  std::vector<Affine> innermost;      // the innermost block's own indices
  Refusal refusal = Refusal::none();  // why the points or elements are not known
};

System gather(const Block& host, const std::vector<const Block*>& chain, const std::string& name) {
  System system;
  std::set<std::string> taken;
  Forms forms;  // the current block's indices, over those of the system and the host
  for (const Index& index : host.idxs) {
    taken.insert(index.name);
    forms[index.name] = Affine::of(index.name);
  }
  std::string view = name;
  for (const Block* block : chain) {
    for (const Index& index : block->idxs)
      if (index.affine && index.range != 1) system.refusal = "an index runs from an affine form";
    forms = index_forms(*block, forms, [&](const Index& index) {
      Index own;
      own.name = index.name;
      for (int i = 0; taken.count(own.name); ++i) own.name = fmt::format("{}_{}", index.name, i);
      own.range = index.range;
      taken.insert(own.name);
      system.indices.push_back(own);
      return own.name;
    });
    for (const Affine& constraint : block->constraints)
      system.constraints.push_back(constraint.substitute(forms));
    const Refinement* ref = nullptr;
    for (const Refinement& candidate : block->refs) {
      if (candidate.from != view) continue;
      if (ref) system.refusal = "the written tensor has two views in one block";
      ref = &candidate;
    }
    if (!ref) {
      system.refusal = "the written tensor does not reach the innermost block";
      return system;
    }
    system.access.resize(ref->access.size());
    for (size_t d = 0; d < ref->access.size(); ++d)
      system.access[d] += ref->access[d].substitute(forms);
    view = ref->into;
  }
  bool written = false;
  for (const stripe::Statement& stmt : chain.back()->stmts) {
    const auto* store = std::get_if<stripe::Store>(&stmt.op);
    if (store && store->into == view && !store->at.empty())
      system.refusal = "a scalar chooses the element";
    const stripe::Special* special = stmt.special();
    // A block inside counts as a writer.
    written = written || stmt.block() || (store && store->into == view) ||
              (special && std::find(special->outputs.begin(), special->outputs.end(), view) !=
                              special->outputs.end());
  }
  if (!written) system.refusal = "nothing is stored to it";
  for (const Index& index : chain.back()->idxs)
    if (!index.affine) system.innermost.push_back(forms.at(index.name));
  return system;
}

IntegerSet box_of(const std::vector<Index>& indices) {
  std::vector<std::pair<std::string, Interval>> box;
  for (const Index& index : indices) box.emplace_back(index.name, Interval{0, index.range - 1});
  return IntegerSet::box(box);
}

// Refuses the nest unless each of its elements has a point of the system, at each point of the
// path.
Refusal why_not_exact(const std::vector<const Block*>& path, const System& system,
                      const WriteDomain& nest) {
  static const char* const kUndecided = "which elements are written is undecided";
  Forms host;
  IntegerSet outer = path_domain(path, host);
  std::vector<std::string> dims = outer.dims();
  std::vector<std::string> kept = dims;
  std::vector<Affine> map;
  for (const std::string& dim : dims) map.push_back(Affine::of(dim));
  for (const Index& index : system.indices) dims.push_back(index.name);
  for (const Index& index : nest.indices) kept.push_back(index.name);
  auto lifted = outer.preimage(dims, map);
  if (!lifted.ok()) return kUndecided;
  IntegerSet bound = std::move(lifted).value();
  for (const Index& index : system.indices) {
    bound.add_ge(Affine::of(index.name));
    bound.add_ge(Affine(index.range - 1) - Affine::of(index.name));
  }
  IntegerSet domain = bound;
  for (const Affine& constraint : nest.constraints) bound.add_ge(constraint.substitute(host));
  for (const Affine& constraint : system.constraints) domain.add_ge(constraint.substitute(host));
  auto wanted = bound.project_onto(kept);
  auto reached = domain.project_onto(kept);
  if (!wanted.ok() || !reached.ok()) return kUndecided;
  auto exact = wanted->is_subset_of(*reached);
  if (!exact.ok()) return kUndecided;
  if (!*exact) return "constraints on reduction indices leave elements unwritten";
  return Refusal::none();
}

}  // namespace

std::vector<Block*> single_chain(Block& root) {
  std::vector<Block*> chain = {&root};
  while (chain.back()->stmts.size() == 1)
    if (Block* inner = chain.back()->stmts[0].block())
      chain.push_back(inner);
    else
      break;
  return chain;
}

std::vector<std::vector<Block*>> writing_chains(Block& root, const std::string& name,
                                                bool sums_only) {
  std::vector<std::vector<Block*>> chains;
  for (const Refinement& ref : root.refs) {
    if (ref.from != name || ref.dir == stripe::RefDir::none || (sums_only && !ref.agg)) continue;
    bool stores = false;
    for (stripe::Statement& stmt : root.stmts) {
      auto* store = std::get_if<stripe::Store>(&stmt.op);
      stores = stores || (store && store->into == ref.into);
      if (Block* inner = stmt.block())
        for (std::vector<Block*>& chain : writing_chains(*inner, ref.into, sums_only)) {
          chain.insert(chain.begin(), &root);
          chains.push_back(std::move(chain));
        }
    }
    if (stores) chains.push_back({&root});
  }
  return chains;
}

Refinement* find_view(Block& block, const std::string& parent_name) {
  for (Refinement& ref : block.refs)
    if (ref.dir != stripe::RefDir::none && ref.from == parent_name) return &ref;
  return nullptr;
}

const Refinement* find_view(const Block& block, const std::string& parent_name) {
  return find_view(const_cast<Block&>(block), parent_name);
}

WriteDomain write_domain(const std::vector<const Block*>& path,
                         const std::vector<const Block*>& chain, const std::string& name,
                         bool may_move) {
  const Block& host = *path.back();
  System system = gather(host, chain, name);
  if (system.refusal) return refuse(system.refusal);
  for (const Index& index : system.indices)
    if (index.range < 1) return refuse("its block never runs");
  std::set<std::string> host_names;
  for (const Index& index : host.idxs) host_names.insert(index.name);

  // The nest's indices that occur in the access, as a block, so that index_roles can be asked.
  Block probe;
  Refinement written;
  written.dir = stripe::RefDir::out;
  written.from = written.into = name;
  // At one point of the host, its indices are constants.
  for (const Affine& form : system.access) {
    written.access.push_back(form);
    for (const std::string& index : host_names)
      written.access.back() = written.access.back().substitute({{index, Affine()}});
  }
  written.shape = host.find_ref(name)->shape;
  for (Dim& dim : written.shape.dims) dim.size = 1;
  probe.refs.push_back(written);
  probe.idxs = system.indices;
  std::set<std::string> outputs;
  for (const IndexRole& role : index_roles(probe)) {
    if (role.kind == IndexKind::overlapping)
      return refuse("different points write the same element");
    if (role.kind == IndexKind::output) outputs.insert(role.name);
  }

  WriteDomain nest;
  for (const Index& index : system.indices)
    if (outputs.count(index.name)) nest.indices.push_back(index);
  nest.access = system.access;
  for (const Affine& form : nest.access)
    for (const auto& [term, coefficient] : form.terms())
      if (!may_move && host_names.count(term))
        return refuse("a view inside moves with an outer index");
  bool all_known = true;
  for (const Affine& constraint : system.constraints) {
    bool known = true;
    for (const auto& [term, coefficient] : constraint.terms())
      known = known && (outputs.count(term) || host_names.count(term));
    if (known) nest.constraints.push_back(constraint);
    all_known = all_known && known;
  }
  if (chain.back()->tags.has(stripe::tag::kVector) && !nest.indices.empty())
    for (const Affine& form : system.innermost)
      if (form == Affine::of(nest.indices.back().name)) nest.lane = nest.indices.back().name;
  // Some constraints have reduction indices: each element that the others allow must have a point.
  if (!all_known)
    if (Refusal refusal = why_not_exact(path, system, nest)) return refuse(std::move(refusal));
  return nest;
}

void constrain_to(Block& block, const WriteDomain& nest) {
  std::set<std::string> own;
  for (const Index& index : nest.indices) own.insert(index.name);
  for (const Affine& constraint : nest.constraints) {
    Forms forms;
    for (const auto& [name, coefficient] : constraint.terms())
      if (!own.count(name)) forms[name] = Affine::of(bring_in(block, name));
    block.constraints.push_back(constraint.substitute(forms));
  }
}

bool are_apart(const std::vector<WriteDomain>& nests) {
  // The elements that both `a` and `b` write, at one point of the host.
  auto meet = [](const WriteDomain& a, const WriteDomain& b) {
    std::vector<std::string> dims;
    std::vector<Affine> at_least;
    std::vector<std::vector<Affine>> access;
    for (const WriteDomain* nest : {&a, &b}) {
      Forms forms;
      for (const Index& index : nest->indices) {
        const std::string name = fmt::format("{}.{}", access.size(), index.name);
        forms[index.name] = Affine::of(name);
        dims.push_back(name);
        at_least.push_back(Affine::of(name));
        at_least.push_back(Affine(index.range - 1) - Affine::of(name));
      }
      for (const Affine& constraint : nest->constraints) {
        for (const auto& [term, coefficient] : constraint.terms())
          if (!forms.count(term) && std::find(dims.begin(), dims.end(), term) == dims.end())
            dims.push_back(term);
        at_least.push_back(constraint.substitute(forms));
      }
      access.emplace_back();
      for (const Affine& form : nest->access) access.back().push_back(form.substitute(forms));
    }
    IntegerSet both(dims);
    for (const Affine& form : at_least) both.add_ge(form);
    for (size_t d = 0; d < access[0].size(); ++d) both.add_eq(access[0][d] - access[1][d]);
    auto empty = both.is_empty();
    return !empty.ok() || !*empty;
  };
  for (size_t i = 0; i < nests.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (meet(nests[i], nests[j])) return false;
  return true;
}

Result<std::vector<WriteDomain>> written_pieces(
    const Block& host, const std::vector<std::vector<const Block*>>& chains,
    const std::string& name) {
  std::vector<std::string> dims;
  for (size_t d = 0; d < host.find_ref(name)->access.size(); ++d)
    dims.push_back(fmt::format("i{}", d));
  IntegerSet elements = IntegerSet::empty(dims);
  for (const std::vector<const Block*>& chain : chains) {
    System system = gather(host, chain, name);
    if (system.refusal) return unsupported("{}", system.refusal.reason());
    IntegerSet domain = box_of(system.indices);
    for (const Affine& constraint : system.constraints) domain.add_ge(constraint);
    STRIA_ASSIGN(IntegerSet written, domain.image(dims, system.access));
    STRIA_ASSIGN(elements, elements.unite(written));
  }
  STRIA_ASSIGN(std::vector<SetPiece> pieces, elements.pieces());
  std::vector<WriteDomain> nests;
  for (SetPiece& piece : pieces) {
    WriteDomain nest;
    for (SetPiece::Index& index : piece.indices) {
      nest.indices.emplace_back();
      nest.indices.back().name = std::move(index.name);
      nest.indices.back().range = index.range;
    }
    nest.access = std::move(piece.point);
    nest.constraints = std::move(piece.constraints);
    nests.push_back(std::move(nest));
  }
  return nests;
}

}  // namespace stria::passes
