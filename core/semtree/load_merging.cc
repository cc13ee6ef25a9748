// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/load_merging.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "stria/poly/affine.h"
#include "stria/semtree/expr.h"

namespace stria::semtree {
namespace {

class LoadMerger {
 public:
  LoadMerger(Function& function, int64_t vector_bytes)
      : function_(function), vector_bytes_(vector_bytes) {}

  void run(Body& body) {
    std::map<Key, Group> open;
    std::map<size_t, Group> merged;  // by the position of the first load
    const auto close = [&](int memory) {
      for (auto at = open.begin(); at != open.end();)
        at = memory < 0 || std::get<0>(at->first) == memory ? open.erase(at) : std::next(at);
    };
    for (size_t i = 0; i < body.size(); ++i) {
      Statement& statement = body[i];
      if (auto* load = std::get_if<Load>(&statement.op)) {
        const int64_t lanes = lanes_of(load->place);
        if (lanes <= 1) continue;
        const int64_t vector = floor_div(load->place.constant, lanes);
        const int offset = load->place.offset ? load->place.offset->var : -1;
        Group& group = open[{load->place.memory, offset, vector}];
        group.loads.resize(static_cast<size_t>(lanes), kNone);
        size_t& own = group.loads[static_cast<size_t>(load->place.constant - vector * lanes)];
        if (own != kNone) continue;  // a second load of the element stays as it is
        own = i;
        if (std::count(group.loads.begin(), group.loads.end(), kNone) == 0)
          merged[*std::min_element(group.loads.begin(), group.loads.end())] = group;
      } else if (auto* store = std::get_if<Store>(&statement.op)) {
        close(store->place.memory);
      } else if (!std::holds_alternative<Let>(statement.op)) {
        close(-1);
        if (auto* loop = std::get_if<For>(&statement.op)) run(loop->body);
        if (auto* branch = std::get_if<If>(&statement.op)) run(branch->then);
      }
    }
    if (!merged.empty()) rewrite(body, merged);
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;
  using Key = std::tuple<int, int, int64_t>;  // memory, variable of the offset, number of the vector
  struct Group {
    std::vector<size_t> loads;  // positions, by lane
  };

  // Of the vector that the place may be an element of; 1: none.
  int64_t lanes_of(const Place& place) const {
    if (function_.is_param(place.memory) || place.lanes != 1 || place.mask) return 1;
    const Array& array = function_.array(place.memory);
    if (!array.shared || array.type == DataType::boolean) return 1;
    if (place.offset && place.offset->kind != ExprKind::variable) return 1;
    const int64_t lanes = vector_bytes_ / byte_size(array.type);
    return place.offset && place.multiple % lanes != 0 ? 1 : lanes;
  }

  void rewrite(Body& body, const std::map<size_t, Group>& merged) {
    std::map<size_t, ExprRef> lane_at;  // what a load's variable is now
    Body out;
    for (size_t i = 0; i < body.size(); ++i) {
      if (auto at = merged.find(i); at != merged.end()) {
        Place place = std::get<Load>(body[i].op).place;
        place.lanes = static_cast<int>(at->second.loads.size());
        place.constant = floor_div(place.constant, place.lanes) * place.lanes;
        const Type type{function_.element_type(place.memory), place.lanes};
        const int var = static_cast<int>(function_.vars.size());
        function_.vars.push_back({fmt::format("row_{}", var), type});
        out.push_back({Load{var, place}});
        for (size_t n = 0; n < at->second.loads.size(); ++n)
          lane_at[at->second.loads[n]] = lane(variable(var, type), static_cast<int>(n));
      }
      auto lane = lane_at.find(i);
      if (lane == lane_at.end())
        out.push_back(std::move(body[i]));
      else
        out.push_back({Let{std::get<Load>(body[i].op).var, lane->second}});
    }
    body = std::move(out);
  }

  Function& function_;
  const int64_t vector_bytes_;
};

}  // namespace

void merge_loads(Function& function, int64_t vector_bytes) {
  LoadMerger(function, vector_bytes).run(function.body);
}

}  // namespace stria::semtree
