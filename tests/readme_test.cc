// SPDX-License-Identifier: Apache-2.0
// Programs that READMEs show are those that are built: each stands there word for word.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

const std::filesystem::path kRoot = STRIA_SOURCE_DIR;

std::string read(const std::filesystem::path& path) {
  std::ifstream in(path);
  EXPECT_TRUE(in.good()) << path;
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

// The file from its first #include on: what stands before it says what the README says.
std::string program_of(const std::filesystem::path& path) {
  const std::string text = read(path);
  return text.substr(text.find("#include"));
}

void expect_quoted(const char* readme, const char* program) {
  const std::string quoted = "```cpp\n" + program_of(kRoot / program) + "```\n";
  EXPECT_NE(read(kRoot / readme).find(quoted), std::string::npos)
      << readme << " does not show " << program << " as it is:\n"
      << quoted;
}

TEST(Readme, ShowsTheMatrixProduct) {
  expect_quoted("README.md", "examples/matrix_product/matrix_product.cc");
}

TEST(Readme, ShowsTheSmallestPlugin) {
  expect_quoted("sdk/README.md", "examples/acme_plugin/acme.cc");
}

TEST(Readme, ShowsAGeneratorFromNodes) {
  expect_quoted("sdk/guide/trees.md", "tests/unit/reader/lines_of_tree.cc");
}

// The package has this page, and none of the sources that it is about.
TEST(Readme, ThePageAboutEmittersNamesNoSources) {
  const std::string page = read(kRoot / "docs/emitters.md");
  for (const char* folder : {"`core/", "`plugins/", "`tests/", "`tools/"})
    EXPECT_EQ(page.find(folder), std::string::npos) << folder;
}

}  // namespace
