// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/pipeline_source.h"

#include <algorithm>

#include "stria/base/input_file.h"

namespace stria {

bool is_fragment_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

ReadFragment fragments_beside(const std::filesystem::path& pipeline, size_t max_bytes) {
  return
      [folder = pipeline.parent_path(), max_bytes](const std::string& name) -> Result<SourceText> {
        const std::filesystem::path file = folder / (name + ".json");
        STRIA_ASSIGN(InputFile input, InputFile::open(file));
        STRIA_ASSIGN(std::string text, input.read_rest(max_bytes));
        STRIA_RETURN_IF_ERROR(input.check_unchanged());
        return SourceText{file.string(), std::move(text)};
      };
}

}  // namespace stria
