// SPDX-License-Identifier: Apache-2.0
// Poison (S10): a load through #clamp beyond the allocation gives it, a copy (a block of one load
// and stores of its scalar) may leave it in allocations, and no executed load reads it from there.
#include <algorithm>

#include "stria/base/text.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/access_rules.h"

namespace stria::stripe {
namespace {

// Where, in the variables around the access, each part is >= 0 at points that load from outside.
std::vector<Affine> outside_forms(const Access& load) {
  std::vector<Affine> forms;
  for (size_t i = 0; i < load.view.start->size(); ++i) {
    const Affine start = (*load.view.start)[i] - (*load.view.bounds_start)[i];
    forms.push_back(Affine(-1) - start);
    forms.push_back(start + (load.extent[i] - load.view.bounds->shape.dims[i].size - 1));
  }
  return forms;
}

bool computable(const Access& load) {
  return load.level->exact && load.view.start && load.view.bounds_start;
}

// Whether some executed point loads from outside.
Result<bool> may_load_poison(const Access& load) {
  if (!computable(load)) return too_large();
  const IntegerSet points = load.level->set();
  for (const Affine& outside : outside_forms(load)) {
    IntegerSet set = points;
    set.add_ge(outside);
    STRIA_ASSIGN(bool empty, set.is_empty());
    if (!empty) return true;
  }
  return false;
}

// Is the block one load and stores of what it gave?
bool is_copy(const Block& block) {
  if (block.stmts.size() < 2) return false;
  const auto* load = std::get_if<Load>(&block.stmts[0].op);
  return load && load->at.empty() &&
         std::all_of(block.stmts.begin() + 1, block.stmts.end(), [&](const Statement& stmt) {
           const auto* store = std::get_if<Store>(&stmt.op);
           return store && store->at.empty() && store->from == load->into;
         });
}

// Whether a copy of poison and a use meet in one element, points of `shared` and around it being
// the same for both.
Result<bool> meets(const Access& load, const Access& store, const Access& use,
                   const Level* shared) {
  const AccessPair pair(store, use, shared);
  if (!pair.exact() || !computable(load)) return too_large();
  const IntegerSet meeting = pair.meeting();
  for (const Affine& outside : outside_forms(load)) {
    IntegerSet set = meeting;
    set.add_ge(pair.of_a(outside));
    STRIA_ASSIGN(bool empty, set.is_empty());
    if (!empty) return true;
  }
  return false;
}

// The elements that the access touches, beside the variables of `shared` and around it.
Result<IntegerSet> touched(const Access& access, const Level* shared) {
  const IntegerSet points = access.level->set();
  std::vector<std::string> names;
  std::vector<Affine> map;
  for (const Level* at = shared; at; at = at->around.get())
    for (const auto& variable : at->variables) {
      names.push_back(variable.first);
      map.push_back(Affine::of(variable.first));
    }
  for (size_t i = 0; i < access.extent.size(); ++i) {
    names.push_back(fmt::format("element@{}", i));
    map.push_back((*access.view.start)[i]);
  }
  return points.image(names, map);
}

// Whether the store writes all that the use reads afterwards at the same point of `shared`.
Result<bool> written_anew(const Access& store, const Access& use, const Level* shared) {
  auto one_element = [](const Access& access) {
    return std::all_of(access.extent.begin(), access.extent.end(),
                       [](int64_t size) { return size == 1; });
  };
  if (!one_element(store) || !one_element(use)) return false;
  auto position_in = [&](const Access& access) {
    const Level* at = access.level.get();
    while (at->around.get() != shared) at = at->around.get();
    return at->position;
  };
  if (store.level.get() == shared || use.level.get() == shared ||
      position_in(store) >= position_in(use))
    return false;
  STRIA_ASSIGN(IntegerSet reads, touched(use, shared));
  STRIA_ASSIGN(IntegerSet writes, touched(store, shared));
  return reads.is_subset_of(writes);
}

void check_use(const Place& place, const Level& owner, const Access& load, const Access& store,
               const Access& use, Verdicts& verdicts) {
  const std::string& name = store.view.allocation->into;
  const std::string what = fmt::format("it loads poison of '{}'", name);
  Result<bool> any = meets(load, store, use, &owner);
  if (!any.ok()) return verdicts.undecided(place, *use.ref, what, any.status());
  if (!*any) return;
  const Level* shared = common_level(store.level.get(), use.level.get());
  Result<bool> same = meets(load, store, use, shared);
  if (!same.ok()) return verdicts.undecided(place, *use.ref, what, same.status());
  if (!*same) {
    // What another point of the blocks around both left is overwritten first.
    Result<bool> anew = written_anew(store, use, shared);
    if (!anew.ok()) return verdicts.undecided(place, *use.ref, what, anew.status());
    if (*anew) return;
  }
  verdicts.findings.add(
      place, *store.view.allocation,
      fmt::format("an executed load through `{}` reads elements that `{}` filled from outside of "
                  "'{}' (poison)",
                  print_line(*use.ref), print_line(*load.ref), load.view.bounds->into));
}

}  // namespace

void check_clamped_loads(const Place& place, const std::vector<Access>& own, Verdicts& verdicts) {
  for (const Access& load : own) {
    if (load.writes || load.view.beyond != View::Beyond::poison) continue;
    Result<bool> poison = may_load_poison(load);
    if (!poison.ok()) {
      verdicts.undecided(place, *load.ref, "it loads from outside (poison)", poison.status());
      continue;
    }
    if (!*poison) continue;
    if (!is_copy(*place.block)) {
      verdicts.findings.add(place, *load.ref,
                            "a load from outside gives poison, which only a copy may take: one "
                            "load, and stores of its scalar");
      continue;
    }
    for (const Access& store : own) {
      if (!store.writes) continue;
      if (store.view.depth == 0)
        verdicts.findings.add(
            place, *store.ref,
            fmt::format("poison reaches '{}', a tensor of the program: `{}` is loaded from outside",
                        store.view.allocation->into, print_line(*load.ref)));
      else if (store.ref->agg)
        verdicts.findings.add(
            place, *store.ref,
            fmt::format("poison is combined into '{}': `{}` is loaded from outside",
                        store.view.allocation->into, print_line(*load.ref)));
    }
  }
}

void check_poison(const Place& place, const Level& level, const std::vector<Access>& inside,
                  Verdicts& verdicts) {
  for (const Access& load : inside) {
    if (load.writes || load.view.beyond != View::Beyond::poison) continue;
    if (!is_copy(*load.level->block)) continue;
    std::vector<const Access*> stores;  // to what the block allocates
    for (const Access& access : inside)
      if (access.writes && access.level == load.level && access.view.depth == place.depth)
        stores.push_back(&access);
    if (stores.empty()) continue;
    Result<bool> poison = may_load_poison(load);
    if (!poison.ok() || !*poison) continue;  // undecided was said where the load stands
    for (const Access* store : stores)
      for (const Access& use : inside)
        if (!use.writes && use.view.allocation == store->view.allocation)
          check_use(place, level, load, *store, use, verdicts);
  }
}

}  // namespace stria::stripe
