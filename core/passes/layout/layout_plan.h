// SPDX-License-Identifier: Apache-2.0
// The analysis of choose_layouts: which layouts the tensors of a section may have, and how many
// bytes the kernels move with them. It does not change the section.
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
  // A tensor has strides of its own, or it is replaced by the other tensor of a copy.
  struct Layout {
    std::vector<int64_t> strides;
    int copy = -1;  // the copy that is removed; -1: none, and `strides` is the layout
    bool operator==(const Layout&) const = default;
  };

  LayoutPlan(const stripe::Block& section, int64_t line_bytes);

  // Bytes that the kernels move with the old layouts and with the new ones.
  struct Bytes {
    double before = 0, after = 0;
  };
  Bytes choose();

  // The copies of the section, by the position of their kernel.
  const std::map<int, WholeCopy>& copies() const { return copies_; }
  // The chosen layout of every tensor whose layout may change.
  std::map<std::string, Layout> layouts() const;

 private:
  struct View {
    int tensor = -1;
    std::vector<std::vector<int64_t>> coefficients;  // [dimension][index]
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
    bool free = false;                  // its layout may change
    std::vector<int> writers, readers;  // kernels, in order; a kernel may be in both
    std::vector<int> kernels;           // all kernels that touch it
  };
  using Layouts = std::vector<Layout>;

  void add_tensors(const stripe::Block& section);
  void add_kernel(const stripe::Block& section, int position);
  void find_copies(const stripe::Block& section);
  bool may_be_source(const WholeCopy& copy, int kernel) const;
  bool may_be_target(const WholeCopy& copy, int kernel) const;

  // The strides of a tensor's dimensions, seen through removed copies; nullopt if these form a
  // cycle.
  std::optional<std::vector<int64_t>> strides(int tensor, const Layouts& layouts) const;
  bool is_removed(int kernel, const Layouts& layouts) const;
  double bytes_of(int kernel, const Layouts& layouts) const;
  double total(const Layouts& layouts) const;
  // The kernels whose bytes the layout of the tensor changes: those that touch it, or one that is
  // replaced by it, through other copies, too.
  std::vector<int> kernels_around(int tensor, const Layouts& layouts) const;
  // Bytes that these kernels move. Negative if the layouts are impossible.
  double bytes_around(int tensor, const std::vector<int>& kernels, const Layouts& layouts) const;
  std::vector<Layout> candidates(int tensor, const Layouts& layouts, bool from_inputs) const;
  std::optional<Layout> as_neighbour(const Kernel& kernel, const View& view, const View& neighbour,
                                     const Layouts& layouts) const;
  // One sweep over the free tensors; true if something changed. With `equal`, a tensor also takes a
  // layout of the same cost, if it comes from a neighbour in this direction.
  bool sweep(Layouts& layouts, bool from_inputs, bool equal) const;

  int64_t line_bytes_;
  std::vector<Tensor> tensors_;
  std::map<std::string, int> by_name_;
  std::vector<Kernel> kernels_;
  std::map<int, WholeCopy> copies_;
  // Of each kernel: the tensors that it copies from and to; -1: it is no copy.
  struct Ends {
    int source = -1, target = -1;
  };
  std::vector<Ends> ends_;
  std::vector<int> order_;                // free tensors by the first kernel that touches them
  std::vector<std::vector<int>> copied_;  // tensor -> its copies, and what it is a copy of
};

}  // namespace stria::passes
