// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/peephole/load_merging.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "stria/poly/affine.h"
#include "stria/semtree/tree/expr.h"
#include "stria/semtree/tree/variables.h"

namespace stria::semtree {
namespace {

class LoadMerger {
 public:
  LoadMerger(Function& function, int64_t vector_bytes)
      : function_(function), vector_bytes_(vector_bytes) {}

  void run(Body& body) {
    Open open;
    std::vector<Vector> vectors;
    scan(body, open, vectors, false);
    rewrite(body, vectors);
  }

 private:
  using Key = std::tuple<int, int, int64_t,
                         int64_t>;  // memory, variable of the offset, lanes, number of the vector
  using Open = std::map<Key, size_t>;  // vectors that nothing has written since
  // The loads of it: their positions, and variables of those in conditions behind them.
  struct Vector {
    size_t first = SIZE_MAX;
    std::vector<size_t> whole;
    std::vector<std::vector<size_t>> lanes;  // of one element each
    std::vector<int> inner_whole;
    struct Inner {
      int var = -1;
      bool loaded = false;  // has the element been loaded by itself before?
    };
    std::vector<std::vector<Inner>> inner_lanes;
  };

  // `inner`: of a condition, whose loads may be those before it, but not the other way round.
  void scan(Body& body, Open& open, std::vector<Vector>& vectors, bool inner) {
    const auto close = [&](int memory) {
      std::erase_if(open,
                    [&](const auto& at) { return memory < 0 || std::get<0>(at.first) == memory; });
    };
    for (size_t i = 0; i < body.size(); ++i) {
      Statement& statement = body[i];
      if (auto* load = std::get_if<Load>(&statement.op)) {
        const int64_t lanes = lanes_of(load->place);
        if (lanes == 0 || kept_.count(load->var)) continue;
        const int64_t number = floor_div(load->place.constant, lanes);
        const Key key{load->place.memory, load->place.offset ? load->place.offset->var : -1, lanes,
                      number};
        auto at = open.find(key);
        if (at == open.end()) {
          if (inner) continue;
          at = open.emplace(key, vectors.size()).first;
          Vector& made = vectors.emplace_back();
          made.lanes.resize(static_cast<size_t>(lanes));
          made.inner_lanes.resize(static_cast<size_t>(lanes));
        }
        Vector& vector = vectors[at->second];
        const auto lane = static_cast<size_t>(load->place.constant - number * lanes);
        if (inner) {
          if (load->place.lanes == 1)
            vector.inner_lanes[lane].push_back({load->var, !vector.lanes[lane].empty()});
          else
            vector.inner_whole.push_back(load->var);
        } else {
          vector.first = std::min(vector.first, i);
          (load->place.lanes == 1 ? vector.lanes[lane] : vector.whole).push_back(i);
        }
      } else if (auto* store = std::get_if<Store>(&statement.op)) {
        close(store->place.memory);
      } else if (auto* branch = std::get_if<If>(&statement.op)) {
        kept_.insert(branch->kept.begin(), branch->kept.end());
        scan(branch->then, open, vectors, true);
        if (!inner) run(branch->then);
      } else if (!std::holds_alternative<Let>(statement.op)) {
        close(-1);
        if (auto* loop = std::get_if<For>(&statement.op); loop && !inner) run(loop->body);
      }
    }
  }

  // Of the vector that the place is or may be an element of; 0: none.
  int64_t lanes_of(const Place& place) const {
    if (function_.is_param(place.memory) || place.mask) return 0;
    const Array& array = function_.array(place.memory);
    if (!array.shared || array.type == DataType::boolean) return 0;
    if (place.offset && place.offset->kind != ExprKind::variable) return 0;
    const int64_t lanes = vector_bytes_ / byte_size(array.type);
    if (place.lanes != 1) return place.lanes == lanes && is_aligned(place) ? lanes : 0;
    return place.offset && place.multiple % lanes != 0 ? 1 : lanes;
  }

  static bool is_whole(const Vector& vector) {
    return !vector.whole.empty() || (vector.lanes.size() > 1 &&
                                     std::none_of(vector.lanes.begin(), vector.lanes.end(),
                                                  [](const auto& loads) { return loads.empty(); }));
  }

  void rewrite(Body& body, const std::vector<Vector>& vectors) {
    std::map<int, ExprRef> now;        // what a load's variable is now
    std::map<size_t, Statement> made;  // loads of vectors, by the position of their first one
    std::set<int> gone;                // variables whose loads go
    const auto var_of = [&](size_t position) { return std::get<Load>(body[position].op).var; };
    const auto is_now = [&](int var, const ExprRef& value) {
      gone.insert(var);
      now[var] = value;
    };
    const auto type_of = [&](int var) { return function_.vars[static_cast<size_t>(var)].type; };
    for (const Vector& vector : vectors) {
      if (is_whole(vector)) {
        Place place = std::get<Load>(body[vector.first].op).place;
        place.lanes = static_cast<int>(vector.lanes.size());
        place.constant = floor_div(place.constant, place.lanes) * place.lanes;
        int var = -1;
        if (vector.whole.empty()) {
          var = static_cast<int>(function_.vars.size());
          function_.vars.push_back(
              {fmt::format("row_{}", var), {function_.element_type(place.memory), place.lanes}});
        } else {
          var = var_of(vector.whole[0]);
          gone.insert(var);
        }
        made[vector.first] = {Load{var, place}};
        const ExprRef row = variable(var, type_of(var));
        for (const size_t at : vector.whole)
          if (var_of(at) != var) is_now(var_of(at), row);
        for (const int other : vector.inner_whole) is_now(other, row);
        for (size_t n = 0; n < vector.lanes.size(); ++n) {
          for (const size_t at : vector.lanes[n])
            is_now(var_of(at), lane(row, static_cast<int>(n)));
          for (const auto& other : vector.inner_lanes[n])
            is_now(other.var, lane(row, static_cast<int>(n)));
        }
        continue;
      }
      for (size_t n = 0; n < vector.lanes.size(); ++n) {
        const std::vector<size_t>& loads = vector.lanes[n];
        if (loads.empty()) continue;
        const ExprRef first = variable(var_of(loads[0]), type_of(var_of(loads[0])));
        for (size_t i = 1; i < loads.size(); ++i) is_now(var_of(loads[i]), first);
        for (const auto& other : vector.inner_lanes[n])
          if (other.loaded) is_now(other.var, first);
      }
    }
    if (gone.empty()) return;
    Body out;
    for (size_t i = 0; i < body.size(); ++i) {
      if (auto at = made.find(i); at != made.end()) out.push_back(std::move(at->second));
      const auto* load = std::get_if<Load>(&body[i].op);
      if (!load || !gone.count(load->var)) out.push_back(std::move(body[i]));
    }
    body = std::move(out);
    for (Statement& statement : body)
      if (auto* branch = std::get_if<If>(&statement.op)) erase(branch->then, gone);
    replace_variables(body, now);
  }

  static void erase(Body& body, const std::set<int>& gone) {
    std::erase_if(body, [&](const Statement& statement) {
      const auto* load = std::get_if<Load>(&statement.op);
      return load && gone.count(load->var) > 0;
    });
    for (Statement& statement : body)
      if (auto* branch = std::get_if<If>(&statement.op)) erase(branch->then, gone);
  }

  Function& function_;
  const int64_t vector_bytes_;
  std::set<int> kept_;  // variables that more than the body that assigns them uses
};

}  // namespace

void merge_loads(Function& function, int64_t vector_bytes) {
  LoadMerger(function, vector_bytes).run(function.body);
}

}  // namespace stria::semtree
