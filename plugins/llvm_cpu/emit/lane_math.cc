// SPDX-License-Identifier: Apache-2.0
#include "emit/lane_math.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <numeric>

namespace stria::llvm_cpu {
namespace {

class Lanes {
 public:
  Lanes(llvm::IRBuilder<>& b, llvm::Type* type)
      : b_(b), type_(type), bits_(llvm::VectorType::getInteger(llvm::cast<llvm::VectorType>(type))) {
    b_.setFastMathFlags(llvm::FastMathFlags());  // t - magic below is not what t was made of
  }

  llvm::Constant* number(double value) const { return llvm::ConstantFP::get(type_, value); }
  llvm::Constant* integer(int32_t value) const {
    return llvm::ConstantInt::getSigned(bits_, value);
  }
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

  // x = n ln 2 + r with |r| <= ln 2 / 2; e^r - 1 = r + r^2 q(r), q of the least largest relative error
  // (Remez's exchange). ln 2 is taken off in two parts, of which the first times n is exact; where
  // an error of n * 2e-9 of e^r does not matter, in one.
  struct Parts {
    llvm::Value* n;         // an integer
    llvm::Value* exponent;  // the same in 32 bits
    llvm::Value* minus_one; // e^r - 1
  };
  Parts parts(llvm::Value* x, bool exact) {
    Parts out;
    // 1.5 * 2^23: the sum's last bits are the nearest integer.
    llvm::Value* t = fma(x, number(1.44269504088896341), number(12582912));
    out.n = b_.CreateFSub(t, number(12582912));
    out.exponent = b_.CreateSub(b_.CreateBitCast(t, bits_), integer(0x4b400000));
    llvm::Value* r = fma(out.n, number(exact ? -0.693359375 : -0.693147180559945309), x);
    if (exact) r = fma(out.n, number(2.12194440054690583e-4), r);
    llvm::Value* q = number(0.00140197418563);
    for (double coefficient : {0.00836612127257, 0.0416656507911, 0.166665459395, 0.500000009422})
      q = fma(q, r, number(coefficient));
    out.minus_one = fma(q, b_.CreateFMul(r, r), r);
    return out;
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
      some = b_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_mask_scalef_ps_512, {},
                                {some, b_.CreateShuffleVector(n, from), some, b_.getInt16(0xffff),
                                 b_.getInt32(4)});
      out = out ? joined(out, some) : some;
    }
    return out;
  }
  // The lanes of both, `more` being kLanesOfMath.
  llvm::Value* joined(llvm::Value* lanes, llvm::Value* more) {
    const int had = static_cast<int>(
        llvm::cast<llvm::FixedVectorType>(lanes->getType())->getNumElements());
    std::vector<int> longer(static_cast<size_t>(had), -1), all(static_cast<size_t>(had + kLanesOfMath));
    std::iota(longer.begin(), longer.begin() + kLanesOfMath, 0);
    std::iota(all.begin(), all.end(), 0);
    return b_.CreateShuffleVector(lanes, b_.CreateShuffleVector(more, longer), all);
  }
  // 2^exponent of normal numbers.
  llvm::Value* power(llvm::Value* exponent) {
    return b_.CreateBitCast(b_.CreateShl(b_.CreateAdd(exponent, integer(127)), 23), type_);
  }

 private:
  llvm::IRBuilder<>& b_;
  llvm::Type* type_;
  llvm::Type* bits_;
};

}  // namespace

llvm::Value* exp_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  Lanes lanes(b, x->getType());
  // Beyond these the result is 0 or infinite.
  const Lanes::Parts parts = lanes.parts(lanes.at_most(lanes.at_least(x, -104), 89), true);
  llvm::Value* value = b.CreateFAdd(parts.minus_one, lanes.number(1));
  return lanes.times_power(value, parts.n);
}

llvm::Value* tanh_of_lanes(llvm::IRBuilder<>& b, llvm::Value* x) {
  const llvm::IRBuilder<>::FastMathFlagGuard guard(b);
  Lanes lanes(b, x->getType());
  // e / (e + 2) with e = e^2|x| - 1, which keeps its digits near 0. Beyond 10 the result is 1; the
  // larger e is, the less its error counts.
  llvm::Value* twice = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, b.CreateFAdd(x, x));
  const Lanes::Parts parts = lanes.parts(lanes.at_most(twice, 20), false);
  llvm::Value* power = lanes.power(parts.exponent);
  llvm::Value* e = lanes.fma(power, parts.minus_one, b.CreateFSub(power, lanes.number(1)));
  llvm::Value* value = b.CreateFDiv(e, b.CreateFAdd(e, lanes.number(2)));
  // So -0 stays -0.
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, value, x);
}

}  // namespace stria::llvm_cpu
