// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/shrink_edits.h"

#include <algorithm>
#include <map>
#include <set>

#include "stria/stripe/scalar_types.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/walk.h"

namespace stria {

using namespace stripe;

namespace {

// All blocks, a parent before its children: their numbers are the places of edits.
void collect(Block& block, std::vector<Block*>& all) {
  all.push_back(&block);
  for (Statement& stmt : block.stmts)
    if (Block* inner = stmt.block()) collect(*inner, all);
}
std::vector<Block*> blocks_of(Program& program) {
  std::vector<Block*> all;
  collect(program.entry, all);
  return all;
}
std::vector<const Block*> blocks_of(const Program& program) {
  std::vector<Block*> all = blocks_of(const_cast<Program&>(program));
  return {all.begin(), all.end()};
}
// Null if an edit before this one has removed it.
Block* block_at(Program& program, size_t number) {
  std::vector<Block*> all = blocks_of(program);
  return number < all.size() ? all[number] : nullptr;
}

bool is_main_or_program(const Block& block) {
  return block.tags.has(stripe::tag::kMain) || block.tags.has(stripe::tag::kProgram);
}

// What waited for a statement that goes waits for what that waited for.
void erase_statements(Block& block, const std::vector<bool>& stays) {
  std::vector<int64_t> position(block.stmts.size(), -1);
  std::vector<std::vector<int64_t>> waits(block.stmts.size());
  std::vector<Statement> kept;
  for (size_t i = 0; i < block.stmts.size(); ++i) {
    std::set<int64_t> deps;
    for (int64_t dep : block.stmts[i].deps) {
      const auto at = static_cast<size_t>(dep);
      if (dep < 0 || at >= i) continue;
      if (position[at] >= 0)
        deps.insert(position[at]);
      else
        deps.insert(waits[at].begin(), waits[at].end());
    }
    waits[i].assign(deps.begin(), deps.end());
    if (!stays[i]) continue;
    position[i] = static_cast<int64_t>(kept.size());
    block.stmts[i].deps = waits[i];
    kept.push_back(std::move(block.stmts[i]));
  }
  block.stmts = std::move(kept);
}

// f(form) for every affine form over the block's own indices.
template <typename F>
void for_each_form(Block& block, F f) {
  for (Affine& form : block.constraints) f(form);
  auto location = [&](Location& at) {
    for (LocationUnit& unit : at.path)
      for (Affine& form : unit.units) f(form);
  };
  location(block.location);
  for (Refinement& ref : block.refs) {
    for (Affine& form : ref.access) f(form);
    location(ref.location);
  }
  for (Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<LoadIndex>(&stmt.op)) f(s->from);
    if (Block* inner = stmt.block())
      for (Index& index : inner->idxs)
        if (index.affine) f(*index.affine);
  }
}

// f(view, its block) for every view of the block's refinement `name`, and of those.
template <typename F>
void for_each_view(Block& block, const std::string& name, F f) {
  for (Statement& stmt : block.stmts)
    if (Block* inner = stmt.block())
      for (Refinement& ref : inner->refs)
        if (ref.dir != RefDir::none && ref.from == name) {
          f(ref, *inner);
          for_each_view(*inner, ref.into, f);
        }
}

// An edit of each block, the last first.
template <typename F>
std::vector<Edit> per_block(const Program& program, F edit) {
  std::vector<Edit> edits;
  for (size_t b = blocks_of(program).size(); b-- > 0;)
    edits.push_back([b, edit](Program& p) {
      Block* block = block_at(p, b);
      return block && edit(*block);
    });
  return edits;
}

// An edit of each thing that `count` counts in a block, the last first.
template <typename Count, typename F>
std::vector<Edit> per_thing(const Program& program, Count count, F edit) {
  std::vector<Edit> edits;
  const std::vector<const Block*> all = blocks_of(program);
  for (size_t b = all.size(); b-- > 0;)
    for (size_t n = count(*all[b]); n-- > 0;)
      edits.push_back([b, n, count, edit](Program& p) {
        Block* block = block_at(p, b);
        return block && n < count(*block) && edit(*block, n);
      });
  return edits;
}

constexpr auto kRefs = [](const Block& block) { return block.refs.size(); };
constexpr auto kStmts = [](const Block& block) { return block.stmts.size(); };
constexpr auto kIdxs = [](const Block& block) { return block.idxs.size(); };
constexpr auto kConstraints = [](const Block& block) { return block.constraints.size(); };

// --- statements and blocks -----------------------------------------------------------------------

std::vector<Edit> drop_statements(const Program& program) {
  std::vector<Edit> edits;
  const std::vector<const Block*> all = blocks_of(program);
  for (size_t b = 0; b < all.size(); ++b) {
    const size_t count = all[b]->stmts.size();
    for (size_t size = count; size > 0; size = size > 1 ? (size + 1) / 2 : 0)
      for (size_t end = count; end > 0; end -= std::min(size, end)) {
        const size_t begin = end - std::min(size, end);
        edits.push_back([b, begin, end](Program& p) {
          Block* block = block_at(p, b);
          if (!block || end > block->stmts.size()) return false;
          std::vector<bool> stays(block->stmts.size(), true);
          std::fill(stays.begin() + static_cast<std::ptrdiff_t>(begin),
                    stays.begin() + static_cast<std::ptrdiff_t>(end), false);
          // #main is what makes it a program.
          for (size_t i = begin; i < end; ++i)
            if (const Block* inner = block->stmts[i].block();
                inner && inner->tags.has(stripe::tag::kMain))
              stays[i] = true;
          erase_statements(*block, stays);
          return true;
        });
      }
  }
  return edits;
}

// The inner blocks of `block`, as they would stand in `around` in its place.
std::vector<Statement> unwrapped(Block& around, const Block& block) {
  std::vector<Statement> out;
  std::map<std::string, std::string> moved;  // allocations, to their new names
  for (const Statement& stmt : block.stmts) {
    if (!stmt.block()) continue;
    Block inner = *stmt.block();
    std::map<std::string, Affine> outer, here;  // block's indices over around's, and over inner's
    for (const Index& index : block.idxs) {
      outer[index.name] = index.affine.value_or(Affine(0));
      here[index.name] = Affine(0);
    }
    for (Index& index : inner.idxs) {
      if (!index.affine) continue;
      std::string name;
      if (index.range == 1 && index.affine->is_single_index(&name))
        here[name] = Affine::of(index.name);
      index.affine = index.affine->substitute(outer);
    }
    for (Refinement& ref : inner.refs) {
      if (ref.dir == RefDir::none) continue;
      const Refinement* view = block.find_ref(ref.from);
      if (!view) continue;
      if (view->dir == RefDir::none) {
        auto [place, is_new] = moved.emplace(view->into, "");
        if (is_new) {
          Refinement buffer = *view;
          place->second = buffer.into = around.fresh_name(buffer.into);
          buffer.location = {};
          around.refs.push_back(std::move(buffer));
        }
        ref.from = place->second;
        continue;
      }
      ref.from = view->from;
      if (ref.access.size() == view->access.size())
        for (size_t d = 0; d < ref.access.size(); ++d)
          ref.access[d] += view->access[d].substitute(here);
    }
    if (block.tags.has(stripe::tag::kKernel)) inner.tags.set(stripe::tag::kKernel);
    out.emplace_back(std::move(inner));
  }
  return out;
}

std::vector<Edit> unwrap_blocks(const Program& program) {
  return per_thing(program, kStmts, [](Block& block, size_t n) {
    const Block* inner = block.stmts[n].block();
    if (!inner || is_main_or_program(*inner) || inner->tags.has(stripe::tag::kPrologue))
      return false;
    const Block old = *inner;
    std::vector<Statement> parts = unwrapped(block, old);
    if (parts.empty()) return false;
    if (parts.size() == 1) {
      parts[0].deps = block.stmts[n].deps;
      block.stmts[n] = std::move(parts[0]);
      return true;
    }
    for (Statement& stmt : block.stmts) stmt.deps.clear();
    block.tags.remove(stripe::tag::kDeps);
    block.stmts.erase(block.stmts.begin() + static_cast<std::ptrdiff_t>(n));
    block.stmts.insert(block.stmts.begin() + static_cast<std::ptrdiff_t>(n),
                       std::make_move_iterator(parts.begin()),
                       std::make_move_iterator(parts.end()));
    return true;
  });
}

// A block whose only statement is a block becomes one block with the indices and constraints of
// both.
bool merge(Block& block) {
  if (block.stmts.size() != 1 || !block.stmts[0].block() || is_main_or_program(block) ||
      block.tags.has(stripe::tag::kPrologue))
    return false;
  Block inner = *block.stmts[0].block();
  std::map<std::string, Affine> values;  // inner's indices, over those of the new block
  for (const Index& index : inner.idxs) {
    std::string name = index.name;
    for (int n = 0; block.find_index(name); ++n) name = index.name + "_" + std::to_string(n);
    if (index.affine && index.range == 1) {
      values[index.name] = *index.affine;
      continue;
    }
    if (index.affine) return false;
    block.idxs.push_back({name, index.range, std::nullopt, {}});
    values[index.name] = Affine::of(name);
  }
  for_each_form(inner, [&](Affine& form) { form = form.substitute(values); });
  for (Refinement& ref : inner.refs) {
    const Refinement* around = block.find_ref(ref.from);
    if (ref.dir == RefDir::none) continue;
    if (!around || around->dir == RefDir::none || around->access.size() != ref.access.size())
      return false;
    ref.from = around->from;
    for (size_t d = 0; d < ref.access.size(); ++d) ref.access[d] += around->access[d];
  }
  block.constraints.insert(block.constraints.end(), inner.constraints.begin(),
                           inner.constraints.end());
  block.refs = std::move(inner.refs);
  block.stmts = std::vector<Statement>(inner.stmts);
  return true;
}

std::vector<Edit> merge_blocks(const Program& program) { return per_block(program, merge); }

// --- refinements, indices, constraints -----------------------------------------------------------

bool drop_unused(Block& block) {
  std::set<std::string> used;
  for (const Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<Load>(&stmt.op)) used.insert(s->from);
    if (auto* s = std::get_if<Store>(&stmt.op)) used.insert(s->into);
    if (auto* s = stmt.special()) {
      used.insert(s->inputs.begin(), s->inputs.end());
      used.insert(s->outputs.begin(), s->outputs.end());
    }
    if (const Block* inner = stmt.block())
      for (const Refinement& ref : inner->refs) used.insert(ref.from);
  }
  return std::erase_if(block.refs, [&](const Refinement& ref) { return !used.count(ref.into); }) >
         0;
}

