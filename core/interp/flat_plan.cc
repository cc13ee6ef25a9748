// SPDX-License-Identifier: Apache-2.0
#include "stria/interp/flat_plan.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace stria::interp {
namespace {

constexpr int64_t kSmallestRow = 4;

int64_t stride_of(const BlockPlan& block, int form, size_t index) {
  return block.coefficients_of(index)[form];
}

// Distinct points of the indices that `form` uses have distinct values: sorted by size, each
// coefficient exceeds everything that the smaller ones reach together.
bool is_injective(const BlockPlan& block, int form) {
  std::vector<std::pair<int64_t, int64_t>> terms;  // |coefficient|, range - 1
  for (size_t i = 0; i < block.idxs.size(); ++i) {
    const int64_t by = std::abs(stride_of(block, form, i));
    if (by != 0 && block.idxs[i].range > 1) terms.emplace_back(by, block.idxs[i].range - 1);
  }
  std::sort(terms.begin(), terms.end());
  int64_t reach = 0;
  for (const auto& [by, most] : terms) {
    if (by <= reach) return false;
    reach += by * most;
  }
  return true;
}

class FlatPlanMaker {
 public:
  explicit FlatPlanMaker(const BlockPlan& block) : block_(block) {}
  std::shared_ptr<const FlatPlan> make();

 private:
  bool is_leaf() const;
  void choose_order();
  double row_cost(size_t index) const;
  void statements();
  int converted(const StmtPlan& stmt, size_t operand);

