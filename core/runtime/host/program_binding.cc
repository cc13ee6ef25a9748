// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/program_binding.h"

namespace stria {
namespace {

std::string tile_of(const std::vector<BoundName>& names, std::string_view name) {
  for (const BoundName& one : names)
    if (one.name == name) return one.tile;
  return std::string(name);
}

}  // namespace

std::string ProgramBinding::node_of(const std::string& tensor) const {
  if (const auto whole = nodes.find(tensor); whole != nodes.end()) return whole->second;
  const auto at = nodes.find(tensor.substr(0, tensor.find('_')));
  return at == nodes.end() ? "" : at->second;
}

std::string ProgramBinding::tile_input(std::string_view name) const {
  return tile_of(inputs, name);
}

std::optional<std::string> ProgramBinding::parameter(std::string_view name) const {
  for (const auto part : {&BoundName::name, &BoundName::tile})
    for (const auto* names : {&inputs, &weights})
      for (const BoundName& one : *names)
        if (one.*part == name) return one.tile;
  return std::nullopt;
}

std::string ProgramBinding::tile_output(std::string_view name) const {
  return tile_of(outputs, name);
}

std::string ProgramBinding::shown(std::string_view tile) const {
  for (const auto* names : {&inputs, &outputs})
    for (const BoundName& one : *names)
      if (one.tile == tile) return one.name;
  return std::string(tile);
}

}  // namespace stria
