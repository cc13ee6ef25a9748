// SPDX-License-Identifier: Apache-2.0
// The layouts of a section's tensors while choose_layouts looks for the best: what they may be and
// what the kernels move with them. Nothing of the section changes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "stria/rewrite/whole_copy.h"
#include "stria/stripe/block.h"

namespace stria::passes {

class LayoutPlan {
 public:
  // A tensor lies on its own with strides of its dimensions, or it is the other tensor of a copy.
  struct Layout {
    std::vector<int64_t> strides;
    int copy = -1;  // the kernel that need not run; `strides` counts where it is -1
    bool operator==(const Layout&) const = default;
  };

  LayoutPlan(const stripe::Block& section, int64_t line_bytes);

  // Chooses; what is moved before and after.
  struct Bytes {
    double before = 0, after = 0;
  };
  Bytes choose();

  // Copies by the position of their kernel, as found in the section.
  const std::map<int, WholeCopy>& copies() const { return copies_; }
  // Of every tensor whose layout is free: as chosen.
  std::map<std::string, Layout> layouts() const;

 private:
  struct View {
    int tensor = -1;
    std::vector<std::vector<int64_t>> coefficients;  // of each index in each dimension: [d][i]
  };
  struct Kernel {
    bool leaf = false;
    std::vector<int64_t> ranges;
    std::vector<View> views;
  };
  struct Tensor {
    std::string name;
    double element_bytes = 0;
    std::vector<int64_t> sizes;
    Layout layout;
    bool free = false;                  // may lie otherwise
    std::vector<int> writers, readers;  // kernels, in order; one that does both is in both
    std::vector<int> kernels;           // all that touch it
  };
  using Layouts = std::vector<Layout>;

  void add_tensors(const stripe::Block& section);
  void add_kernel(const stripe::Block& section, int position);
  void find_copies(const stripe::Block& section);
  bool may_be_source(const WholeCopy& copy, int kernel) const;
  bool may_be_target(const WholeCopy& copy, int kernel) const;

  // The strides of a tensor's dimensions, through copies that need not run; nothing for a circle.
  std::optional<std::vector<int64_t>> strides(int tensor, const Layouts& layouts) const;
  bool is_removed(int kernel, const Layouts& layouts) const;
  double bytes_of(int kernel, const Layouts& layouts) const;
  double total(const Layouts& layouts) const;
  // What the kernels that are touched by the layout of the tensor move; negative: not possible.
  double bytes_around(int tensor, const Layouts& layouts) const;
  std::vector<Layout> candidates(int tensor, const Layouts& layouts, bool from_inputs) const;
  std::optional<Layout> as_neighbour(const Kernel& kernel, const View& view, const View& neighbour,
                                     const Layouts& layouts) const;
  // One sweep over the free tensors; whether something changed. `equal`: also to a layout that a
  // neighbour in this direction has and that costs the same.
  bool sweep(Layouts& layouts, bool from_inputs, bool equal) const;

  int64_t line_bytes_;
  std::vector<Tensor> tensors_;
  std::map<std::string, int> by_name_;
  std::vector<Kernel> kernels_;
  std::map<int, WholeCopy> copies_;
  std::vector<int> order_;               // free tensors by their first writer
  std::vector<std::vector<int>> reach_;  // tensor -> kernels whose bytes its layout may change
};

}  // namespace stria::passes
