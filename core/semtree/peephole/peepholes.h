// SPDX-License-Identifier: Apache-2.0
// Which peepholes run. A peephole changes a finished function so that it runs faster. It changes no
// value, and nothing of what is parallel, staged, ordered or shared: that stands in the device
// Stripe. So any of them may be left out, and the code computes the same (docs/emitters.md).
#pragma once

#include <string_view>

namespace stria::semtree {

struct Peepholes {
  bool register_arrays = true;
  bool hoist_loads = true;
  bool merge_loads = true;
  bool remove_unused = true;

  static constexpr Peepholes none() { return {false, false, false, false}; }
};

// In the order in which they run.
struct Peephole {
  std::string_view name;
  bool Peepholes::* runs;
  std::string_view meaning;
};
inline constexpr Peephole kPeepholes[] = {
    {"register_arrays", &Peepholes::register_arrays,
     "an array of one lane becomes variables if it is located in registers, or has one element, "
     "and all its subscripts are constant"},
    {"hoist_loads", &Peepholes::hoist_loads,
     "a load of memory that a group shares leaves a condition, if the element exists whatever the "
     "condition says"},
    {"merge_loads", &Peepholes::merge_loads,
     "loads of neighbouring elements that a group shares become one load of a vector; a repeated "
     "load is dropped"},
    {"remove_unused", &Peepholes::remove_unused,
     "definitions that nothing uses are dropped, and loops and conditions without statements"}};

}  // namespace stria::semtree
