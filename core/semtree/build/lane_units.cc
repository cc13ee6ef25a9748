// SPDX-License-Identifier: Apache-2.0
#include "stria/semtree/build/lane_units.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "stria/semtree/build/builder.h"

namespace stria::semtree {
namespace {

using stripe::Block;

// What the lane blocks of a kernel name.
struct Named {
  std::vector<LaneUnit> units;
  int64_t subgroups = 0;  // that blocks for whole subgroups number, from 0
};

Status collect(const Block& block, size_t outer, const Subgroups& subgroups, Named& named) {
  std::vector<LaneUnit>& units = named.units;
  size_t depth = outer;
  if (is_lane_block(block)) {
    std::map<std::string, Interval> box;
    for (const stripe::Index& index : block.idxs)
      box[index.name] = {0, std::max<int64_t>(index.range, 1) - 1};
    const bool whole = is_subgroup_block(block, subgroups);
    for (const stripe::LocationUnit& unit : block.location.path) {
      if (unit.units.size() != 1)
        return unsupported("the location of {} gives {} numbers for '{}'; lanes have one",
                           name_of_block(block), unit.units.size(), unit.name);
      if (depth == units.size() && !whole) units.push_back({unit.name});
      if (!whole && units[depth].name != unit.name)
        return unsupported("{} is located at '{}' where other blocks of the kernel have '{}'",
                           name_of_block(block), unit.name, units[depth].name);
      const Interval numbers = interval_of(unit.units[0], box);
      if (numbers.lower < 0 || numbers.upper >= kMostLanes)
        return unsupported("unit '{}' of {} is numbered {} to {}; 0 to {} are supported", unit.name,
                           name_of_block(block), numbers.lower, numbers.upper, kMostLanes - 1);
      int64_t& count = whole ? named.subgroups : units[depth].count;
      count = std::max(count, numbers.upper + 1);
      if (!whole) ++depth;
    }
  }
  for (const stripe::Statement& statement : block.stmts)
    if (const Block* inner = statement.block())
      STRIA_RETURN_IF_ERROR(collect(*inner, depth, subgroups, named));
  return {};
}

bool holds_lane_block(const Block& block) {
  return std::any_of(block.stmts.begin(), block.stmts.end(), [](const stripe::Statement& stmt) {
    const Block* inner = stmt.block();
    return inner && (is_lane_block(*inner) || holds_lane_block(*inner));
  });
}

// sum += a * b; false, and nothing done, if that overflows.
bool add_product(int64_t a, int64_t b, int64_t& sum) {
  int64_t product = 0, total = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(sum, product, &total))
    return false;
  sum = total;
  return true;
}

}  // namespace

bool is_lane_block(const Block& block) {
  return !block.location.empty() &&
         std::all_of(block.location.path.begin(), block.location.path.end(),
                     [](const stripe::LocationUnit& unit) { return !unit.units.empty(); });
}

bool is_subgroup_block(const Block& block, const Subgroups& subgroups) {
  return subgroups.lanes > 0 && is_lane_block(block) && block.location.path.size() == 1 &&
         block.location.path[0].name == subgroups.unit && !holds_lane_block(block);
}

Result<std::vector<LaneUnit>> lane_units(const Block& kernel, const Subgroups& subgroups) {
  Named named;
  if (kernel.location.empty()) return named.units;
  for (const stripe::Statement& statement : kernel.stmts)
    if (const Block* inner = statement.block())
      STRIA_RETURN_IF_ERROR(collect(*inner, 0, subgroups, named));
  std::vector<LaneUnit> units = std::move(named.units);
  if (named.subgroups > 0) {
    if (units.empty()) units.push_back({"LANE"});
    if (units.size() > 1)
      return unsupported(
          "blocks of kernel '{}' are for whole units '{}', others number '{}' inside '{}': beside "
          "the first, lanes are numbered through the group",
          kernel.name, subgroups.unit, units[1].name, units[0].name);
    units[0].count = std::max(units[0].count, named.subgroups * subgroups.lanes);
  }
  int64_t lanes = 1;
  for (size_t i = units.size(); i-- > 0;) {
    units[i].inside = lanes;
    lanes *= units[i].count;
    if (lanes > kMostLanes)
      return unsupported("the lane blocks of kernel '{}' name more than {} lanes", kernel.name,
                         kMostLanes);
  }
  return units;
}