std::vector<Edit> drop_unused_refinements(const Program&) {
  return {[](Program& program) {
    bool any = false;
    std::vector<Block*> all = blocks_of(program);
    for (auto at = all.rbegin(); at != all.rend(); ++at) any |= drop_unused(**at);
    return any;
  }};
}

std::vector<Edit> drop_refinements(const Program& program) {
  return per_thing(program, kRefs, [](Block& block, size_t n) {
    block.refs.erase(block.refs.begin() + static_cast<std::ptrdiff_t>(n));
    return true;
  });
}

std::vector<Edit> drop_constraints(const Program& program) {
  return per_thing(program, kConstraints, [](Block& block, size_t n) {
    block.constraints.erase(block.constraints.begin() + static_cast<std::ptrdiff_t>(n));
    return true;
  });
}

std::vector<Edit> drop_indices(const Program& program) {
  return per_thing(program, kIdxs, [](Block& block, size_t n) {
    block.idxs.erase(block.idxs.begin() + static_cast<std::ptrdiff_t>(n));
    return true;
  });
}

std::vector<Edit> shrink_ranges(const Program& program) {
  std::vector<Edit> edits;
  for (int how = 0; how < 4; ++how) {
    auto some = per_thing(program, kIdxs, [how](Block& block, size_t n) {
      int64_t& range = block.idxs[n].range;
      const int64_t choices[] = {1, 2, range / 2, range - 1};
      if (range < 2 || choices[how] < 1) return false;
      range = choices[how];
      return true;
    });
    edits.insert(edits.end(), some.begin(), some.end());
  }
  return edits;
}

