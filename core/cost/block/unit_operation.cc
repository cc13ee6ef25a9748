// SPDX-License-Identifier: Apache-2.0
#include "stria/cost/block/unit_operation.h"

#include <algorithm>
#include <cmath>

namespace stria::cost {
namespace {

double parts(double of, int64_t side) { return std::ceil(of / static_cast<double>(side)); }

// "mac.i8" -> i8; operations without a type have none.
std::optional<DataType> type_of(const std::string& operation) {
  const size_t dot = operation.find('.');
  return dot == std::string::npos ? std::nullopt : parse_data_type(operation.substr(dot + 1));
}

}  // namespace

double systolic_cycles(const SystolicArray& array, const Product& product) {
  const auto rows = static_cast<double>(array.rows), columns = static_cast<double>(array.columns);
  using Dataflow = SystolicArray::Dataflow;
  switch (array.dataflow) {
    case Dataflow::output_stationary:
      return product.batch * parts(product.m, array.rows) * parts(product.n, array.columns) *
             (product.k + rows + columns - 2);
    case Dataflow::weight_stationary:
      return product.batch * parts(product.k, array.rows) * parts(product.n, array.columns) *
             (product.m + 2 * rows + columns - 2);
    case Dataflow::input_stationary:
      return product.batch * parts(product.k, array.rows) * parts(product.m, array.columns) *
             (product.n + 2 * rows + columns - 2);
  }
  return 0;
}

Result<double> operation_cycles(const ExecutionUnit& unit, const BlockWork& work) {
  double cycles = 0, macs = work.macs;
  if (unit.systolic)
    for (const Product& product : work.products) cycles += systolic_cycles(*unit.systolic, product);
  else
    macs += work.product_macs;
  if (macs == 0 && work.others == 0) return cycles;
  // If types have rates of their own, the slowest of them counts.
  double rate = 0;
  for (const auto& [operation, count] : work.operations) {
    const std::optional<DataType> type = type_of(operation);
    const auto at = type ? unit.rates.find(*type) : unit.rates.end();
    if (at != unit.rates.end() && at->second.ops_per_cycle > 0)
      rate = rate == 0 ? at->second.ops_per_cycle : std::min(rate, at->second.ops_per_cycle);
  }
  const bool by_macs = rate == 0 && unit.operation == ExecutionUnit::Operation::mac;
  if (rate == 0) rate = unit.ops_per_cycle;
  // What a systolic array does besides products takes one of its columns for each operation.
  if (rate == 0 && unit.systolic) rate = static_cast<double>(unit.systolic->columns);
  if (rate == 0)
    return unsupported("the hardware model has no rate of '{}': ops_per_cycle is 0", unit.name);
  return cycles + ((by_macs ? 1 : 2) * macs + work.others) / rate;
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
