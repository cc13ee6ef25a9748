// SPDX-License-Identifier: Apache-2.0
#include "stria/tile/inline/inline_calls.h"

#include <algorithm>

#include "stria/base/text.h"
#include "stria/builtins/builtin.h"
#include "stria/builtins/composite.h"
#include "stria/tile/inline/library.h"

namespace stria::tile {

std::string recursion_text(std::string_view function) {
  return fmt::format("'{}' calls itself: functions cannot be recursive", function);
}

std::string without_quote(std::string name) {
  if (!name.empty() && name.back() == '\'') name.pop_back();
  return name;
}

bool makes_statement(const Special& special) {
  const std::string_view name = special.name;
  return name == "gather" || name == "gather_or_zero" || name == "scatter" || name == "reshape" ||
         name == "reshape_like" || name == "sum_like" || name == "prng_value";
}

InlinedCalls::InlinedCalls(const Program& program, int first_number, CallLimits limits)
    : first_number_(first_number), limits_(limits) {
  for (const Function& function : program.functions) {
    const std::string& name = function.name.text;
    if (find_builtin(name) == nullptr && find_special(name) == nullptr &&
        find_composite(name) == nullptr)
      functions_.emplace(name, &function);
  }
}

const Function* InlinedCalls::program_function(std::string_view name) const {
  auto at = functions_.find(name);
  return at == functions_.end() ? nullptr : at->second;
}

const Function* InlinedCalls::find_function(std::string_view name) const {
  const Function* function = program_function(name);
  return function != nullptr ? function : library_function(name);
}

// ---- names ----

void InlinedCalls::reserve_names(const Function& entry) {
  taken_.reserve(entry.parameters.size() + entry.statements.size());
  for (const Parameter& parameter : entry.parameters) reserve_name(parameter.name.text);
  for (const Name& name : entry.results) reserve_name(name.text);
  for (const Statement& statement : entry.statements)
    for (const Name& name : assigned_names(statement)) reserve_name(name.text);
}

std::string InlinedCalls::fresh_name(const std::string& wanted) {
  return reserve_name(wanted) ? wanted : numbered_name(wanted);
}

std::string InlinedCalls::numbered_name(const std::string& base) {
  const std::string plain = without_quote(base);
  int& number = next_number_.emplace(plain, first_number_).first->second;
  for (;;) {
    std::string name = fmt::format("{}_{}", plain, number++);
    if (reserve_name(name)) return name;
  }
}

std::string InlinedCalls::tensor_name(const CallScope& scope, const std::string& local) {
  auto at = scope.result_names.find(local);
  if (at != scope.result_names.end()) return at->second;
  if (scope.prefix.empty()) return local;  // reserved from the start
  return fresh_name(without_quote(scope.prefix) + "_" + local);
}

std::vector<std::string> InlinedCalls::target_names(const CallScope& scope,
                                                    const Assignment& assignment) {
  std::vector<std::string> names;
  for (const Name& target : assignment.targets) names.push_back(tensor_name(scope, target.text));
  return names;
}

// ---- calls ----

Refusal InlinedCalls::admit(const CallScope& caller, const Function& callee) {
  const bool within_itself =
      caller.function == &callee ||
      std::any_of(active_.begin(), active_.end(),
                  [&](const ActiveCall& active) { return active.callee == &callee; });
  if (within_itself) return recursion_text(callee.name.text);
  if (active_.size() >= limits_.depth)
    return fmt::format("calls are nested more than {} deep", limits_.depth);
  if (++admitted_ > limits_.calls)
    return fmt::format("the program makes more than {} calls once they are inlined", limits_.calls);
  return Refusal::none();
}

SourceSpan InlinedCalls::place(SourceSpan span) const {
  const size_t first = active_in_program();
  return first < active_.size() ? active_[first].span : span;
}

void InlinedCalls::open(CallScope& scope, const Function& callee, SourceSpan span,
                        const std::vector<std::string>& results,
                        std::vector<Attribute> attributes) {
  scope.function = &callee;
  scope.prefix = results[0];
  scope.attributes = std::move(attributes);
  for (size_t i = 0; i < results.size(); ++i)
    scope.result_names[callee.results[i].text] = results[i];
  ActiveCall active{&callee, span, current_call(), active_in_program()};
  if (active.in_program == active_.size() && !is_library_function(&callee)) {
    calls_.push_back({&callee, span, active.call});
    active.call = static_cast<int>(calls_.size()) - 1;
    ++active.in_program;
  }
  active_.push_back(active);
}

}  // namespace stria::tile