std::vector<Edit> free_indices(const Program& program) {
  return per_thing(program, kIdxs, [](Block& block, size_t n) {
    if (!block.idxs[n].affine) return false;
    block.idxs[n].affine.reset();
    return true;
  });
}

// --- forms ---------------------------------------------------------------------------------------

size_t forms_of(const Block& block) {
  size_t count = 0;
  for_each_form(const_cast<Block&>(block), [&](const Affine&) { ++count; });
  return count;
}

std::vector<Edit> simplify_forms(const Program& program) {
  std::vector<Edit> edits;
  for (int how = 0; how < 4; ++how) {
    auto some = per_thing(program, forms_of, [how](Block& block, size_t n) {
      bool changed = false;
      size_t at = 0;
      for_each_form(block, [&](Affine& form) {
        if (at++ != n) return;
        Affine plain;
        if (how == 1) plain.set_constant(form.constant());
        if (how == 2)
          for (const auto& [name, factor] : form.terms()) plain.add_term(name, factor);
        if (how == 3) {
          plain.set_constant(form.constant());
          for (const auto& [name, factor] : form.terms()) plain.add_term(name, 1);
        }
        changed = !(plain == form);
        form = plain;
      });
      return changed;
    });
    edits.insert(edits.end(), some.begin(), some.end());
  }
  return edits;
}

