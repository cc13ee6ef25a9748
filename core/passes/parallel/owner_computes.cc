// SPDX-License-Identifier: Apache-2.0
#include "stria/passes/parallel/owner_computes.h"

#include <algorithm>

#include "stria/base/refusal.h"
#include "stria/pass/machine_option.h"
#include "stria/pass/select_blocks.h"
#include "stria/rewrite/in_order.h"
#include "stria/rewrite/index_role.h"
#include "stria/rewrite/located_unit.h"
#include "stria/rewrite/split_block.h"
#include "stria/rewrite/write_domain.h"
#include "stria/stripe/tags.h"

namespace stria::passes {
namespace {

using stripe::Block;
using stripe::RefDir;
using stripe::Refinement;

// The store, and the dimension whose ranges the cores own.
struct OwnedRows {
  size_t statement = 0;  // of the innermost block
  size_t dim = 0;
  int64_t rows = 0;
};

// Finds the store and the dimension, or refuses the kernel.
Refusal find_target(const std::vector<Block*>& chain, const TensorNames& around,
                    OwnedRows& target) {
  std::vector<TensorNames> outside = {around};  // the names around each block of the chain
  for (const Block* block : chain) outside.push_back(outside.back().inside(*block));
  const Block& leaf = *chain.back();
  if (!is_leaf(leaf)) return "it holds several blocks or a special";
  const stripe::Store* store = nullptr;
  for (size_t i = 0; i < leaf.stmts.size(); ++i) {
    auto* one = std::get_if<stripe::Store>(&leaf.stmts[i].op);
    if (!one) continue;
    if (store) return "it stores more than once";
    store = one;
    target.statement = i;
  }
  if (!store || store->at.empty()) return "no scalar chooses what it stores to";
  const Refinement* view = leaf.find_ref(store->into);
  for (size_t d = 0; d < store->at.size(); ++d)
    if (!store->at[d].empty() && view->shape.dims[d].size > target.rows)
      target = {target.statement, d, view->shape.dims[d].size};
  for (size_t level = chain.size(); level-- > 0;) {
    const Block& block = *chain[level];
    if (has_index_locations(block)) return "a location names an index";
    if (!view->access[target.dim].is_constant()) return "an index moves the rows";
    if (view->dir == RefDir::none) return "its rows live inside of it";
    for (const Refinement& ref : block.refs)
      if (&ref != view &&
          (is_written(ref) || (ref.dir != RefDir::none &&
                               outside[level].of(ref.from) == outside[level].of(view->from))))
        return "it has another view of what it writes, or writes something else";
    const std::string parent = view->from;
    if (level > 0) view = chain[level - 1]->find_ref(parent);
  }
  return Refusal::none();
}

// Makes the block's view, and those inside it, views of only the `size` rows of this part. The
// store subtracts the number of the part's first row.
void narrow(Block& block, const std::string& parents_name, const std::string& parents_part,
            const OwnedRows& target, int64_t step, int64_t size) {
  const std::string part = bring_in(block, parents_part);
  Refinement& view = *find_view(block, parents_name);
  view.shape.dims[target.dim].size = size;
  const std::string name = view.into;
  if (!is_leaf(block)) return narrow(*block.stmts[0].block(), name, part, target, step, size);
  const std::string first = block.fresh_name("first");
  block.stmts.insert(
      block.stmts.begin() + static_cast<std::ptrdiff_t>(target.statement),
      stripe::Statement(stripe::LoadIndex{Affine::of(part) * step, first, DataType::i64}));
  auto& store = std::get<stripe::Store>(block.stmts[target.statement + 1].op);
  const std::string own = block.fresh_name("own");
  stripe::Intrinsic shift{"sub", DataType::i64, {own}, {store.at[target.dim], first}};
  store.at[target.dim] = own;
  block.stmts.insert(block.stmts.begin() + static_cast<std::ptrdiff_t>(target.statement) + 1,
                     stripe::Statement(std::move(shift)));
  run_in_order(block);
}

void spread(Block& kernel, const TensorNames& around, const OwnerComputesOptions& options,
            int64_t cores, PassContext& context) {
  if (kernel.tags.has(stripe::tag::kParallel))
    return context.skipped(kernel.name, "it is parallel already");
  const std::vector<Block*> chain = single_chain(kernel);
  OwnedRows target;
  if (const Refusal refusal = find_target(chain, around, target))
    return context.skipped(kernel.name, refusal.reason());
  if (work_of(kernel) < static_cast<double>(options.min_work))
    return context.skipped(kernel.name, "it has too little work");
  const int64_t wanted = std::min(cores * options.points_per_core, target.rows);
  if (wanted < 2) return context.skipped(kernel.name, "it has too few rows or cores");
  const int64_t size = even_size(ceil_div(target.rows, wanted), target.rows);
  const int64_t parts = ceil_div(target.rows, size), rest = target.rows - size * (parts - 1);

  const std::string rows = std::get<stripe::Store>(chain.back()->stmts[target.statement].op).into;
  std::string name = rows;  // the kernel's name for the rows
  for (size_t level = chain.size(); level-- > 1;) name = chain[level]->find_ref(name)->from;
  split_block(kernel, {});
  const std::string part = kernel.fresh_name("part");
  kernel.idxs.push_back({part, parts, {}, {}});
  Refinement& view = *kernel.find_ref(name);
  view.access[target.dim] += Affine::of(part) * size;
  view.shape.dims[target.dim].size = size;
  Block whole = *kernel.stmts[0].block();
  Block last = whole;
  narrow(whole, name, part, target, size, size);
  if (rest != size) {
    // The last range is shorter, so it gets a block with a smaller view.
    narrow(last, name, part, target, size, rest);
    const Affine at = Affine::of(bring_in(whole, part));
    whole.constraints.push_back(Affine(parts - 2) - at);
    last.constraints.push_back(Affine::of(bring_in(last, part)) - (parts - 1));
  }
  kernel.stmts.clear();
  kernel.stmts.emplace_back(std::move(whole));
  if (rest != size) kernel.stmts.emplace_back(std::move(last));
  kernel.tags.set(stripe::tag::kParallel);
  stripe::LocationUnit unit;
  unit.name = options.unit;
  kernel.location.path = {unit};
  context.count("kernels_spread");
  context.changed();
}

}  // namespace

void describe(OwnerComputesOptions& options, OptionFields& fields) {
  fields.tags("reqs", options.reqs, "tags that a kernel must have");
  fields.unit("unit", options.unit,
              "execution unit of the model; its count is the number of cores");
  fields.add("points_per_core", options.points_per_core, "ranges of rows for each core",
             {1, 1 << 20});
  fields.add("min_work", options.min_work,
             "statements that run; a kernel with fewer stays on one core; -1 = the calibration of "
             "`unit` says",
             {-1});
}

Status owner_computes(stripe::Program& program, const OwnerComputesOptions& given,
                      PassContext& context) {
  OwnerComputesOptions options = given;
  options.min_work =
      or_machines(given.min_work, context.model().core_facts(given.unit).worth_statements, -1);
  STRIA_RETURN_IF_ERROR(check_unit(context.model(), UnitUse::run, "/unit", options.unit));
  const ExecutionUnit* unit = context.model().find_executor(options.unit);
  const int64_t cores = unit ? std::max<int64_t>(unit->count, 1) : 1;
  return for_each_kernel(program, options.reqs, [&](Block& kernel, const TensorNames& around) {
    context.matched();
    spread(kernel, around, options, cores, context);
    return Status();
  });
}

}  // namespace stria::passes
