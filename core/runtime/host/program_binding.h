// SPDX-License-Identifier: Apache-2.0
// What a program brings along that was made for given inputs, as those of ONNX models are. Not
// installed.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stria/type/host_tensor.h"
#include "stria/type/tensor_type.h"

namespace stria {

// A name that callers see, and the one in Tile.
struct BoundName {
  std::string name;
  std::string tile;
};

struct ProgramBinding {
  // The parameters that callers give, and the results, in the order of the Tile function's.
  std::vector<BoundName> inputs, outputs;
  // The parameters that have values, in the order of the Tile function's.
  std::vector<BoundName> weights;
  // Of every parameter, by its name in Tile.
  std::map<std::string, TensorType> types;
  // The elements of weights, by their names in Tile.
  std::map<std::string, std::shared_ptr<const HostTensor>> values;
  // Of the function's statements: the node of the model that each stands for ("Conv 'conv1'"), by
  // its first result.
  std::map<std::string, std::string> nodes;

  // The node that a tensor of the bound program belongs to ("V3", or "V3_T1" inside it); "" if
  // none.
  std::string node_of(const std::string& tensor) const;
  // The other name, or `name` itself if it is not known.
  std::string tile_input(std::string_view name) const;
  // The Tile name of an input or weight, by either of its names; none if it has no such parameter.
  std::optional<std::string> parameter(std::string_view name) const;
  std::string tile_output(std::string_view name) const;
  std::string shown(std::string_view tile) const;  // of an input or output
};

}  // namespace stria