  const BlockPlan& block_;
  FlatPlan out_;
};

bool FlatPlanMaker::is_leaf() const {
  if (!block_.allocations.empty()) return false;
  bool stores = false;
  for (const StmtPlan& stmt : block_.stmts) {
    if (stmt.op == Op::block || stmt.op >= Op::zero) return false;
    stores |= stmt.op == Op::store;
    if (stmt.op == Op::load || stmt.op == Op::store) {
      const RefPlan& ref = block_.refs[static_cast<size_t>(stmt.ref)];
      if (!stmt.chosen.empty()) return false;
      if (ref.out_of_range != OutOfRange::error) return false;
      if (stmt.op == Op::store && ref.agg && !column_combine(*ref.agg)) return false;
      if (stmt.op == Op::load && ref.agg) return false;
    }
  }
  return stores;
}

// Time of one point along a row over `index`, in units of one vector operation's share.
double FlatPlanMaker::row_cost(size_t index) const {
  double cost = 60.0 / static_cast<double>(std::min<int64_t>(block_.idxs[index].range, kRow));
  for (const StmtPlan& stmt : block_.stmts) {
    if (stmt.op != Op::load && stmt.op != Op::store) continue;
    const RefPlan& ref = block_.refs[static_cast<size_t>(stmt.ref)];
    const int64_t stride = std::abs(stride_of(block_, ref.offset_form, index));
    const bool store = stmt.op == Op::store;
    if (stride == 0)
      cost += store ? 4 : 0;
    else if (stride == 1)
      cost += 0.5;
    else
      cost += store ? 4 : 2;
  }
  return cost;
}

void FlatPlanMaker::choose_order() {
  std::vector<size_t> many;  // indices of more than one point
  for (size_t i = 0; i < block_.idxs.size(); ++i)
    if (block_.idxs[i].range > 1) many.push_back(i);
  if (many.empty()) return;
  std::vector<int> stored;
  for (const StmtPlan& stmt : block_.stmts)
    if (stmt.op == Op::store)
      stored.push_back(block_.refs[static_cast<size_t>(stmt.ref)].offset_form);
  const bool injective = std::all_of(stored.begin(), stored.end(),
                                     [&](int form) { return is_injective(block_, form); });
  auto is_free = [&](size_t i) {
    return injective && std::all_of(stored.begin(), stored.end(),
                                    [&](int form) { return stride_of(block_, form, i) != 0; });
  };
  size_t row = many.back();
  for (size_t i : many)
    if (is_free(i) && row_cost(i) < row_cost(row)) row = i;
  if (block_.idxs[row].range < kSmallestRow) return;
  // One free index goes by just outside the rows if loads stay the same along it: they are kept.
  std::optional<size_t> reuse;
  int most = 0;
  for (size_t i : many) {
    if (i == row || !is_free(i)) continue;
    if (block_.idxs[i].range * block_.idxs[row].range > 16384) continue;  // outputs leave the cache
    int kept = 0;
    for (const StmtPlan& stmt : block_.stmts)
      if (stmt.op == Op::load) {
        const int form = block_.refs[static_cast<size_t>(stmt.ref)].offset_form;
        kept += stride_of(block_, form, i) == 0 && std::abs(stride_of(block_, form, row)) > 1;
      }
    if (kept > most) reuse = i, most = kept;
  }
  out_.row = static_cast<int>(row);
  for (int pass = 0; pass < 2; ++pass)  // free indices, then the others in their order
    for (size_t i : many)
      if (i != row && i != reuse && is_free(i) == (pass == 0))
        out_.order.push_back(static_cast<int>(i));
  if (reuse) out_.order.push_back(static_cast<int>(*reuse));
}

int FlatPlanMaker::converted(const StmtPlan& stmt, size_t operand) {
  if (!stmt.converts[operand]) return stmt.from[operand];
  FlatPlan::Step step;
  step.kind = FlatPlan::Step::Kind::convert;
  step.operands = 1;
  step.from[0] = stmt.from[operand];
  step.in_types[0] = block_.scalars[static_cast<size_t>(stmt.from[operand])];
  step.type = step.out_type = stmt.operand_types[operand];
  step.call = column_convert(step.in_types[0], step.type);
  step.out = out_.columns++;
  out_.steps.push_back(step);
  return step.out;
}

void FlatPlanMaker::statements() {
  out_.columns = static_cast<int>(block_.scalars.size());
  bool stored = false;
  for (const StmtPlan& stmt : block_.stmts) {
    if (stmt.op == Op::load || stmt.op == Op::store) {
      const RefPlan& ref = block_.refs[static_cast<size_t>(stmt.ref)];
      FlatPlan::Access access;
      access.ref = stmt.ref;
      access.form = ref.offset_form;
      access.stride = stride_of(block_, ref.offset_form, static_cast<size_t>(out_.row));
      access.type = ref.shape.type;
      access.in_front = !stored;
      access.injective = is_injective(block_, ref.offset_form);
      for (size_t i = 0; i < block_.idxs.size(); ++i)
        if (block_.idxs[i].range > 1 && stride_of(block_, ref.offset_form, i) == 0)
          access.injective = false;
      if (stmt.op == Op::load) {
        access.value = stmt.into;
        out_.loads.push_back(access);
      } else {
        access.value = converted(stmt, 0);
        if (ref.agg) access.combine = column_combine(*ref.agg);
        access.combiner = stmt.builtin;
        out_.stores.push_back(access);
        stored = true;
      }
      continue;
    }
    FlatPlan::Step step;
    step.type = stmt.type;
    step.out = stmt.into;
    step.out_type = block_.scalars[static_cast<size_t>(stmt.into)];
    if (stmt.op == Op::constant) {
      step.kind = FlatPlan::Step::Kind::constant;
      step.constant = stmt.constant;
    } else if (stmt.op == Op::load_index) {
      step.kind = FlatPlan::Step::Kind::index;
      step.form = stmt.form;
      step.stride = stride_of(block_, stmt.form, static_cast<size_t>(out_.row));
    } else {
      step.builtin = stmt.builtin;
      step.operands = stmt.operands;
      for (size_t i = 0; i < stmt.operands; ++i) {
        step.from[i] = converted(stmt, i);
        step.in_types[i] = stmt.operand_types[i];
      }
      step.counts_zero_divisor = stmt.counts_zero_divisor;
      step.call = column_call(*stmt.builtin, stmt.type);
    }
    out_.steps.push_back(step);
  }
}

std::shared_ptr<const FlatPlan> FlatPlanMaker::make() {
  if (!is_leaf()) return nullptr;
  choose_order();
  if (out_.row < 0) return nullptr;
  statements();
  return std::make_shared<const FlatPlan>(std::move(out_));
}

}  // namespace

std::shared_ptr<const FlatPlan> make_flat_plan(const BlockPlan& block) {
  return FlatPlanMaker(block).make();
}

}  // namespace stria::interp
