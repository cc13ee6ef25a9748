// SPDX-License-Identifier: Apache-2.0
// R = A + B for integers, whose results must be exact: the program that most cases of group X
// launch. Its tensors lie between guard bytes.
#pragma once

#include <array>
#include <string>

#include "executables/built.h"

namespace stria::conformance {

// Of one run: where A, B and R lie, and what is in them.
class SumTensors {
 public:
  // Offsets of A, B and R, in elements.
  using Offsets = std::array<uint64_t, 3>;

  // `seed` decides the contents of A and B; R has other bytes.
  static Result<SumTensors> make(const Subject& subject, DataType type, int64_t count,
                                 uint32_t seed, const Offsets& offsets = {0, 0, 0});
  Spots spots() const;
  const Buffer& buffer(size_t number) const { return buffers_[number]; }  // of A, B and R
  // Gives A's and B's back; work in flight may still use them.
  void release_inputs();
  // Puts the contents of another seed into A and B.
  Status write_inputs(const Subject& subject, uint32_t seed);
  // R is the sum, and no other byte has changed.
  Status check(const Subject& subject) const;
  // No byte has changed, R's included.
  Status check_untouched(const Subject& subject) const;

 private:
  Status check_bytes(const Subject& subject, size_t number, const Bytes& expected) const;
  DataType type_ = DataType::i32;
  int64_t count_ = 0;
  uint32_t seed_ = 0;
  Offsets offsets_{};
  std::array<Buffer, 3> buffers_;
  std::array<Bytes, 3> contents_;  // of whole buffers
};

// Elements for a seed, and their sums as the type has them.
Bytes sum_operand(DataType type, int64_t count, uint32_t seed, int number);
Bytes sum_result(DataType type, int64_t count, uint32_t seed);

// The program for the device under test. Compiled once per process for each type and count.
Result<Compilation> sum_program(const Subject& subject, DataType type, int64_t count);

// The program, built and prepared.
class Sums {
 public:
  static Result<Sums> make(const Subject& subject, DataType type = DataType::i32,
                           int64_t count = 37);
  Result<SumTensors> tensors(const Subject& subject, uint32_t seed,
                             const SumTensors::Offsets& offsets = {0, 0, 0}) const {
    return SumTensors::make(subject, type, count, seed, offsets);
  }
  DataType type = DataType::i32;
  int64_t count = 0;
  Built built;
};

// Runs it with kernel.run; the event is that of its last kernel.
Result<Event> run_sum(const Subject& subject, const Sums& sums, const SumTensors& tensors,
                      std::span<stria_event* const> waits = {});

}  // namespace stria::conformance