// --- scalars -------------------------------------------------------------------------------------

void rename_scalar(Block& block, const std::string& from, const std::string& to) {
  auto rename = [&](std::string& name) {
    if (name == from) name = to;
  };
  for (Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<Load>(&stmt.op)) std::for_each(s->at.begin(), s->at.end(), rename);
    if (auto* s = std::get_if<Store>(&stmt.op)) {
      rename(s->from);
      std::for_each(s->at.begin(), s->at.end(), rename);
    }
    if (auto* s = std::get_if<Intrinsic>(&stmt.op))
      std::for_each(s->inputs.begin(), s->inputs.end(), rename);
  }
}

// An intrinsic's result becomes one of its operands; a load, a constant.
std::vector<Edit> forward_scalars(const Program& program) {
  std::vector<Edit> edits;
  for (size_t operand = 0; operand < 3; ++operand) {
    auto some = per_thing(program, kStmts, [operand](Block& block, size_t n) {
      auto* s = std::get_if<Intrinsic>(&block.stmts[n].op);
      if (!s || operand >= s->inputs.size() || s->outputs.empty()) return false;
      const std::string from = s->outputs[0], to = s->inputs[operand];
      std::vector<bool> stays(block.stmts.size(), true);
      stays[n] = false;
      erase_statements(block, stays);
      rename_scalar(block, from, to);
      return true;
    });
    edits.insert(edits.end(), some.begin(), some.end());
  }
  auto constants = per_thing(program, kStmts, [](Block& block, size_t n) {
    std::string name;
    if (auto* s = std::get_if<Load>(&block.stmts[n].op)) name = s->into;
    if (auto* s = std::get_if<LoadIndex>(&block.stmts[n].op)) name = s->into;
    if (auto* s = std::get_if<Intrinsic>(&block.stmts[n].op); s && s->outputs.size() == 1)
      name = s->outputs[0];
    if (name.empty()) return false;
    const std::map<std::string, DataType> types = scalar_types(block);
    auto type = types.find(name);
    if (type == types.end()) return false;
    const bool loads = std::holds_alternative<Load>(block.stmts[n].op);
    block.stmts[n].op = Constant{name, convert(Scalar::of_int(DataType::i32, 1), type->second)};
    if (loads) drop_unused(block);  // or it would not be smaller
    return true;
  });
  edits.insert(edits.end(), constants.begin(), constants.end());
  // All that uses a scalar takes the first one of the block.
  auto first = per_thing(program, kStmts, [](Block& block, size_t n) {
    auto* s = std::get_if<Store>(&block.stmts[n].op);
    const std::map<std::string, DataType> types = scalar_types(block);
    if (!s || types.empty()) return false;
    for (const Statement& stmt : block.stmts) {
      std::string name;
      if (auto* c = std::get_if<Constant>(&stmt.op)) name = c->into;
      if (auto* l = std::get_if<Load>(&stmt.op)) name = l->into;
      if (name.empty()) continue;
      if (name == s->from) return false;
      s->from = name;
      return true;
    }
    return false;
  });
  edits.insert(edits.end(), first.begin(), first.end());
  return edits;
}

// --- attributes ----------------------------------------------------------------------------------

