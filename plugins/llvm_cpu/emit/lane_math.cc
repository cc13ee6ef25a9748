// SPDX-License-Identifier: Apache-2.0
#include "emit/lane_math.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>

namespace stria::llvm_cpu {
namespace {

// Of the vectors of 64 bytes that exp is for.
constexpr int kLanesOfMath = 16;

class Lanes {
 public:
  Lanes(llvm::IRBuilder<>& b, llvm::Type* type) : b_(b), type_(type) {
    b_.setFastMathFlags(
        llvm::FastMathFlags());  // the errors stated hold for these operations, in this order
  }

  llvm::Constant* number(double value) const { return llvm::ConstantFP::get(type_, value); }
  llvm::Value* fma(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
    return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, z});
  }
  // NaN stays.
  llvm::Value* at_least(llvm::Value* x, double lower) {
    return b_.CreateSelect(b_.CreateFCmpOLT(x, number(lower)), number(lower), x);
  }
  llvm::Value* at_most(llvm::Value* x, double upper) {
    return b_.CreateSelect(b_.CreateFCmpOGT(x, number(upper)), number(upper), x);
  }

  // The sum of coefficients[i] * x^(size - 1 - i).
  llvm::Value* polynomial(llvm::Value* x, std::initializer_list<double> coefficients) {
    llvm::Value* sum = nullptr;
    for (double coefficient : coefficients)
      sum = sum ? fma(sum, x, number(coefficient)) : number(coefficient);
    return sum;
  }
  int count() const {
    return static_cast<int>(llvm::cast<llvm::FixedVectorType>(type_)->getNumElements());
  }
  // value * 2^n, rounded once, of a multiple of kLanesOfMath lanes.
  llvm::Value* times_power(llvm::Value* value, llvm::Value* n) {
    llvm::Value* out = nullptr;
    for (int first = 0; first < count(); first += kLanesOfMath) {
      std::vector<int> from(kLanesOfMath);
      std::iota(from.begin(), from.end(), first);
      llvm::Value* some = b_.CreateShuffleVector(value, from);
      // All lanes, rounded as the processor is set.
      some = b_.CreateIntrinsic(
          llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
          {some, b_.CreateShuffleVector(n, from), some, b_.getInt16(0xffff), b_.getInt32(4)});
      out = out ? joined(out, some) : some;
    }
    return out;
  }
  // The lanes of both, `more` being kLanesOfMath.
  llvm::Value* joined(llvm::Value* lanes, llvm::Value* more) {
    const int had =
        static_cast<int>(llvm::cast<llvm::FixedVectorType>(lanes->getType())->getNumElements());
    std::vector<int> longer(static_cast<size_t>(had), -1),
        all(static_cast<size_t>(had + kLanesOfMath));
    std::iota(longer.begin(), longer.begin() + kLanesOfMath, 0);
    std::iota(all.begin(), all.end(), 0);
    return b_.CreateShuffleVector(lanes, b_.CreateShuffleVector(more, longer), all);
  }

 private:
  llvm::IRBuilder<>& b_;
  llvm::Type* type_;
};

}  // namespace

// x = n ln 2 + r with |r| <= ln 2 / 2; e^r = 1 + r + r^2 q(r), q of the least largest relative
// error (Remez's exchange). ln 2 is taken off in two parts, of which the first times n is exact.
llvm::Value* exp_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  Lanes lanes(b, x->getType());
  // Beyond these the result is 0 or infinite.
  x = lanes.at_most(lanes.at_least(x, -104), 89);
  llvm::Value* n = b.CreateUnaryIntrinsic(llvm::Intrinsic::roundeven,
                                          b.CreateFMul(x, lanes.number(1.44269504088896341)));
  llvm::Value* r = lanes.fma(n, lanes.number(-0.693359375), x);
  r = lanes.fma(n, lanes.number(2.12194440054690583e-4), r);
  llvm::Value* value = lanes.polynomial(r, {0.00140197418563, 0.00836612127257, 0.0416656507911,
                                            0.166665459395, 0.500000009422, 1, 1});
  return lanes.times_power(value, n);
}

// tanh x = 2 h / (1 + h^2) with h = tanh(x / 2) = a / q: as h comes near 1, its error counts less
// and less. a = x p(x^2) and q(x^2) are the polynomials of the least largest relative error of the
// result between 0 and 9.011, whose result is 1 as that of all beyond; their common factor is the
// one that leaves the least error with rounded coefficients and steps.
llvm::Value* tanh_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  Lanes lanes(b, x->getType());
  x = lanes.at_most(lanes.at_least(x, -9.011), 9.011);
  llvm::Value* square = b.CreateFMul(x, x);
  // Twice a and twice q, so that both polynomials begin with one constant: registers are few.
  llvm::Value* a =
      b.CreateFMul(x, lanes.polynomial(square, {0.0001063454620, 0.0277290530, 0.93145585}));
  llvm::Value* q =
      lanes.polynomial(square, {1.14334409e-06, 0.00112344685, 0.10535033, 0.93145585});
  q = b.CreateFAdd(q, q);
  llvm::Value* sum = lanes.fma(a, a, b.CreateFMul(q, q));
  return b.CreateFDiv(b.CreateFMul(b.CreateFAdd(a, a), q), sum);
}

}  // namespace stria::llvm_cpu
