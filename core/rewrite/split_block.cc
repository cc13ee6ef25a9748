// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/split_block.h"

#include <algorithm>

#include "stria/rewrite/index_role.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::RefDir;
using stripe::Refinement;
using stripe::Statement;

// How one index of the original block is composed of an outer and an inner one.
struct Cut {
  int64_t outer_step = 1;  // points from one value of the index to the next
  int64_t inner_step = 1;
  bool outside = false;  // the outer block has an index of this name
  bool inside = false;   // so has the inner block
};

void substitute_in_statements(std::vector<Statement>& stmts,
                              const std::map<std::string, Affine>& forms) {
  for (Statement& stmt : stmts) {
    if (auto* load = std::get_if<stripe::LoadIndex>(&stmt.op))
      load->from = load->from.substitute(forms);
    if (Block* inner = stmt.block())
      for (Index& index : inner->idxs)
        if (index.affine) index.affine = index.affine->substitute(forms);
  }
}

bool statements_use(const std::vector<Statement>& stmts, const std::string& name) {
  for (const Statement& stmt : stmts) {
    if (auto* load = std::get_if<stripe::LoadIndex>(&stmt.op); load && load->from.uses(name))
      return true;
    if (const Block* inner = stmt.block())
      for (const Index& index : inner->idxs)
        if (index.affine && index.affine->uses(name)) return true;
  }
  return false;
}

// The outer view is what the inner block touches at one outer point. If a coefficient is negative,
// the view begins at its lowest element, so that inner accesses are never negative.
void split_ref(const Refinement& ref, const std::map<std::string, Cut>& cuts,
               const std::map<std::string, int64_t>& inner_ranges, Refinement& outer,
               Refinement& inner) {
  outer = ref;
  inner = ref;
  inner.from = ref.into;
  for (size_t d = 0; d < ref.access.size(); ++d) {
    Affine out(ref.access[d].constant());
    Affine in;
    int64_t size = ref.shape.dims[d].size;
    for (const auto& [name, coefficient] : ref.access[d].terms()) {
      const Cut& cut = cuts.at(name);
      if (cut.outside) out.add_term(name, coefficient * cut.outer_step);
      if (!cut.inside) continue;
      in.add_term(name, coefficient * cut.inner_step);
      const int64_t reach =
          coefficient * cut.inner_step * (std::max<int64_t>(inner_ranges.at(name), 1) - 1);
      if (reach < 0) {
        out += reach;
        in += -reach;
      }
      size += reach < 0 ? -reach : reach;
    }
    outer.access[d] = out;
    inner.access[d] = in;
    outer.shape.dims[d].size = size;
  }
}

}  // namespace

bool runs_in_its_own_way(const Block& block) {
  return !block.location.empty() || has_index_locations(block) ||
         std::any_of(block.tags.all().begin(), block.tags.all().end(), [](const stripe::Tag& tag) {
           const stripe::KnownTag* known = stripe::known_tag(tag.name);
           return known && known->of_the_block;
         });
}

void copy_tags(const stripe::Tags& from, Block& inner) {
  for (const stripe::Tag& tag : from.all())
    if (const stripe::KnownTag* known = stripe::known_tag(tag.name); !known || !known->of_the_block)
      inner.tags.set(tag.name, tag.value);
}

void drop_single_values(Block& block, const std::string& keep) {
  std::map<std::string, Affine> one;
  for (const Index& index : block.idxs)
    if (!index.affine && index.range == 1 && index.name != keep) one[index.name] = Affine(0);
  substitute_indices(block, one);
  std::erase_if(block.idxs, [&](const Index& index) { return one.count(index.name) > 0; });
}

int64_t even_size(int64_t size, int64_t range) {
  for (int64_t candidate = size; 2 * candidate > size; --candidate)
    if (range % candidate == 0) return candidate;
  return size;
}

std::string bring_in(Block& inner, const std::string& outer_index) {
  for (const Index& index : inner.idxs) {
    std::string from;
    if (index.range == 1 && index.affine && index.affine->is_single_index(&from) &&
        from == outer_index)
      return index.name;
  }
  Index index;
  index.name = inner.fresh_name(outer_index);
  index.affine = Affine::of(outer_index);
  inner.idxs.push_back(index);
  return index.name;
}

