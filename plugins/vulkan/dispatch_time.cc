// SPDX-License-Identifier: Apache-2.0
#include "dispatch_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "stria/hwmodel/waited_memory.h"

namespace stria::vulkan {
namespace {

using semtree::Expr;
using semtree::ExprKind;
using semtree::ExprRef;
using semtree::Op;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The least and the largest value that an index may have.
struct Range {
  double low = -kInfinity, high = kInfinity;
};

class WorkCount {
 public:
  WorkCount(const semtree::Function& function, int64_t matrix_lanes, const GroupFacts& facts)
      : function_(function),
        facts_(facts),
        matrix_lanes_(static_cast<double>(std::max<int64_t>(matrix_lanes, 1))),
        ranges_(function.vars.size()) {
    for (const auto& dim : function.grid) set(dim.var, 0, static_cast<double>(dim.size - 1));
    set(function.parallel_var, 0, static_cast<double>(function.trip_count - 1));
    set(function.lane_var, 0, static_cast<double>(function.group_lanes - 1));
  }

  GroupWork of(const semtree::Body& body) {
    GroupWork out;
    for (const semtree::Statement& statement : body)
      std::visit([&](const auto& op) { add(op, out); }, statement.op);
    return out;
  }

 private:
  void set(int var, double low, double high) {
    if (var >= 0) ranges_[static_cast<size_t>(var)] = {low, high};
  }

  void add(const semtree::Let& let, GroupWork& out) {
    out.operations += operations(let.value);
    ranges_[static_cast<size_t>(let.var)] = range(let.value);
  }
  void add(const semtree::Load& load, GroupWork& out) { access(load.place, out); }
  void add(const semtree::Store& store, GroupWork& out) {
    out.operations += operations(store.value);
    access(store.place, out);
  }
  void add(const semtree::For& loop, GroupWork& out) {
    const Range lower = range(loop.lower), upper = range(loop.upper);
    set(loop.var, lower.low, upper.high - 1);
    double count = std::max(0.0, upper.high - lower.low);
    if (!std::isfinite(count)) count = 1;
    const GroupWork inside = of(loop.body);
    // One more to count and compare.
    out.operations += operations(loop.lower) + operations(loop.upper);
    out.operations += count * (inside.operations + (loop.unroll ? 0 : 1));
    out.bytes += count * inside.bytes;
    out.iterations += count * (inside.iterations + 1);
  }
  void add(const semtree::If& branch, GroupWork& out) {
    out.operations += operations(branch.condition);
    const GroupWork inside = of(branch.then);
    out.operations += inside.operations;
    out.bytes += inside.bytes;
    out.iterations += inside.iterations;
  }
  void add(const semtree::Barrier&, GroupWork& out) { out.operations += facts_.group_slow_factor; }
  void add(const semtree::SubgroupBarrier&, GroupWork& out) { out.operations += 1; }
  void add(const semtree::Instruction& instruction, GroupWork& out) {
    for (const auto& operand : instruction.operands)
      out.operations += static_cast<double>(operand.slots.size());
  }
  // Trees for this device have none (BuildOptions::micro_kernels).
  void add(const semtree::MicroKernel&, GroupWork&) {}
  void add(const semtree::Prefetch& hint, GroupWork& out) { access(hint.place, out); }
  // A lane's share of what its subgroup does.
  void add(const semtree::MatrixFill& fill, GroupWork& out) {
    out.operations += elements(fill.to.memory);
  }
  void add(const semtree::MatrixLoad& load, GroupWork& out) {
    move(load.from, load.to.memory, out);
  }
  void add(const semtree::MatrixStore& store, GroupWork& out) {
    move(store.to, store.from.memory, out);
  }
  void add(const semtree::MatrixMultiply& product, GroupWork& out) {
    out.operations += elements(product.sum.memory) *
                      static_cast<double>(function_.array(product.a.memory).fragment->columns);
  }
  void add(const semtree::ElementLoop& loop, GroupWork& out) {
    double count = 0;
    for (const semtree::Statement& statement : loop.body)
      if (auto* store = std::get_if<semtree::Store>(&statement.op);
          store && !function_.is_param(store->place.memory) &&
          function_.array(store->place.memory).fragment)
        count = std::max(count, std::ceil(elements(store->place.memory)));
    const GroupWork inside = of(loop.body);
    out.operations += count * inside.operations;
    out.bytes += count * inside.bytes;
    out.iterations += count;
  }

  // Of a matrix, for each lane.
  double elements(int memory) const {
    const auto& form = function_.array(memory).fragment;
    return static_cast<double>(form->rows * form->columns) / matrix_lanes_;
  }
  void move(const semtree::MatrixPlace& at, int matrix, GroupWork& out) {
    out.operations += operations(at.place.offset) + elements(matrix);
    if (function_.is_param(at.place.memory))
      out.bytes += elements(matrix) *
                   static_cast<double>(byte_size(function_.element_type(at.place.memory)));
  }

  void access(const semtree::Place& place, GroupWork& out) {
    out.operations += operations(place.offset) + operations(place.mask);
    if (function_.is_param(place.memory)) {
      out.operations += 1;
      out.bytes +=
          static_cast<double>(place.lanes * byte_size(function_.element_type(place.memory)));
    } else if (!function_.array(place.memory).in_registers) {
      out.operations += place.lanes;
    }
  }

