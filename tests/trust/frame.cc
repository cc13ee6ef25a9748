// SPDX-License-Identifier: Apache-2.0
#include "frame.h"

#include <algorithm>
#include <set>

namespace stria::trust {

using stripe::RefDir;

std::string Frame::new_index_name(uint64_t choice) const {
  static const std::vector<std::string> names = {"i", "j", "k", "x", "y", "n"};
  std::string base = names[choice % names.size()], name = base;
  for (int n = 0; block.find_index(name); ++n) name = base + "_" + std::to_string(n);
  return name;
}

std::string Frame::new_view_name(const std::string& base) const {
  std::string name = base;
  for (int n = 1; block.find_ref(name); ++n) name = base + "_" + std::to_string(n);
  return name;
}

View* Frame::find(const std::string& name) {
  for (View& view : views)
    if (view.ref.into == name) return &view;
  return nullptr;
}

std::string Frame::bring(const std::string& outer_index) {
  auto known = brought.find(outer_index);
  if (known != brought.end()) return known->second;
  std::string name = outer_index;
  for (int n = 0; block.find_index(name); ++n) name = outer_index + "_" + std::to_string(n);
  block.idxs.push_back({name, 1, Affine::of(outer_index), {}});
  box[name] = outer->box.at(outer_index);
  brought[outer_index] = name;
  return name;
}

Affine Frame::translate(const Affine& outer_form) {
  return outer_form.rename([&](const std::string& name) { return bring(name); });
}

bool Frame::holds(const Affine& form) const {
  if (interval_of(form, box).lower >= 0) return true;
  return std::any_of(block.constraints.begin(), block.constraints.end(), [&](const Affine& known) {
    const Affine rest = form - known;
    return rest.is_constant() && rest.constant() >= 0;
  });
}

void Frame::cut(const Affine& form) {
  if (!holds(form)) block.constraints.push_back(form);
}

Reach reach_inside(Frame& frame, const View& around, const std::vector<Affine>& access,
                   const std::vector<int64_t>& sizes, bool overhang) {
  Reach reach;
  for (size_t d = 0; d < access.size(); ++d) {
    std::vector<Affine> lower, upper;
    if (!overhang) {
      lower.push_back(Affine(0));
      upper.push_back(Affine(sizes[d] - 1));
    }
    for (const Affine& form : around.lower[d]) {
      const Affine here = frame.translate(form) - access[d];
      if (overhang || interval_of(here, frame.box).upper > 0) lower.push_back(here);
    }
    for (const Affine& form : around.upper[d]) {
      const Affine here = frame.translate(form) - access[d];
      if (overhang || interval_of(here, frame.box).lower < sizes[d] - 1) upper.push_back(here);
    }
    reach.lower.push_back(std::move(lower));
    reach.upper.push_back(std::move(upper));
  }
  return reach;
}

namespace {

// What a statement does to scalars and allocations.
struct Uses {
  std::set<std::string> defines, reads;  // scalars
  std::set<int> loads, stores;           // allocations
};

Uses uses_of(Frame& frame, const stripe::Statement& stmt) {
  Uses uses;
  auto load = [&](const std::string& name) { uses.loads.insert(frame.find(name)->tensor); };
  auto store = [&](const std::string& name) {
    const View* view = frame.find(name);
    uses.stores.insert(view->tensor);
  };
  auto read = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (!name.empty()) uses.reads.insert(name);
  };
  if (auto* s = std::get_if<stripe::Load>(&stmt.op)) {
    load(s->from);
    read(s->at);
    uses.defines.insert(s->into);
  } else if (auto* s = std::get_if<stripe::Store>(&stmt.op)) {
    store(s->into);
    read(s->at);
    read({s->from});
  } else if (auto* s = std::get_if<stripe::LoadIndex>(&stmt.op)) {
    uses.defines.insert(s->into);
  } else if (auto* s = std::get_if<stripe::Constant>(&stmt.op)) {
    uses.defines.insert(s->into);
  } else if (auto* s = std::get_if<stripe::Intrinsic>(&stmt.op)) {
    read(s->inputs);
    uses.defines.insert(s->outputs.begin(), s->outputs.end());
  } else if (auto* s = stmt.special()) {
    for (const std::string& name : s->inputs) load(name);
    for (const std::string& name : s->outputs) store(name);
  } else if (const stripe::Block* inner = stmt.block()) {
    for (const stripe::Refinement& ref : inner->refs) {
      if (ref.dir == RefDir::in || ref.dir == RefDir::inout) load(ref.from);
      if (ref.dir == RefDir::out || ref.dir == RefDir::inout) store(ref.from);
    }
  }
  return uses;
}

template <typename T>
bool meet(const std::set<T>& a, const std::set<T>& b) {
  return std::any_of(a.begin(), a.end(), [&](const T& one) { return b.count(one) > 0; });
}

}  // namespace

void write_dependencies(Frame& frame, bool sparse) {
  std::vector<stripe::Statement>& stmts = frame.block.stmts;
  std::vector<Uses> all;
  std::vector<std::set<int64_t>> before;  // all that a statement waits for, also through others
  for (size_t i = 0; i < stmts.size(); ++i) {
    all.push_back(uses_of(frame, stmts[i]));
    before.emplace_back();
    stmts[i].deps.clear();
    for (size_t j = i; j-- > 0;) {
      if (sparse && before[i].count(static_cast<int64_t>(j))) continue;
      if (!meet(all[j].defines, all[i].reads) && !meet(all[j].stores, all[i].loads) &&
          !meet(all[j].loads, all[i].stores) && !meet(all[j].stores, all[i].stores))
        continue;
      stmts[i].deps.push_back(static_cast<int64_t>(j));
      before[i].insert(static_cast<int64_t>(j));
      before[i].insert(before[j].begin(), before[j].end());
    }
    std::sort(stmts[i].deps.begin(), stmts[i].deps.end());
  }
  frame.block.tags.set("deps");
}

}  // namespace stria::trust