void substitute_indices(Block& block, const std::map<std::string, Affine>& forms) {
  for (Affine& constraint : block.constraints) constraint = constraint.substitute(forms);
  for (Refinement& ref : block.refs)
    for (Affine& access : ref.access) access = access.substitute(forms);
  for (stripe::LocationUnit& unit : block.location.path)
    for (Affine& form : unit.units) form = form.substitute(forms);
  for (Refinement& ref : block.refs)
    for (stripe::LocationUnit& unit : ref.location.path)
      for (Affine& form : unit.units) form = form.substitute(forms);
  substitute_in_statements(block.stmts, forms);
}

void start_indices_at_zero(Block& block) {
  std::map<std::string, Affine> forms;
  std::vector<Index> starts;
  for (Index& index : block.idxs) {
    if (!index.affine || index.range == 1) continue;
    Index start;
    start.name = block.fresh_name(index.name + "_start");
    start.affine = index.affine;
    forms[index.name] = Affine::of(index.name) + Affine::of(start.name);
    index.affine.reset();
    starts.push_back(std::move(start));
  }
  if (forms.empty()) return;
  substitute_indices(block, forms);
  for (Index& start : starts) block.idxs.push_back(std::move(start));
}

void split_block(Block& block, const std::map<std::string, int64_t>& tile, bool interleave) {
  start_indices_at_zero(block);
  Block outer;
  outer.name = std::move(block.name);
  outer.comments = std::move(block.comments);
  outer.location = std::move(block.location);
  outer.tags = block.tags;
  Block inner;

  std::map<std::string, Cut> cuts;
  std::map<std::string, int64_t> inner_ranges;
  std::vector<std::pair<std::string, int64_t>> uneven;  // index and its range
  for (const Index& index : block.idxs) {
    auto asked = tile.find(index.name);
    const int64_t size = asked == tile.end() || asked->second >= index.range
                             ? index.range
                             : std::max<int64_t>(asked->second, 1);
    Cut cut;
    cut.outside = index.affine || size < index.range;
    if (interleave && cut.outside && !index.affine)
      cut.inner_step = ceil_div(index.range, size);
    else
      cut.outer_step = size;
    cut.inside = !index.affine && (size > 1 || !cut.outside);
    if (cut.outside) {
      Index piece = index;
      if (!index.affine) piece.range = ceil_div(index.range, size);
      outer.idxs.push_back(std::move(piece));
    }
    if (cut.inside) {
      Index piece = index;
      piece.range = size;
      inner.idxs.push_back(std::move(piece));
      inner_ranges[index.name] = size;
      if (cut.outside && index.range % size != 0) uneven.emplace_back(index.name, index.range);
    }
    cuts[index.name] = cut;
  }

  for (const Refinement& ref : block.refs) {
    if (ref.dir == RefDir::none) {
      inner.refs.push_back(ref);
      continue;
    }
    Refinement out, in;
    split_ref(ref, cuts, inner_ranges, out, in);
    outer.refs.push_back(std::move(out));
    inner.refs.push_back(std::move(in));
  }

  inner.stmts = std::move(block.stmts);
  // Each original index as a form over the inner block's indices. Outer values are brought in on
  // demand. Their names must differ from those of scalars and refinements.
  std::map<std::string, Affine> forms;
  auto form_of = [&](const std::string& name) -> const Affine& {
    auto known = forms.find(name);
    if (known != forms.end()) return known->second;
    const Cut& cut = cuts.at(name);
    Affine form;
    if (cut.inside) form += Affine::of(name) * cut.inner_step;
    if (cut.outside) form += Affine::of(bring_in(inner, name)) * cut.outer_step;
    return forms[name] = form;
  };
  auto resolve = [&](const Affine& original) {
    Affine out(original.constant());
    for (const auto& [name, coefficient] : original.terms()) out += form_of(name) * coefficient;
    return out;
  };
  for (const Index& index : block.idxs)
    if (cuts.at(index.name).outside && statements_use(inner.stmts, index.name)) form_of(index.name);
  for (const Affine& constraint : block.constraints) {
    bool outside_only = true;
    for (const auto& [name, coefficient] : constraint.terms())
      outside_only &= !cuts.at(name).inside;
    if (outside_only) {
      outer.constraints.push_back(constraint);
    } else {
      inner.constraints.push_back(resolve(constraint));
    }
  }
  for (const auto& [name, range] : uneven)
    inner.constraints.push_back(Affine(range - 1) - resolve(Affine::of(name)));
  substitute_in_statements(inner.stmts, forms);
  outer.stmts.emplace_back(std::move(inner));
  block = std::move(outer);
}

}  // namespace stria::passes
