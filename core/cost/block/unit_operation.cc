// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/unit_operation.h"

#include <algorithm>
#include <cmath>

#include "stria/cost/block/operation_pace.h"

namespace stria::cost {
namespace {

double parts(double of, int64_t side) { return std::ceil(of / static_cast<double>(side)); }

// "mac.i8" -> i8; operations without a type have none.
std::optional<DataType> type_of(const std::string& operation) {
  const size_t dot = operation.find('.');
  return dot == std::string::npos ? std::nullopt : parse_data_type(operation.substr(dot + 1));
}

// How a product goes through an array.
struct Folds {
  double folds = 1;  // all of them
  double steps = 1;  // of a fold
  // The steps come in so many parts, the most of which have `part`.
  double parts = 1, part = 1;
  double leaves = 1;             // how often each result leaves the array
  double first = 1, second = 1;  // how often the operands come
  double fill = 0;               // cycles of a fold beside its steps
};

Folds folds_of(const SystolicArray& array, const Product& product) {
  const auto rows = static_cast<double>(array.rows), columns = static_cast<double>(array.columns);
  using Dataflow = SystolicArray::Dataflow;
  Folds out;
  if (array.dataflow == Dataflow::output_stationary) {
    out.second = parts(product.m, array.rows);
    out.first = parts(product.n, array.columns);
    out.folds = product.batch * out.second * out.first;
    out.steps = out.part = product.k;
    out.fill = rows + columns - 2;
    return out;
  }
  const bool weights = array.dataflow == Dataflow::weight_stationary;
  const double sums = parts(product.k, array.rows),
               across = parts(weights ? product.n : product.m, array.columns);
  out.folds = product.batch * sums * across;
  out.steps = out.part = weights ? product.m : product.n;
  out.fill = 2 * rows + columns - 2;
  if (sums > 1 && array.accumulators > 0) {
    out.parts = parts(out.steps, array.accumulators);
    if (out.parts > 1) out.part = static_cast<double>(array.accumulators);
  } else {
    out.leaves = sums;
  }
  (weights ? out.first : out.second) = across;
  (weights ? out.second : out.first) = out.parts;
  return out;
}

}  // namespace

double systolic_cycles(const SystolicArray& array, const Product& product) {
  const Folds folds = folds_of(array, product);
  if (!array.overlap_folds) return folds.folds * (folds.steps + folds.parts * folds.fill);
  const auto rows = static_cast<double>(array.rows);
  const double last = folds.steps - (folds.parts - 1) * folds.part;
  const double all =
      folds.folds * ((folds.parts - 1) * std::max(folds.part, rows) + std::max(last, rows));
  return all - std::max(last, rows) + last + folds.fill;
}

OperandUse::OperandUse(const ExecutionUnit& unit, const BlockWork& work,
                       const stripe::Refinement& ref)
    : unit_(&unit), element_(static_cast<double>(byte_size(ref.shape.type))) {
  const auto accesses = work.accesses.find(ref.into);
  if (accesses == work.accesses.end()) return;
  is_known_ = true;
  sum_ = ref.agg ? static_cast<double>(byte_size(ref.agg->type)) : element_;
  goes_on_ = accesses->second.loads > 0 && ref.agg;
  reads_ = accesses->second.loads > 0 && !ref.agg && ref.dir != stripe::RefDir::out;
  writes_ = accesses->second.stores > 0;
  if (!unit.systolic) return;
  bool any = false;
  for (const Product& product : work.products) {
    sides_.push_back(
        {product.first == ref.into, product.second == ref.into, product.result == ref.into});
    any |= sides_.back().first || sides_.back().second || sides_.back().result;
  }
  if (!any) sides_.clear();
}

OperandBytes OperandUse::bytes(const BlockWork& work, const Footprint& footprint) const {
  OperandBytes out;
  if (!is_known_) return out;
  for (size_t p = 0; p < sides_.size(); ++p) {
    const Side& side = sides_[p];
    if (!side.first && !side.second && !side.result) continue;
    const Product& product = work.products[p];
    const Folds folds = folds_of(*unit_->systolic, product);
    if (side.first) out.read += product.batch * product.m * product.k * element_ * folds.first;
    if (side.second) out.read += product.batch * product.n * product.k * element_ * folds.second;
    if (!side.result) continue;
    const double results = product.batch * product.m * product.n;
    out.sums_before += results * element_;
    out.sums_inside += results * (folds.leaves - 1) * sum_;
    out.written += results * ((folds.leaves - 1) * sum_ + element_);
  }
  if (!sides_.empty()) {
    // No less than what is touched.
    if (out.read > 0) out.read = std::max(out.read, footprint.bytes);
    return out;
  }
  if (goes_on_) out.sums_before = footprint.bytes;
  if (reads_) out.read = footprint.bytes;
  if (writes_) out.written = footprint.bytes;
  return out;
}

OperandBytes operand_bytes(const ExecutionUnit& unit, const BlockWork& work,
                           const stripe::Refinement& ref, const Footprint& footprint) {
  return OperandUse(unit, work, ref).bytes(work, footprint);
}

PortUse read_use(const BlockWork& work, const stripe::Block& block, const stripe::Refinement& ref) {
  for (const Product& product : work.products) {
    if (product.first == ref.into) return PortUse::first;
    if (product.second == ref.into) return PortUse::second;
  }
  for (const stripe::Refinement& other : block.refs)
    if (other.dir == stripe::RefDir::in || other.dir == stripe::RefDir::inout)
      return other.into == ref.into ? PortUse::first : PortUse::second;
  return PortUse::first;
}

Result<OperationPace> OperationPace::of(const ExecutionUnit& unit, const BlockWork& work) {
  OperationPace out;
  out.unit_ = &unit;
  const double macs = work.macs + (unit.systolic ? 0 : work.product_macs);
  if (macs == 0 && work.others == 0) return out;
  // What a systolic array does besides products takes one of its columns for each operation.
  double peak = unit.ops_per_cycle;
  if (peak == 0 && unit.systolic) peak = static_cast<double>(unit.systolic->columns);
  // If types have rates of their own, the slowest of them counts. A type without one has the peak.
  double slowest = 0;
  bool at_peak = false;
  for (const auto& [operation, count] : work.operations) {
    // Products on a systolic array have been counted.
    if (macs == 0 && operation.starts_with("mac.")) continue;
    const std::optional<DataType> type = type_of(operation);
    if (!type) continue;
    const auto at = unit.rates.find(*type);
    if (at != unit.rates.end() && at->second.ops_per_cycle > 0) {
      const double rate = at->second.ops_per_cycle;
      slowest = slowest == 0 ? rate : std::min(slowest, rate);
    } else if (peak > 0) {
      at_peak = true;
    } else {
      return unsupported(
          "the hardware model has no rate of '{0}' for {1}: there is neither "
          "/exec_units/{0}/rates/{1}/ops_per_cycle nor /exec_units/{0}/ops_per_cycle",
          unit.name, name_of(*type));
    }
  }
  const bool by_macs = unit.operation == ExecutionUnit::Operation::mac;
  if (slowest == 0) {
    if (peak == 0)
      return unsupported("the hardware model has no rate of '{}': ops_per_cycle is 0", unit.name);
    out.operations_of_mac_ = by_macs ? 1 : 2;
    out.rate_ = peak;
    return out;
  }
  // Rates of types count a multiply-add as two.
  if (at_peak) slowest = std::min(slowest, (by_macs ? 2 : 1) * peak);
  out.operations_of_mac_ = 2;
  out.rate_ = slowest;
  return out;
}

double OperationPace::cycles(const BlockWork& work) const {
  double cycles = 0, macs = work.macs;
  if (unit_->systolic)
    for (const Product& product : work.products)
      cycles += systolic_cycles(*unit_->systolic, product);
  else
    macs += work.product_macs;
  if (macs == 0 && work.others == 0) return cycles;
  return cycles + (operations_of_mac_ * macs + work.others) / rate_;
}

Result<double> operation_cycles(const ExecutionUnit& unit, const BlockWork& work) {
  STRIA_ASSIGN(const OperationPace pace, OperationPace::of(unit, work));
  return pace.cycles(work);
}

double operation_pj(const ExecutionUnit& unit, const std::string& operation) {
  const auto given = [&](const std::string& name) {
    const auto at = unit.energy_pj.find(name);
    return at == unit.energy_pj.end() ? -1.0 : at->second;
  };
  double pj = given(operation);
  if (pj >= 0) return pj;
  const size_t dot = operation.find('.');
  const std::string kind = operation.substr(0, dot);
  const std::optional<DataType> type = type_of(operation);
  if (kind == "move") return 0;  // what it moves is counted where it is read and written
  if (!type) return -1;
  if (kind == "mac") {
    const double mul = given("mul." + std::string(name_of(*type)));
    const double add = given(is_float(*type) ? "add.fp32" : "add.i32");
    return mul >= 0 && add >= 0 ? mul + add : -1;
  }
  // Signed and unsigned operations take the same energy. Whatever is no multiplication takes that
  // of an addition.
  std::string signed_name(name_of(*type));
  if (is_unsigned_integer(*type)) signed_name[0] = 'i';
  pj = given((kind == "mul" ? "mul." : "add.") + signed_name);
  return pj;
}

}  // namespace stria::cost
