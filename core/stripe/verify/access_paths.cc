// SPDX-License-Identifier: Apache-2.0
#include "stria/stripe/verify/access_paths.h"
#include "stria/stripe/agents.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/poly/index_forms.h"
#include "stria/stripe/tags.h"

namespace stria::stripe {
std::optional<Affine> compose(const Affine& form, const std::map<std::string, Affine>& values) {
  auto composed = substitute_checked(form, values);
  if (!composed.ok() || !is_small(*composed)) return std::nullopt;
  return std::move(composed).value();
}

std::string plain_name(const std::string& variable) {
  return variable.substr(0, variable.find('@'));
}

std::string plain_names(const std::vector<std::string>& variables) {
  std::vector<std::string> names;
  for (const std::string& variable : variables) names.push_back(plain_name(variable));
  return join(names, ", ");
}

LevelPtr make_level(const Place& place, LevelPtr around, Ranges& box) {
  auto level = std::make_shared<Level>();
  static_cast<BlockPoints&>(*level) = points_of(*place.block, around.get(), place.depth);
  level->around = std::move(around);
  level->block = place.block;
  level->position = place.position;
  level->depth = place.depth;
  for (const auto& [name, range] : level->variables) box[name] = range;
  return level;
}

bool is_argument(const Refinement& ref, int depth) { return depth == 1 && ref.dir != RefDir::none; }

View make_view(const Refinement& ref, const Level& level,
               const std::map<std::string, View>& outer) {
  View view;
  if (ref.dir == RefDir::none) {
    view.allocation = view.bounds = &ref;
    view.depth = level.depth;
    view.start = view.bounds_start = std::vector<Affine>(ref.shape.rank());
  } else {
    view = outer.at(ref.from);
  }
  if (!ref.agg) {
    view.chain = nullptr;
  } else if (!view.chain) {
    view.chain = &ref;
    view.chain_depth = level.depth;
  }
  if (ref.tags.has(tag::kClamp)) view.beyond = View::Beyond::poison;
  if (ref.tags.has(tag::kZeroFill)) view.beyond = View::Beyond::zero;
  if (!view.start) return view;
  for (size_t i = 0; i < ref.access.size(); ++i) {
    auto composed = compose(ref.access[i], level.forms);
    if (composed) *composed += (*view.start)[i];
    if (!composed || !is_small(*composed)) {
      view.start.reset();
      break;
    }
    (*view.start)[i] = std::move(*composed);
  }
  if (is_argument(ref, level.depth)) {
    view.bounds = &ref;
    view.bounds_start = view.start;
  }
  return view;
}

std::vector<Access> own_accesses(const LevelPtr& level, const std::map<std::string, View>& views) {
  std::vector<Access> own;
  auto touch = [&](const std::string& name, bool writes) {
    const Refinement& ref = *level->block->find_ref(name);
    if (std::any_of(own.begin(), own.end(),
                    [&](const Access& a) { return a.ref == &ref && a.writes == writes; }))
      return;
    own.push_back({level, views.at(name), &ref, {}, writes});
    for (const Dim& dim : ref.shape.dims) own.back().extent.push_back(dim.size);
  };
  for (const Statement& stmt : level->block->stmts) {
    if (auto* s = std::get_if<Load>(&stmt.op)) touch(s->from, false);
    if (auto* s = std::get_if<Store>(&stmt.op)) touch(s->into, true);
    if (is_wait(stmt) || is_arrive(stmt)) continue;  // a phase holds no element
    if (auto* s = stmt.special()) {
      for (const std::string& name : s->inputs) touch(name, false);
      for (const std::string& name : s->outputs) touch(name, true);
    }
  }
  return own;
}

void collect_accesses(const Place& place, const LevelPtr& outer,
                      const std::map<std::string, View>& outer_views, std::vector<Access>& all) {
  const Block& block = *place.block;
  if (std::any_of(block.idxs.begin(), block.idxs.end(),
                  [](const Index& i) { return i.range == 0; }))
    return;
  Ranges box;
  const LevelPtr level = make_level(place, outer, box);
  std::map<std::string, View> views;
  for (const Refinement& ref : block.refs) views[ref.into] = make_view(ref, *level, outer_views);
  std::vector<Access> own = own_accesses(level, views);
  std::move(own.begin(), own.end(), std::back_inserter(all));
  for (size_t i = 0; i < block.stmts.size(); ++i)
    if (const Block* inner = block.stmts[i].block())
      collect_accesses({&place, inner, i, place.depth + 1, {}}, level, views, all);
}

std::vector<std::string> located_variables(const Level& level) {
  std::vector<std::string> found;
  for (const Index& index : level.block->idxs) {
    if (index.range == 1) continue;
    const auto& path = level.block->location.path;
    if (std::any_of(path.begin(), path.end(), [&](const LocationUnit& unit) {
          return std::any_of(unit.units.begin(), unit.units.end(),
                             [&](const Affine& form) { return form.uses(index.name); });
        }))
      found.push_back(fmt::format("{}@{}", index.name, level.depth));
  }
  return found;
}

bool run_in_one_aggregation(const Access& a, const Access& b, int depth) {
  return a.view.allocation == b.view.allocation && a.view.depth < depth && a.writes && b.writes &&
         a.ref->agg && a.ref->agg == b.ref->agg && a.view.chain == b.view.chain &&
         a.view.chain_depth <= depth;
}

AccessPair::AccessPair(const Access& a, const Access& b, const Level* shared) : a_(a), b_(b) {
  for (const Level* at = shared; at; at = at->around.get())
    for (const auto& variable : at->variables) shared_.insert(variable.first);
}

bool AccessPair::exact() const {
  return a_.view.start && b_.view.start && a_.level->exact && b_.level->exact;
}

Affine AccessPair::copy(const Affine& form, char mark) const {
  return form.rename(
      [&](const std::string& name) { return shared_.count(name) ? name : name + mark; });
}

IntegerSet AccessPair::meeting() const {
  std::map<std::string, Interval> dims;
  std::vector<Affine> constraints;
  auto add = [&](const Access& access, char mark) {
    for (const Level* at = access.level.get(); at; at = at->around.get()) {
      for (const auto& [name, range] : at->variables)
        dims[shared_.count(name) ? name : name + mark] = range;
      for (const Affine& form : at->constraints) constraints.push_back(copy(form, mark));
    }
  };
  add(a_, 'a');
  add(b_, 'b');
  IntegerSet set = IntegerSet::box({dims.begin(), dims.end()});
  for (const Affine& form : constraints) set.add_ge(form);
  for (size_t i = 0; i < a_.view.start->size(); ++i) {
    const Affine distance = of_b((*b_.view.start)[i]) - of_a((*a_.view.start)[i]);
    if (a_.extent[i] == 1 && b_.extent[i] == 1) {
      set.add_eq(distance);
      continue;
    }
    set.add_ge(distance + (b_.extent[i] - 1));
    set.add_ge(Affine(a_.extent[i] - 1) - distance);
  }
  return set;
}

const Level* common_level(const Level* a, const Level* b) {
  while (a != b) {
    if (!a || !b) return nullptr;
    if (a->depth > b->depth) {
      a = a->around.get();
    } else if (b->depth > a->depth) {
      b = b->around.get();
    } else {
      a = a->around.get();
      b = b->around.get();
    }
  }
  return a;
}

}  // namespace stria::stripe
