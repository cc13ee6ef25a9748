// SPDX-License-Identifier: Apache-2.0
// The operations of an elementwise expression as statements of a kernel.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "stria/lower/lowering.h"

namespace stria::lower_detail {

class ElementNodes {
 public:
  // What it is given is borrowed. `result` is what the last value of the kernel is called.
  ElementNodes(const Lowering& lowering, stripe::Block& block, std::string result)
      : lowering_(lowering), block_(block), result_(std::move(result)) {}

  // Adds the nodes, and views of what they load, once for each tensor and `axis` of a load. Their
  // access says `access`. A node of kind index is the element `axis` of `coordinates`. Returns the
  // scalar that the last node is.
  std::string add(const std::vector<tile::BoundNode>& nodes,
                  const std::function<std::vector<Affine>(const tile::BoundNode&)>& access,
                  const std::vector<Affine>& coordinates);

  // Of an elementwise kernel with these functions.
  stripe::Tags take_tags() { return sorted_tags(std::move(tags_)); }

 private:
  const Lowering& lowering_;
  stripe::Block& block_;
  std::string result_;
  std::vector<std::string> tags_;
};

}  // namespace stria::lower_detail
