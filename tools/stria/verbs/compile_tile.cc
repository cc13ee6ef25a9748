// SPDX-License-Identifier: Apache-2.0
#include "verbs/compile_tile.h"

#include <fmt/format.h>

#include <algorithm>

#include "stria/base/shown_text.h"
#include "stria/runtime/inside.h"
#include "stria/tensor_io/npy.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {

std::string tile_with_head(const Program& program, const std::string& model) {
  const ProgramBinding& binding = *Inside::binding(program);
  struct Line {
    std::string tile, text;
  };
  std::vector<Line> inputs, weights, outputs;
  const auto type_of = [&](const std::string& tile) {
    const TensorType& type = binding.types.at(tile);
    return to_string(type.type, type.sizes);
  };
  for (const BoundName& input : binding.inputs)
    inputs.push_back({input.tile, type_of(input.tile) + " '" + shown_name(input.name) + "'"});
  for (const BoundName& weight : binding.weights) {
    const bool bf16 = binding.types.at(weight.tile).type == DataType::bf16;
    const std::string name = weight.name.empty() ? "" : " '" + shown_name(weight.name) + "'";
    weights.push_back({weight.tile, type_of(weight.tile) + name +
                                        (bf16 ? " (its .npy is read with :bf16)" : "")});
  }
  for (const BoundName& output : binding.outputs)
    outputs.push_back({output.tile, "'" + shown_name(output.name) + "'"});
  size_t width = 0;
  for (const auto* lines : {&inputs, &weights, &outputs})
    for (const Line& line : *lines) width = std::max(width, line.tile.size());
  std::string out = fmt::format("# Made from {}. Names here, and what they stand for there:\n",
                                shown_name(std::filesystem::path(model).filename().string()));
  const auto add = [&](const char* title, const std::vector<Line>& lines) {
    if (lines.empty()) return;
    out += fmt::format("# {}:\n", title);
    for (const Line& line : lines)
      out += fmt::format("#   {:<{}}  {}\n", line.tile, width, line.text);
  };
  add("inputs", inputs);
  add("weights", weights);
  add("outputs", outputs);
  return out + "\n" + program.text();
}

std::vector<FileText> weight_files(const Program& program, const std::filesystem::path& folder) {
  std::vector<FileText> files;
  for (const auto& [tile, value] : Inside::binding(program)->values)
    files.push_back({folder / (tile + ".npy"), format_npy(*value)});
  return files;
}

}  // namespace stria::command
