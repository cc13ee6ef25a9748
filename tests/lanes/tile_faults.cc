// SPDX-License-Identifier: Apache-2.0
#include "tile_faults.h"

#include <algorithm>
#include <set>

#include "stria/base/text.h"

namespace stria::lanes {
namespace {

using stripe::Block;
using stripe::Index;
using stripe::Refinement;

// Where a constraint has the last word, a change may change nothing.
bool is_clipped(const Block& block, const std::string& index) {
  return std::any_of(block.constraints.begin(), block.constraints.end(),
                     [&](const Affine& form) { return form.uses(index); });
}

// Walks the kernels and counts the changes that it could make; makes the one numbered `chosen`.
class Changes {
 public:
  explicit Changes(int64_t chosen) : chosen_(chosen) {}

  const std::string& what() const { return what_; }
  void add_all(Block& part) {
    for (stripe::Statement& statement : part.stmts) {
      Block* kernel = statement.block();
      if (!kernel) continue;
      std::set<std::string> tensors;
      for (const Refinement& ref : part.refs) tensors.insert(ref.into);
      add(*kernel, tensors, {});
    }
  }

 private:
  // `tensors`: the names in the parent that are tensors of #main; `varies`: those of its indices
  // that have more than one value.
  void add(Block& block, const std::set<std::string>& tensors,
           const std::set<std::string>& varies) {
    std::set<std::string> own, moving;
    for (const Index& index : block.idxs) {
      bool moves = index.range > 1;
      if (index.affine)
        for (const auto& [name, coefficient] : index.affine->terms()) moves |= varies.count(name);
      if (moves) moving.insert(index.name);
    }
    std::set<std::string> ranges;
    for (Refinement& ref : block.refs) {
      if (ref.dir == stripe::RefDir::none || !tensors.count(ref.from)) continue;
      own.insert(ref.into);
      if (!stripe::is_written(ref)) continue;
      for (Affine& form : ref.access) {
        const std::vector<Affine::Term> terms = form.terms();
        for (const auto& [name, coefficient] : terms) {
          if (!moving.count(name) || is_clipped(block, name)) continue;
          ranges.insert(name);
          for (const int64_t more : {-1, 1})
            if (is_chosen()) {
              what_ = fmt::format("block '{}': {} of {} in '{}' is one {}", block.name, name,
                                  form.to_string(), ref.into, more > 0 ? "more" : "less");
              form.add_term(name, more);
            }
        }
      }
    }
    for (const std::string& name : ranges) {
      Index& index = *block.find_index(name);
      if (index.range > 1 && is_chosen()) {
        what_ = fmt::format("block '{}': {} of {} is one less", block.name, name, index.range);
        --index.range;
      }
    }
    for (stripe::Statement& statement : block.stmts)
      if (Block* inner = statement.block()) add(*inner, own, moving);
  }
  bool is_chosen() { return count_++ == chosen_; }

  const int64_t chosen_;
  int64_t count_ = 0;
  std::string what_;
};

}  // namespace

std::vector<TileFault> tile_faults(const stripe::Program& device) {
  std::vector<TileFault> out;
  for (;;) {
    TileFault fault{"", device};
    Changes changes(static_cast<int64_t>(out.size()));
    changes.add_all(*fault.program.main());
    if (changes.what().empty()) return out;
    fault.what = changes.what();
    out.push_back(std::move(fault));
  }
}

}  // namespace stria::lanes
