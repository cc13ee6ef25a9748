// SPDX-License-Identifier: Apache-2.0
// Evaluates functions of mathematics that are written in the kernel tree on many operands at once,
// in each way that an emitter and a device may.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "stria/semtree/mathematics/mathematics.h"

namespace stria::semtree {

struct Arithmetic {
  const char* name = "";
  bool fused = false;       // fma rounds once
  bool contracted = false;  // a sum with a product is a fused operation, too
  // div and sqrt of fp32 are wrong by two units in the last place, up or down by the operands'
  // bits; a divisor beyond 2^126 or below 2^-126 gives NaN, the root of a negative number 1.
  bool inexact = false;
  // Subnormal operands and results of fp32 become zeros with their sign: of comparisons alone, or
  // of all operations but bits.
  enum class Flushes { nothing, comparisons, all } flushes = Flushes::nothing;
};

// Runs one function. What a condition keeps is garbage where it did not hold. For one thread.
class MathEvaluator {
 public:
  static constexpr size_t kBatch = 256;

  MathEvaluator(const MathFunction& function, Arithmetic arithmetic);

  // `count` elements of each operand, from element `first` on, and as many of the result.
  void run(const std::vector<std::string>& operands, size_t first, size_t count, void* result);

 private:
  struct Instruction {
    enum class Kind { expression, branch, garbage } kind = Kind::expression;
    const Expr* expr = nullptr;
    Op op = Op::add;
    bool negate_product = false, negate_sum = false;  // of a contraction
    std::vector<size_t> operands;
    size_t out = 0;
    size_t skip = 0;  // branch: the instruction to go on with if no condition holds
  };

  // A slot holds the elements of a batch, without gaps.
  static constexpr size_t kSlotBytes = kBatch * 8;
  size_t slot_of(const ExprRef& expr);
  void add(const Body& body);
  size_t add(const ExprRef& expr, size_t out);
  bool contract(const ExprRef& expr, Instruction& into);
  void execute(const Instruction& instruction);
  template <typename T>
  void operate(const Instruction& instruction);
  template <typename T>
  void convert_from(const Instruction& instruction);
  template <typename T>
  T* slot(size_t number) {
    return reinterpret_cast<T*>(memory_.data() + number * kSlotBytes);
  }

  const MathFunction& function_;
  Arithmetic arithmetic_;
  std::vector<const Expr*> defined_as_;  // of variables
  std::vector<std::byte> memory_;        // slots: of variables first, then of others
  std::vector<Instruction> code_;
};

}  // namespace stria::semtree
