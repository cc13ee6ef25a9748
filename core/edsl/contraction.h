// SPDX-License-Identifier: Apache-2.0
// Contractions, written as in Tile but for the brackets and the place of the sizes:
//
//   Tile   C[i, j : M, N] = +(A[i, k] * B[k, j]);
//   C++    Tensor C("C", M, N);
//          C(i, j) += A(i, k) * B(k, j);
//
//   Tile   O[i : N] = >(I[k]), i - k < N no_defract default D;
//   C++    O(i) >= I(k), i - k < N, no_defract, default_to(D);
//
// The aggregation is the operator behind the output: += sum, *= product, >= largest, <= smallest,
// = assignment. A term is A(…), A(…) + B(…), A(…) * B(…), A(…) == B(…) or
// cond(A(…) == B(…), C(…)), which is C where A equals B, else 0. Behind >= and <=, `==` needs
// parentheses, as C++ binds it less tightly: O(i) >= (A(i) == B(k)).
//
// The statement takes effect at once: it gives the output its value. A mistake (another number of
// forms than the tensor has dimensions, an output that has its value already or was not declared
// with sizes) makes that tensor one that fails: see edsl.h.
#pragma once

#include <vector>

#include "stria/base/api.h"
#include "stria/edsl/form.h"

namespace stria::edsl {

class Default;
class Equality;
class Tensor;
class Term;

struct NoDefract {};
// The contraction keeps its own indices as loops (rule M17); it changes no value.
inline constexpr NoDefract no_defract{};

// A tensor and where: an operand of a term, or what a contraction writes to. It holds the tensor.
class STRIA_API Access {
 public:
  Access(const Access&) = default;
  // Writes the contraction and gives the output back, for what follows behind commas.
  const Access& operator+=(const Term& term) const;
  const Access& operator*=(const Term& term) const;
  const Access& operator>=(const Term& term) const;
  const Access& operator<=(const Term& term) const;
  const Access& operator=(const Term& term) const;
  const Access& operator=(const Access& access) const;
  const Access& operator,(const Constraint& constraint) const;
  const Access& operator,(NoDefract) const;
  const Access& operator,(const Default& value) const;

 private:
  friend struct Inside;
  friend class Tensor;
  Access(NodePtr tensor, std::vector<Form> forms);
  NodePtr tensor_;
  std::vector<Form> forms_;
};

// What is aggregated for each value of the indices.
class STRIA_API Term {
 public:
  Term(const Access& access);      // NOLINT: meant to convert
  Term(const Equality& equality);  // NOLINT: meant to convert

 private:
  friend struct Inside;
  enum class Kind { single, sum, product, equal, cond };
  Term(Kind kind, std::vector<Access> operands);
  Kind kind_;
  std::vector<Access> operands_;
};
STRIA_API Term operator+(const Access& a, const Access& b);
STRIA_API Term operator*(const Access& a, const Access& b);

// A(…) == B(…): a term of its own, or the first half of cond.
class STRIA_API Equality {
 private:
  friend struct Inside;
  Equality(Access a, Access b);
  Access a_, b_;
};
STRIA_API Equality operator==(const Access& a, const Access& b);
STRIA_API Term cond(const Equality& where, const Access& value);

// What elements are that no index values write: those of the tensor instead of 0.
class STRIA_API Default {
 private:
  friend struct Inside;
  explicit Default(NodePtr tensor);
  NodePtr node_;
};
STRIA_API Default default_to(const Tensor& tensor);

}  // namespace stria::edsl
