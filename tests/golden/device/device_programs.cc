// SPDX-License-Identifier: Apache-2.0
#include "device_programs.h"

#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/stripe/text/parser.h"
#include "stria/template/template_text.h"

namespace stria::device_programs {

std::string path_of(std::string_view file) {
  return fmt::format("{}/tests/golden/device/{}", STRIA_SOURCE_DIR, file);
}

Result<stripe::Program> make(std::string_view name, const Sizes& sizes) {
  const std::string path = path_of(fmt::format("{}.template", name));
  STRIA_ASSIGN(std::string text, read_file(path));
  STRIA_ASSIGN(RenderedText rendered, render_template({path, text}, nlohmann::json(sizes)));
  return stripe::parse({path, rendered.text});
}

}  // namespace stria::device_programs
