// SPDX-License-Identifier: Apache-2.0
// Expressions, literals and memory accesses of one kernel as C text; private to this folder.
#pragma once

#include <string>
#include <vector>

#include "stria/semtree/c/source_names.h"
#include "stria/semtree/c/speller.h"
#include "stria/semtree/tree/tree.h"

namespace stria::semtree {

class CExpressions {
 public:
  CExpressions(const Function& function, const Dialect& dialect, Speller& speller);

  const std::string& variable(int var) const { return variables_[static_cast<size_t>(var)]; }
  const std::string& memory(int memory) const { return memories_[static_cast<size_t>(memory)]; }
  std::string type(Type type) { return speller_.type_name(type); }

  // Without parentheses around the whole.
  std::string statement_level(const Expr& e);
  // May stand beside any operator.
  std::string text(const Expr& e);

  // The value in memory at `place`, as a value of the variable that it is loaded into.
  std::string load(const Place& place);
  // Statements that store `value`, one per line.
  std::vector<std::string> store(const Place& place, const Expr& value);
  // For an array in registers its slot, as a variable; otherwise the element.
  std::string element(const Place& place);

 private:
  std::string literal(const Scalar& value, DataType type);
  std::string constant(const Expr& e);
  std::string operation(const Expr& e);
  // One operation on operands that are text already.
  std::string apply(Op op, Type result, Type operand, bool exact,
                    const std::vector<std::string>& x);
  std::string convert(const Expr& e);
  std::string reduce(const Expr& e);
  std::string select(const Expr& e);
  std::string index(const Place& place, int64_t lane);
  // A vector of the values, which are separated by commas.
  std::string vector_of(Type type, const std::string& values);
  // The load or store (`key`) of lanes in a row, by the vector's own pointer where the language has
  // that.
  std::string whole_vector(const char* key, const Place& place, Type stored,
                           std::vector<std::string> values);
  std::string lane(const std::string& vector, int64_t number, int lanes);
  // Lanes at consecutive addresses, all of them.
  static bool is_contiguous(const Place& place);
  std::string lane_of(const ExprRef& e, int64_t number);

  const Function& function_;
  const Dialect& dialect_;
  Speller& speller_;
  SourceNames names_;
  std::vector<std::string> variables_;
  std::vector<std::string> memories_;
};

}  // namespace stria::semtree