std::vector<Edit> drop_attributes(const Program& program) {
  std::vector<Edit> edits;
  auto add = [&](std::vector<Edit> some) { edits.insert(edits.end(), some.begin(), some.end()); };
  auto erase_tag = [](Tags& tags, size_t n) {
    const std::string name = tags.all()[n].name;
    if (name == "program" || name == "main") return false;
    tags.remove(name);
    return true;
  };
  add(per_thing(
      program, [](const Block& block) { return block.tags.all().size(); },
      [erase_tag](Block& block, size_t n) {
        if (block.tags.all()[n].name == stripe::tag::kDeps)
          for (Statement& stmt : block.stmts) stmt.deps.clear();
        return erase_tag(block.tags, n);
      }));
  add(per_block(program, [](Block& block) {
    const bool any = !block.comments.empty() || !block.location.empty();
    block.comments.clear();
    block.location = {};
    return any;
  }));
  add(per_thing(program, kRefs, [](Block& block, size_t n) {
    if (!block.refs[n].agg) return false;
    block.refs[n].agg.reset();
    for_each_view(block, block.refs[n].into, [](Refinement& ref, Block&) { ref.agg.reset(); });
    return true;
  }));
  add(per_thing(program, kRefs, [](Block& block, size_t n) {
    Refinement plain = block.refs[n];
    plain.location = {};
    plain.swizzle.reset();
    plain.tags = {};
    plain.is_const = false;
    const bool any = !(plain == block.refs[n]);
    block.refs[n] = std::move(plain);
    return any;
  }));
  add(per_thing(program, kStmts, [](Block& block, size_t n) {
    const bool any = !block.stmts[n].tags.empty() || !block.stmts[n].deps.empty();
    block.stmts[n].tags = {};
    block.stmts[n].deps.clear();
    return any;
  }));
  return edits;
}

// --- shapes and types ----------------------------------------------------------------------------

// Changes an allocation, and each view of it with its block.
template <typename F>
void for_each_of_tensor(Block& block, size_t n, F f) {
  f(block.refs[n], block);
  for_each_view(block, block.refs[n].into, f);
}

std::vector<Edit> shrink_shapes(const Program& program) {
  std::vector<Edit> edits;
  auto add = [&](std::vector<Edit> some) { edits.insert(edits.end(), some.begin(), some.end()); };
  for (size_t dim = 0; dim < 4; ++dim) {
    // The dimension goes.
    add(per_thing(program, kRefs, [dim](Block& block, size_t n) {
      if (block.refs[n].dir != RefDir::none || block.refs[n].shape.rank() <= dim) return false;
      const auto at = static_cast<std::ptrdiff_t>(dim);
      for_each_of_tensor(block, n, [&](Refinement& ref, Block& owner) {
        if (ref.access.size() <= dim || ref.shape.rank() <= dim) return;
        ref.access.erase(ref.access.begin() + at);
        ref.shape.dims.erase(ref.shape.dims.begin() + at);
        for (Statement& stmt : owner.stmts) {
          auto* load = std::get_if<Load>(&stmt.op);
          auto* store = std::get_if<Store>(&stmt.op);
          ChosenCoordinates* chosen = load && load->from == ref.into     ? &load->at
                                      : store && store->into == ref.into ? &store->at
                                                                         : nullptr;
          if (!chosen || chosen->size() <= dim) continue;
          chosen->erase(chosen->begin() + at);
          if (std::all_of(chosen->begin(), chosen->end(),
                          [](const std::string& name) { return name.empty(); }))
            chosen->clear();
        }
      });
      return true;
    }));
    // It gets shorter, for the sections that view the tensor as well.
    for (int how = 0; how < 3; ++how)
      add(per_thing(program, kRefs, [dim, how](Block& block, size_t n) {
        if (block.refs[n].shape.rank() <= dim) return false;
        const int64_t old = block.refs[n].shape.dims[dim].size;
        const int64_t choices[] = {1, old / 2, old - 1};
        const int64_t size = choices[how];
        if (old < 2 || size < 1) return false;
        block.refs[n].shape.dims[dim].size = size;
        if (block.refs[n].dir == RefDir::none)
          for_each_view(block, block.refs[n].into, [&](Refinement& ref, Block& owner) {
            if (!owner.tags.has(stripe::tag::kMain) && !owner.tags.has(stripe::tag::kPrologue))
              return;
            if (ref.shape.rank() > dim && ref.shape.dims[dim].size == old)
              ref.shape.dims[dim].size = size;
          });
        return true;
      }));
  }
  // Row-major without gaps.
  add(per_thing(program, kRefs, [](Block& block, size_t n) {
    if (block.refs[n].dir != RefDir::none) return false;
    const TensorShape dense = dense_shape(block.refs[n].shape.type, block.refs[n].shape.sizes());
    if (dense == block.refs[n].shape) return false;
    for_each_of_tensor(block, n, [&](Refinement& ref, Block&) {
      for (size_t d = 0; d < std::min(ref.shape.rank(), dense.rank()); ++d)
        ref.shape.dims[d].stride = dense.dims[d].stride;
    });
    return true;
  }));
  return edits;
}