  double operations(const ExprRef& expr) const {
    if (!expr) return 0;
    double out = 0;
    for (const ExprRef& argument : expr->args) out += operations(argument);
    const int lanes = expr->args.empty() ? 1 : std::max(expr->type.lanes, widest(*expr));
    if (expr->kind == ExprKind::operation) return out + lanes * weight(*expr);
    if (expr->kind == ExprKind::convert || expr->kind == ExprKind::reduce) return out + lanes;
    if (expr->kind == ExprKind::call) return out + lanes * facts_.group_call_factor;
    return out;
  }
  static int widest(const Expr& expr) {
    int out = 1;
    for (const ExprRef& argument : expr.args) out = std::max(out, argument->type.lanes);
    return out;
  }
  double weight(const Expr& expr) const {
    switch (expr.op) {
      case Op::sqrt:
      case Op::div:
      case Op::rem:
      case Op::floor_div: return facts_.group_slow_factor;
      default: return byte_size(expr.type.scalar) > 4 ? 2 : 1;
    }
  }

  // Of what bounds and subscripts are made of; anything else may have any value.
  Range range(const ExprRef& expr) const {
    if (!expr || expr->type.lanes != 1) return {};
    switch (expr->kind) {
      case ExprKind::constant: {
        if (is_float(expr->type.scalar)) return {};
        const auto value = static_cast<double>(expr->value.i);
        return {value, value};
      }
      case ExprKind::variable: return ranges_[static_cast<size_t>(expr->var)];
      case ExprKind::convert: return range(expr->args[0]);
      case ExprKind::operation: return range_of(*expr);
      default: return {};
    }
  }
  Range range_of(const Expr& expr) const {
    const Range a = range(expr.args[0]), b = expr.args.size() > 1 ? range(expr.args[1]) : Range{};
    switch (expr.op) {
      case Op::neg: return {-a.high, -a.low};
      case Op::add: return {a.low + b.low, a.high + b.high};
      case Op::sub: return {a.low - b.high, a.high - b.low};
      case Op::min: return {std::min(a.low, b.low), std::min(a.high, b.high)};
      case Op::max: return {std::max(a.low, b.low), std::max(a.high, b.high)};
      case Op::mul: {
        // Nothing times infinity is nothing here: an index that is 0 stays 0.
        const auto times = [](double x, double y) { return x == 0 || y == 0 ? 0 : x * y; };
        const double all[] = {times(a.low, b.low), times(a.low, b.high), times(a.high, b.low),
                              times(a.high, b.high)};
        return {*std::min_element(all, all + 4), *std::max_element(all, all + 4)};
      }
      case Op::floor_div:
        if (!(b.low > 0)) return {};
        return {std::floor(std::min(a.low / b.low, a.low / b.high)),
                std::floor(std::max(a.high / b.low, a.high / b.high))};
      case Op::select: {
        const Range c = range(expr.args[2]);
        return {std::min(b.low, c.low), std::max(b.high, c.high)};
      }
      default: return {};
    }
  }

  const semtree::Function& function_;
  const GroupFacts& facts_;
  const double matrix_lanes_;  // of a subgroup
  std::vector<Range> ranges_;  // of each variable
};

}  // namespace

GroupWork work_of_group(const KernelCode& kernel, const GroupFacts& facts) {
  GroupWork out = WorkCount(kernel.function, kernel.matrix_lanes, facts).of(kernel.function.body);
  out.operations *= static_cast<double>(kernel.group_lanes);
  out.bytes *= static_cast<double>(kernel.group_lanes);
  return out;
}

ModelRates rates_of(const HardwareModel& model) {
  ModelRates out;
  out.facts = model.group_facts();
  for (const ExecutionUnit& unit : model.executors) {
    if (unit.ops_per_cycle <= 0) continue;
    const double clock_mhz = unit.clock_mhz > 0 ? unit.clock_mhz : model.clock_mhz;
    const double per_operation = unit.operation == ExecutionUnit::Operation::mac ? 1 : 0.5;
    out.operations_per_ns +=
        static_cast<double>(unit.count) * unit.ops_per_cycle * per_operation * clock_mhz / 1000;
    out.units = std::max(out.units, unit.count);
  }
  // Groups read through the cache that the model gives a latency; else memory itself.
  const MemoryUnit* memory = waited_memory(model);
  if (!memory) memory = model.find_memory("DRAM");
  if (memory) {
    const double clock_mhz = memory->clock_mhz > 0 ? memory->clock_mhz : model.clock_mhz;
    out.bytes_per_ns = memory->read_bytes_per_cycle * clock_mhz / 1000;
  }
  return out;
}

double predicted_group_ns(const GroupWork& work, const ModelRates& rates) {
  double out = 0;
  if (rates.operations_per_ns > 0) out = work.operations / rates.operations_per_ns;
  if (rates.bytes_per_ns > 0) out = std::max(out, work.bytes / rates.bytes_per_ns);
  return out / rates.facts.group_reached_part;
}

}  // namespace stria::vulkan
