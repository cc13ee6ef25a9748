// SPDX-License-Identifier: Apache-2.0
// Which values of a kernel are the same for all lanes of a subgroup?
#pragma once

#include <cstdint>
#include <vector>

#include "stria/semtree/tree/tree.h"

namespace stria::vulkan {

// Do the lanes of a subgroup run it together: an instruction, or an operation on matrices?
bool is_subgroup_operation(const semtree::Statement& statement);

// Lane numbers of a subgroup are those from a multiple of its size on (the groups are rows of
// lanes, and subgroups are whole). What is not seen to be the same counts as different.
class SubgroupValues {
 public:
  SubgroupValues(const semtree::Function& function, int64_t subgroup_lanes);

  // The first operation of a subgroup that not all of its lanes may come to, or not equally often,
  // or not with the same place of a matrix; null: there is none.
  const semtree::Statement* divided() const { return divided_; }

 private:
  void visit(const semtree::Body& body, bool all_come);
  bool is_same(const semtree::ExprRef& expr) const;
  bool is_same(const semtree::Place& place) const;
  // The lane's number itself.
  bool is_lane(const semtree::ExprRef& expr) const;
  // Is the constant, plus so much, the first lane of a subgroup?
  bool is_border(const semtree::ExprRef& expr, int64_t plus = 0) const;

  const semtree::Function& function_;
  const int64_t subgroup_lanes_;
  std::vector<bool> same_, lane_;  // by variable
  const semtree::Statement* divided_ = nullptr;
};

}  // namespace stria::vulkan
