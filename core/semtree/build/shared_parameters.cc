// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/build/shared_parameters.h"

#include <algorithm>
#include <set>
#include <vector>

#include "stria/semtree/tree/variables.h"

namespace stria::semtree {
namespace {

// Alias groups.
struct Touched {
  std::set<int> loaded, stored;

  void add(const Touched& other) {
    loaded.insert(other.loaded.begin(), other.loaded.end());
    stored.insert(other.stored.begin(), other.stored.end());
  }
};

class SharedParameters {
 public:
  explicit SharedParameters(Function& function) : function_(function) {}

  void run() {
    body(function_.body, {}, {});
    for (Parameter& param : function_.params) param.shared = shared_.count(param.alias_group) > 0;
  }

 private:
  Touched touched_by(const Statement& statement) const {
    Touched out;
    const auto add = [&](int memory, std::set<int>& to) {
      if (function_.is_param(memory))
        to.insert(function_.params[static_cast<size_t>(memory)].alias_group);
    };
    if (auto* load = std::get_if<Load>(&statement.op)) add(load->place.memory, out.loaded);
    if (auto* load = std::get_if<MatrixLoad>(&statement.op))
      add(load->from.place.memory, out.loaded);
    std::set<int> written;
    add_written(statement, written);
    for (const int memory : written) add(memory, out.stored);
    if (auto* loop = std::get_if<For>(&statement.op)) out.add(touched_by(loop->body));
    if (auto* branch = std::get_if<If>(&statement.op)) out.add(touched_by(branch->then));
    return out;
  }

  Touched touched_by(const Body& body) const {
    Touched out;
    for (const Statement& statement : body) out.add(touched_by(statement));
    return out;
  }

  void body(Body& body, Touched before, const Touched& behind) {
    std::vector<Touched> rest(body.size() + 1,
                              behind);  // what comes behind each statement, from 1 on
    for (size_t i = body.size(); i-- > 1;) {
      rest[i] = rest[i + 1];
      rest[i].add(touched_by(body[i]));
    }
    for (size_t i = 0; i < body.size(); ++i) {
      Statement& statement = body[i];
      if (auto* barrier = std::get_if<Barrier>(&statement.op)) {
        barrier->parameters = hands_on(before, rest[i + 1]);
      } else if (auto* branch = std::get_if<If>(&statement.op)) {
        this->body(branch->then, before, rest[i + 1]);
      } else if (auto* loop = std::get_if<For>(&statement.op)) {
        Touched around = touched_by(statement), after = around;
        around.add(before);
        after.add(rest[i + 1]);
        this->body(loop->body, around, after);
      }
      before.add(touched_by(statement));
    }
  }

  bool hands_on(const Touched& before, const Touched& behind) {
    bool found = false;
    const auto meet = [&](const std::set<int>& a, const std::set<int>& b) {
      for (const int group : a)
        if (b.count(group)) {
          shared_.insert(group);
          found = true;
        }
    };
    meet(before.stored, behind.loaded);
    meet(before.stored, behind.stored);
    meet(before.loaded, behind.stored);
    return found;
  }

  Function& function_;
  std::set<int> shared_;
};

}  // namespace

void find_shared_parameters(Function& function) { SharedParameters(function).run(); }

}  // namespace stria::semtree
