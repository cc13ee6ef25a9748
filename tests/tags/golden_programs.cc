// SPDX-License-Identifier: Apache-2.0
#include "golden_programs.h"

#include <algorithm>
#include <filesystem>

#include "stria/base/file.h"
#include "stria/stripe/text/parser.h"

namespace stria::tags {
namespace {

namespace fs = std::filesystem;

std::optional<stripe::Program> parsed(const std::string& name, std::string text) {
  Result<stripe::Program> program = stripe::parse({name, std::move(text)});
  if (!program.ok()) return std::nullopt;
  return std::move(*program);
}

}  // namespace

std::vector<GoldenTest> golden_tests() {
  const fs::path root = STRIA_SOURCE_DIR "/tests/golden";
  std::vector<GoldenTest> out;
  for (const char* folder : {"device", "opencl", "passes", "semtree", "stripe", "vulkan"})
    for (const auto& file : fs::recursive_directory_iterator(root / folder)) {
      const std::string kind = file.path().extension();
      if (kind != ".test" && kind != ".stripe") continue;
      const std::string text = read_file(file.path().string()).value();
      GoldenTest test{.name = file.path().lexically_relative(root)};
      const size_t line = text.find("\n// ----\n");
      for (size_t at = 0; (at = text.find("// RUN:", at)) != std::string::npos; ++at)
        test.run += text.substr(at + 7, text.find('\n', at) - at - 7) + "\n";
      test.input = parsed(test.name, text.substr(0, line));
      if (line != std::string::npos) test.output = parsed(test.name, text.substr(line + 9));
      out.push_back(std::move(test));
    }
  std::sort(out.begin(), out.end(),
            [](const GoldenTest& a, const GoldenTest& b) { return a.name < b.name; });
  return out;
}

}  // namespace stria::tags
