// SPDX-License-Identifier: Apache-2.0
#include "stria/rewrite/shared_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "stria/rewrite/index_role.h"
#include "stria/rewrite/statement_list.h"

namespace stria::passes {
namespace {

using stripe::Block;

// Which allocations have the bytes of one memory while the statements are visited in order.
class Occupants {
 public:
  // Adds to `to` the statements that used bytes of [begin, end) as the allocation that had them
  // just before this one.
  void add_others(size_t allocation, int64_t begin, int64_t end, std::set<size_t>& to) const {
    for (auto at = parts_.upper_bound(begin); at != parts_.end() && at->second.begin < end; ++at) {
      const Part& part = at->second;
      const std::vector<size_t>& users = part.allocation == allocation ? part.before : part.users;
      to.insert(users.begin(), users.end());
    }
  }

  void use(size_t allocation, int64_t begin, int64_t end, size_t statement) {
    cut(begin);
    cut(end);
    int64_t next = begin;  // the first byte that is not handled yet
    for (auto at = parts_.upper_bound(begin); next < end; ++at) {
      const int64_t free_end = at == parts_.end() ? end : std::min(end, at->second.begin);
      if (next < free_end) at = parts_.emplace(free_end, Part{next, allocation, {}, {}}).first;
      Part& part = at->second;
      if (part.allocation != allocation) {
        part.before = std::move(part.users);
        part.users.clear();
        part.allocation = allocation;
      }
      part.users.push_back(statement);
      next = at->first;
    }
  }

 private:
  struct Part {
    int64_t begin = 0;
    size_t allocation = 0;
    std::vector<size_t> users, before;  // of this allocation, and of the one before
  };

  // Splits a part that has bytes on both sides of `at`.
  void cut(int64_t at) {
    const auto found = parts_.upper_bound(at);
    if (found == parts_.end() || found->second.begin >= at) return;
    Part low = found->second;
    found->second.begin = at;
    parts_.emplace(at, std::move(low));
  }

  std::map<int64_t, Part> parts_;  // by their end
};

// Equal texts mean equal units. All numbers are constants.
std::string text_of(const stripe::Location& location) {
  std::string out;
  for (const stripe::LocationUnit& unit : location.path) {
    out += unit.name;
    for (const Affine& form : unit.units) out += fmt::format("[{}]", form.constant());
    out += '/';
  }
  return out;
}

}  // namespace

SharedBytes::SharedBytes(const Block& entry) : lives_(entry) {
  std::map<std::string, size_t> known;
  for (size_t a = 0; a < lives_.all().size(); ++a) {
    const stripe::LiveAllocation& allocation = lives_.all()[a];
    by_owner_[allocation.owner].push_back(a);
    const stripe::Location& location = allocation.ref->location;
    // If an index chooses the instance, the allocation is compared with each other one.
    const std::string text = names_index(location) ? fmt::format("/{}", a) : text_of(location);
    const auto [at, added] = known.emplace(text, first_.size());
    if (added) first_.push_back(a);
    memory_.push_back(at->second);
  }
}

std::vector<std::vector<size_t>> SharedBytes::of(const Block& block) const {
  const std::vector<std::set<size_t>> used = used_in(block);
  std::map<size_t, Occupants> occupants;  // by memory
  std::vector<std::vector<size_t>> out(used.size());
  for (size_t b = 0; b < used.size(); ++b) {
    std::set<size_t> others;
    for (const size_t a : used[b]) {
      const int64_t begin = lives_.all()[a].ref->offset_bytes;
      for (const auto& [memory, there] : occupants)
        if (lives_.may_be_one_memory(first_[memory], a))
          there.add_others(a, begin, begin + lives_.all()[a].bytes, others);
    }
    for (const size_t a : used[b]) {
      const int64_t begin = lives_.all()[a].ref->offset_bytes;
      occupants[memory_[a]].use(a, begin, begin + lives_.all()[a].bytes, b);
    }
    out[b].assign(others.begin(), others.end());
  }
  return out;
}

// For each statement, the allocations that it uses.
std::vector<std::set<size_t>> SharedBytes::used_in(const Block& block) const {
  std::vector<std::set<size_t>> used(block.stmts.size());
  const StatementUsers users(block);
  if (const auto own = by_owner_.find(&block); own != by_owner_.end())
    for (const size_t a : own->second)
      for (const size_t stmt : users.of(lives_.all()[a].ref->into)) used[stmt].insert(a);
  for (size_t i = 0; i < block.stmts.size(); ++i)
    if (const Block* inner = block.stmts[i].block()) add_inside(*inner, used[i]);
  return used;
}

void SharedBytes::add_inside(const Block& block, std::set<size_t>& used) const {
  if (const auto own = by_owner_.find(&block); own != by_owner_.end())
    used.insert(own->second.begin(), own->second.end());
  for (const stripe::Statement& stmt : block.stmts)
    if (const Block* inner = stmt.block()) add_inside(*inner, used);
}

}  // namespace stria::passes
