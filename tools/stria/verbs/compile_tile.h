// SPDX-License-Identifier: Apache-2.0
// The Tile text that a program is, and the weights that it brings along, as files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "stria/base/file.h"
#include "stria/runtime/program.h"

namespace stria::command {

// A head that says which name in Tile stands for what, and the text of `program`, which was made of
// the ONNX model `model`.
std::string tile_with_head(const Program& program, const std::string& model);

// "C_w.npy" in `folder` for each weight. bf16 is carried as u16.
std::vector<FileText> weight_files(const Program& program, const std::filesystem::path& folder);

}  // namespace stria::command