Result<Affine> value_of(const stripe::BitFieldForm& form, const std::vector<Affine>& coordinates,
                        const std::map<std::string, Interval>& box) {
  Affine out;
  int64_t constant = form.constant;
  for (const stripe::BitField& field : form.fields) {
    const Affine& coordinate = coordinates.at(static_cast<size_t>(field.dim));
    const uint64_t mask = (uint64_t{1} << field.bits) - 1;
    if (coordinate.constant() < 0)
      return unsupported("coordinate {} may be negative", coordinate.to_string());
    uint64_t taken = static_cast<uint64_t>(coordinate.constant());
    if (!add_product(static_cast<int64_t>((taken >> field.low_bit) & mask), field.factor, constant))
      return unsupported("factor {} of a bit field is too large", field.factor);
    for (const auto& [name, coefficient] : coordinate.terms()) {
      const Interval range = box.at(name);
      if (coefficient <= 0 || range.lower < 0)
        return unsupported("coordinate {} may be negative in '{}'", coordinate.to_string(), name);
      if (range.upper == 0) continue;
      // The bits that the term may set: from the lowest of its coefficient to the highest of its
      // largest value.
      const int low = std::countr_zero(static_cast<uint64_t>(coefficient));
      int64_t largest = 0;
      if (__builtin_mul_overflow(coefficient, range.upper, &largest) || largest >= int64_t{1} << 62)
        return unsupported("coordinate {} may be beyond 2^62", coordinate.to_string());
      const int high = static_cast<int>(std::bit_width(static_cast<uint64_t>(largest)));
      const uint64_t bits = ((uint64_t{1} << high) - 1) & ~((uint64_t{1} << low) - 1);
      if (taken & bits)
        return unsupported("terms of coordinate {} carry into each other", coordinate.to_string());
      taken |= bits;
      const uint64_t wanted = mask << field.low_bit;
      if (!(bits & wanted)) continue;
      if (bits & ~wanted)
        return unsupported("bits {} to {} of coordinate {} are only a part of '{}'", field.low_bit,
                           field.low_bit + field.bits - 1, coordinate.to_string(), name);
      int64_t factor = 0;
      if (!add_product(coefficient >> field.low_bit, field.factor, factor))
        return unsupported("factor {} of a bit field is too large", field.factor);
      out.add_term(name, factor);
    }
  }
  return out + constant;
}

const stripe::BitFieldForm* slot_form(const stripe::Refinement& allocation) {
  if (allocation.location.empty()) return nullptr;
  for (const auto& [name, form] : allocation.location.path.back().owners)
    if (name == "slot" || name == "fragment") return &form;
  return nullptr;
}

bool is_fragment(const stripe::Refinement& allocation) {
  if (allocation.location.empty()) return false;
  const auto& owners = allocation.location.path.back().owners;
  return std::any_of(owners.begin(), owners.end(),
                     [](const auto& owner) { return owner.first == "fragment"; });
}

int64_t slots_of(const stripe::Refinement& allocation) {
  const stripe::BitFieldForm* form = slot_form(allocation);
  int64_t largest = form->constant;
  for (const stripe::BitField& field : form->fields) {
    const int64_t mask = (int64_t{1} << field.bits) - 1;
    // The largest value of these bits among 0 .. size-1: all ones if a whole run of them is
    // reached.
    const int64_t last =
        std::max<int64_t>(allocation.shape.dims.at(static_cast<size_t>(field.dim)).size, 1) - 1;
    const int64_t reach = (last >> field.low_bit) > mask ? mask : last >> field.low_bit;
    if (field.factor > 0 && !add_product(reach, field.factor, largest))
      return std::numeric_limits<int64_t>::max();
  }
  return largest == std::numeric_limits<int64_t>::max() ? largest : largest + 1;
}

}  // namespace stria::semtree
