// SPDX-License-Identifier: Apache-2.0
// Where the element of a view lies: addresses, slots of distributed registers, swizzles, and loads
// beyond the allocation.
#include <algorithm>
#include <bit>
#include <cstdlib>

#include "stria/poly/holds_together.h"
#include "stria/semtree/build/builder.h"
#include "stria/semtree/tree/expr.h"

namespace stria::semtree {
namespace {

// The largest power of two, up to that of the widest vectors, of which the form is a multiple but
// for its constant.
int64_t power_of_two_in(const Affine& form) {
  constexpr int64_t kMost = 64;
  int64_t out = kMost;
  for (const auto& [name, coefficient] : form.terms())
    out = std::min(out, coefficient & -coefficient);
  return out;
}

// Whether the form is a multiple of `count` at every point.
bool is_multiple(const Affine& form, int64_t count) {
  if (form.constant() % count != 0) return false;
  for (const auto& [name, coefficient] : form.terms())
    if (coefficient % count != 0) return false;
  return true;
}

}  // namespace

Result<Place> Builder::place(const View& view, const Frame& frame, Body& out) {
  Place p;
  p.memory = view.memory;
  Affine at = view.offset;
  if (view.whole && slot_form(*view.whole)) {
    std::map<std::string, Interval> box = nest_.box();
    box[kLane] = {0, frame.lanes - 1};
    Result<Affine> slot = value_of(*slot_form(*view.whole), view.coordinates, box);
    if (!slot)
      return slot.status().with_context(
          fmt::format("slot of '{}' in {}", view.whole->into, name_of_block(*frame.block)));
    at = *slot;
  }
  p.stride = at.coefficient(kLane);
  p.lanes = p.stride == 0 ? 1 : frame.lanes;
  at.add_term(kLane, -p.stride);
  // Emitters add to the form: its own range is not enough.
  nest_.measure(at + view.first +
                (at.constant() < 0 ? -1 : 1) * std::abs(p.stride) * (p.lanes - 1));
  if (p.lanes == 1) {
    p.stride = 1;
  } else {
    p.mask = frame.mask;
  }
  const stripe::Swizzle* swizzle =
      view.whole && view.whole->swizzle ? &*view.whole->swizzle : nullptr;
  if (!swizzle || swizzle->bits == 0) {
    p.exists = !function_.is_param(p.memory) && exists(view, frame.lanes);
    p.constant = at.constant() + view.first;
    at.set_constant(0);
    p.offset = nest_.offset(at);
    p.multiple = power_of_two_in(at);
    return p;
  }
  p.constant = view.first;
  if (p.lanes > 1 && (p.stride != 1 || !is_multiple(at, p.lanes) ||
                      p.lanes > (1 << std::min(swizzle->base, swizzle->shift)) ||
                      !std::has_single_bit(static_cast<unsigned>(p.lanes))))
    return unsupported("{} lanes of '{}' in {} are not one run of its swizzled layout", p.lanes,
                       view.whole->into, name_of_block(*frame.block));
  p.multiple = std::bit_floor(static_cast<unsigned>(p.lanes));  // runs stay together
  const DataType type = options_.index_type;
  const int64_t constant = at.constant();
  at.set_constant(0);
  ExprRef element = nest_.offset(at);
  element =
      element ? exact(binary(Op::add, element, integer(type, constant))) : integer(type, constant);
  element = named(element, "e", out);
  const ExprRef bits =
      binary(Op::bit_and, binary(Op::shift_right, element, integer(type, swizzle->shift)),
             integer(type, (int64_t{1} << swizzle->bits) - 1));
  p.offset = named(
      binary(Op::bit_xor, element, binary(Op::shift_left, bits, integer(type, swizzle->base))), "o",
      out);
  return p;
}

bool Builder::exists(const View& view, int lanes) const {
  if (!view.whole || view.coordinates.empty()) return false;
  std::map<std::string, Interval> box = nest_.declared_box();
  box[kLane] = {0, lanes - 1};
  for (size_t d = 0; d < view.coordinates.size(); ++d) {
    const Interval reach = interval_of(view.coordinates[d], box);
    if (reach.lower < 0 || reach.upper >= view.whole->shape.dims[d].size) return false;
  }
  return true;
}

Result<ExprRef> Builder::move_inside(const View& view, const Frame& frame, Place& p, Body& out) {
  if (view.beyond == View::Beyond::nothing) return ExprRef();
  const DataType type = options_.index_type;
  std::map<std::string, Interval> box = nest_.box();
  box[kLane] = {0, frame.lanes - 1};
  // Conditions on the coordinates that may fail, each >= 0.
  std::vector<Affine> conditions;
  for (size_t d = 0; d < view.coordinates.size(); ++d) {
    const Affine& at = view.coordinates[d];
    for (const Affine& form : {at, Affine(view.whole->shape.dims[d].size - 1) - at})
      if (interval_of(form, box).lower < 0) conditions.push_back(form);
  }
  if (conditions.empty()) return ExprRef();
  ExprRef address =
      exact(binary(Op::add, p.offset ? p.offset : integer(type, 0), integer(type, p.constant)));
  if (view.beyond == View::Beyond::clamp) {
    p.multiple = 1;
    // Elements beyond are poison: any element will do for them.
    if (p.lanes > 1) {
      address = exact(binary(Op::add, address,
                             exact(binary(Op::mul, iota(type, p.lanes), integer(type, p.stride)))));
      p.stride = 1;
    }
    const int64_t last = view.first + view.whole->shape.span_elements() - 1;
    p.offset = named(
        binary(Op::min, binary(Op::max, address, integer(type, view.first)), integer(type, last)),
        "clamped", out);
    p.constant = 0;
    return ExprRef();
  }
  // If lanes in a row are inside together, they read their row; otherwise the first one.
  const bool together = p.stride == 1 && view.whole->shape.span_elements() >= p.lanes &&
                        std::all_of(conditions.begin(), conditions.end(), [&](const Affine& form) {
                          return holds_together(form, kLane, frame.lanes);
                        });
  ExprRef uniform, mask;
  for (Affine form : conditions) {
    const int64_t a = form.coefficient(kLane);
    form.add_term(kLane, -a);
    if (a != 0 && p.lanes == 1)
      return unsupported(
          "lanes of {} read one element of '{}', and only some of them lie inside it",
          name_of_block(*frame.block), view.whole->into);
    ExprRef one = nest_.at_least_zero(form);
    if (p.lanes > 1 && !together) {
      ExprRef lanes = binary(Op::mul, iota(type, p.lanes), integer(type, a));
      one = a == 0 ? broadcast(one, p.lanes)
                   : binary(Op::le, integer(type, 0),
                            binary(Op::add, broadcast(nest_.value(form), p.lanes), lanes));
      mask = mask ? binary(Op::bit_and, mask, one) : one;
    } else {
      uniform = uniform ? binary(Op::bit_and, uniform, one) : one;
    }
  }
  if (mask) {
    p.mask = named(p.mask ? binary(Op::bit_and, p.mask, mask) : mask, "inside", out);
    return ExprRef();
  }
  // Beside the place itself, the array's first element is read.
  for (const int64_t constant : {p.constant, view.first})
    if (constant % p.multiple != 0) p.multiple = constant & -constant;
  uniform = named(uniform, "inside", out);
  p.offset = named(select(uniform, address, integer(type, view.first)), "o", out);
  p.constant = 0;
  return uniform;
}

}  // namespace stria::semtree
