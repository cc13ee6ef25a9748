// SPDX-License-Identifier: Apache-2.0
#include "numbers/elementwise.h"

#include <algorithm>
#include <map>
#include <set>

namespace stria::conformance {
namespace {

// The operand: where a function of real numbers is defined, and not beyond the largest float.
std::string domain_of(const Builtin& builtin, DataType type) {
  static const std::map<std::string, std::string> domains = {
      {"sqrt", "P"}, {"log", "P"},   {"pow", "P"},   {"asin", "U"},
      {"acos", "U"}, {"atanh", "U"}, {"acosh", "O"},
  };
  const auto it = domains.find(builtin.name);
  if (it != domains.end()) return it->second;
  return builtin.types == TypeRule::floating && !is_float(type) ? "P" : "A";
}

}  // namespace

std::vector<const Builtin*> functions_of(DataType type) {
  std::vector<const Builtin*> out;
  for (const Builtin* builtin : all_builtins()) {
    if (builtin->types == TypeRule::cast) continue;
    const std::vector<DataType> operands(static_cast<size_t>(builtin->arity), type);
    if (call_types(*builtin, operands).ok()) out.push_back(builtin);
  }
  return out;
}

DataType result_of(const Builtin& builtin, DataType type) {
  const std::vector<DataType> operands(static_cast<size_t>(builtin.arity), type);
  return call_types(builtin, operands)->result;
}

std::string output_of(const Builtin& builtin) { return fmt::format("R_{}", builtin.name); }

TestProgram program_of_calls(const std::vector<const Builtin*>& functions, DataType type,
                             const CallInputs& inputs) {
  TestProgram out;
  std::set<std::string> used;
  for (const Builtin* builtin : functions) {
    const std::string first = inputs.limited ? domain_of(*builtin, type) : "A";
    std::string call = first;
    used.insert(first);
    if (builtin->types == TypeRule::select) {
      call = "C, A, B";
      used.insert({"C", "A", "B"});
    } else if (builtin->arity == 2) {
      call += ", B";
      used.insert("B");
    }
    out.outputs.push_back(output_of(*builtin));
    out.body += fmt::format("  {} = {}({});\n", output_of(*builtin), builtin->name, call);
  }
  const auto add = [&](const std::string& name, DataType of, const std::vector<int64_t>& sizes,
                       Values values, uint32_t seed) {
    if (used.count(name) == 0) return;
    out.parameters.push_back(name);
    out.inputs.push_back({name, of, sizes, values, seed});
  };
  add("A", type, inputs.first, inputs.values, 1);
  add("B", type, inputs.second, inputs.values, 2);
  add("C", DataType::boolean, inputs.third, Values::plain, 3);
  add("P", type, inputs.first, Values::positive, 4);
  add("U", type, inputs.first, Values::unit, 5);
  add("O", type, inputs.first, Values::above_one, 6);
  return out;
}

std::vector<std::vector<const Builtin*>> rows_of(const std::vector<const Builtin*>& functions,
                                                 const std::vector<std::string>& first,
                                                 size_t count) {
  const auto is_first = [&](const Builtin* builtin) {
    return std::find(first.begin(), first.end(), builtin->name) != first.end();
  };
  std::vector<std::vector<const Builtin*>> out(1);
  for (const Builtin* builtin : functions)
    if (is_first(builtin)) out[0].push_back(builtin);
  for (const Builtin* builtin : functions) {
    if (is_first(builtin)) continue;
    if (out.size() == 1 || out.back().size() == count) out.emplace_back();
    out.back().push_back(builtin);
  }
  if (out[0].empty()) out.erase(out.begin());
  return out;
}

}  // namespace stria::conformance