std::vector<Edit> plain_types(const Program& program) {
  std::vector<Edit> edits;
  for (const DataType type : {DataType::i32, DataType::fp32}) {
    auto tensors = per_thing(program, kRefs, [type](Block& block, size_t n) {
      const DataType old = block.refs[n].shape.type;
      if (block.refs[n].dir != RefDir::none || old == type) return false;
      for_each_of_tensor(block, n, [&](Refinement& ref, Block&) {
        ref.shape.type = type;
        if (ref.agg && ref.agg->type == old) ref.agg->type = type;
      });
      return true;
    });
    edits.insert(edits.end(), tensors.begin(), tensors.end());
    auto statements = per_thing(program, kStmts, [type](Block& block, size_t n) {
      if (auto* s = std::get_if<Constant>(&block.stmts[n].op)) {
        const Scalar one = convert(Scalar::of_int(DataType::i32, 1), type);
        if (*s == Constant{s->into, one}) return false;
        s->value = one;
        return true;
      }
      if (auto* s = std::get_if<Intrinsic>(&block.stmts[n].op))
        return std::exchange(s->type, type) != type;
      if (auto* s = std::get_if<LoadIndex>(&block.stmts[n].op))
        return is_integer(type) && std::exchange(s->type, type) != type;
      return false;
    });
    edits.insert(edits.end(), statements.begin(), statements.end());
  }
  return edits;
}

// --- names ---------------------------------------------------------------------------------------

std::string letter_name(char first, size_t letters, size_t n) {
  std::string name(1, static_cast<char>(first + static_cast<char>(n % letters)));
  return n < letters ? name : name + std::to_string(n / letters);
}

void rename_block(Block& block, const std::map<std::string, std::string>& outer_refs,
                  const std::map<std::string, Affine>& outer_indices, bool keep_refs) {
  std::map<std::string, std::string> refs, scalars;
  std::map<std::string, Affine> indices;
  block.name.clear();
  for (size_t i = 0; i < block.idxs.size(); ++i) {
    const std::string name = letter_name('i', 6, i);
    indices[block.idxs[i].name] = Affine::of(name);
    block.idxs[i].name = name;
    if (block.idxs[i].affine)
      block.idxs[i].affine = block.idxs[i].affine->substitute(outer_indices);
  }
  for (size_t i = 0; i < block.refs.size(); ++i) {
    Refinement& ref = block.refs[i];
    auto from = outer_refs.find(ref.from);
    if (from != outer_refs.end()) ref.from = from->second;
    if (keep_refs) {
      refs[ref.into] = ref.into;
      continue;
    }
    // Views take the name of what they view where they can.
    std::string name = ref.from.empty() ? letter_name('T', 5, i) : ref.from;
    for (size_t n = 0;
         std::any_of(refs.begin(), refs.end(), [&](const auto& one) { return one.second == name; });
         ++n)
      name = letter_name('A', 19, n);
    refs[ref.into] = name;
    ref.into = name;
  }
  auto ref_name = [&](std::string& name) {
    if (auto known = refs.find(name); known != refs.end()) name = known->second;
  };
  auto scalar = [&](std::string& name) {
    if (name.empty()) return;
    auto known = scalars.find(name);
    if (known == scalars.end())
      known = scalars.emplace(name, letter_name('a', 8, scalars.size())).first;
    name = known->second;
  };
  auto over = [&](Affine& form) { form = form.substitute(indices); };
  for (Affine& form : block.constraints) over(form);
  auto location = [&](Location& at) {
    for (LocationUnit& unit : at.path) std::for_each(unit.units.begin(), unit.units.end(), over);
  };
  location(block.location);
  for (Refinement& ref : block.refs) {
    std::for_each(ref.access.begin(), ref.access.end(), over);
    location(ref.location);
  }
  for (Statement& stmt : block.stmts) {
    if (auto* s = std::get_if<Load>(&stmt.op)) {
      ref_name(s->from);
      std::for_each(s->at.begin(), s->at.end(), scalar);
      scalar(s->into);
    } else if (auto* s = std::get_if<Store>(&stmt.op)) {
      ref_name(s->into);
      std::for_each(s->at.begin(), s->at.end(), scalar);
      scalar(s->from);
    } else if (auto* s = std::get_if<LoadIndex>(&stmt.op)) {
      over(s->from);
      scalar(s->into);
    } else if (auto* s = std::get_if<Constant>(&stmt.op)) {
      scalar(s->into);
    } else if (auto* s = std::get_if<Intrinsic>(&stmt.op)) {
      std::for_each(s->inputs.begin(), s->inputs.end(), scalar);
      std::for_each(s->outputs.begin(), s->outputs.end(), scalar);
    } else if (auto* s = stmt.special()) {
      std::for_each(s->inputs.begin(), s->inputs.end(), ref_name);
      std::for_each(s->outputs.begin(), s->outputs.end(), ref_name);
    } else if (Block* inner = stmt.block()) {
      rename_block(*inner, refs, indices, false);
    }
  }
}

