// SPDX-License-Identifier: Apache-2.0
// What one operation of a unit does: how many scalar operations of each kind, and which elements it
// touches of each tensor. Counted over the index box: a masked point takes the time and the energy
// of any other point, as in an array whose elements all work.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stria/stripe/block.h"

namespace stria::cost {

// A matrix product M x K by K x N, `batch` times.
struct Product {
  double m = 1, n = 1, k = 1, batch = 1;
  // The block's refinements. Empty: it is made inside the block.
  std::string result{}, first{}, second{};
  bool operator==(const Product&) const = default;
};

struct BlockWork {
  // By kind: "mac.i8", "add.fp32", "other.fp32". A product that is summed up at once is one mac, of
  // the type of what is loaded for it. A point that computes nothing moves a value, and counts as
  // one `move`.
  std::map<std::string, double> operations;
  double macs = 0;    // those outside of `products`
  double others = 0;  // all operations that are no mac
  // The leaves that are one matrix product each: a mac at each point, and nothing else.
  std::vector<Product> products;
  double product_macs = 0;
  // How many loads and stores run on elements of each of the block's refinements.
  struct Accesses {
    double loads = 0, stores = 0;
  };
  std::map<std::string, Accesses> accesses;
};

// `fixed`: indices of the block that have one value, whatever their ranges.
BlockWork work_of(const stripe::Block& block, const std::set<std::string>& fixed = {});

// The box of a refinement's elements that the block's points touch: its bytes, and the bytes of its
// longest runs that lie together in the tensor.
struct Footprint {
  double bytes = 0;
  double run_bytes = 0;
  double runs = 0;  // a whole number; runs that reach into each other are one
};
Footprint footprint_of(const stripe::Block& block, const stripe::Refinement& ref,
                       const std::set<std::string>& fixed = {});

// Bytes from one access of the refinement's elements to the next in the innermost leaf; 0 if it
// stays, or if leaves differ.
int64_t inner_stride_bytes(const stripe::Block& block, const std::string& ref);
// The same where the tensor's dimensions have these strides, in elements.
int64_t inner_stride_bytes(const stripe::Block& block, const std::string& ref,
                           const std::vector<int64_t>& strides);
// How many times as long a port of a memory takes for elements that are so many bytes apart. They
// are asked for at once, and several of them may be in one bank. 1 if the memory has no banks.
double bank_conflicts(int64_t stride_bytes, int64_t banks, int64_t bank_bytes);

}  // namespace stria::cost