std::vector<Edit> plain_names(const Program&) {
  return {[](Program& program) {
    rename_block(program.entry, {}, {}, true);
    return true;
  }};
}

}  // namespace

std::vector<EditKind> all_edit_kinds() {
  return {
      drop_statements, drop_unused_refinements, unwrap_blocks,   merge_blocks,  drop_refinements,
      drop_indices,    drop_constraints,        forward_scalars, shrink_ranges, free_indices,
      drop_attributes, shrink_shapes,           simplify_forms,  plain_types,   plain_names};
}

void drop_dangling(Program& program) {
  for (bool changed = true; changed;) {
    changed = false;
    visit_blocks(program.entry, [&](Block& block, const Place&) {
      auto only_known = [&](const Block& owner, Affine& form) {
        Affine rest(form.constant());
        for (const auto& [name, factor] : form.terms())
          if (owner.find_index(name)) rest.add_term(name, factor);
        changed |= !(rest == form);
        form = rest;
      };
      for_each_form(block, [&](Affine& form) { only_known(block, form); });
      std::set<std::string> scalars;
      std::vector<bool> stays;
      for (Statement& stmt : block.stmts) {
        auto known = [&](const std::string& name) { return name.empty() || scalars.count(name); };
        auto there = [&](const std::string& name) { return block.find_ref(name) != nullptr; };
        bool stay = true;
        if (auto* s = std::get_if<Load>(&stmt.op))
          stay = there(s->from) && std::all_of(s->at.begin(), s->at.end(), known);
        if (auto* s = std::get_if<Store>(&stmt.op))
          stay = there(s->into) && known(s->from) && std::all_of(s->at.begin(), s->at.end(), known);
        if (auto* s = std::get_if<Intrinsic>(&stmt.op))
          stay = std::all_of(s->inputs.begin(), s->inputs.end(), known);
        if (auto* s = stmt.special())
          stay = std::all_of(s->inputs.begin(), s->inputs.end(), there) &&
                 std::all_of(s->outputs.begin(), s->outputs.end(), there);
        if (Block* inner = stmt.block())
          changed |= std::erase_if(inner->refs, [&](const Refinement& ref) {
                       return ref.dir != RefDir::none && !there(ref.from);
                     }) > 0;
        stays.push_back(stay);
        if (!stay) continue;
        if (auto* s = std::get_if<Load>(&stmt.op)) scalars.insert(s->into);
        if (auto* s = std::get_if<LoadIndex>(&stmt.op)) scalars.insert(s->into);
        if (auto* s = std::get_if<Constant>(&stmt.op)) scalars.insert(s->into);
        if (auto* s = std::get_if<Intrinsic>(&stmt.op))
          scalars.insert(s->outputs.begin(), s->outputs.end());
      }
      if (std::find(stays.begin(), stays.end(), false) == stays.end()) return;
      changed = true;
      erase_statements(block, stays);
    });
  }
}

}  // namespace stria
