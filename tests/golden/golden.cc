// SPDX-License-Identifier: Apache-2.0
#include "golden.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "stria/base/file.h"
#include "stria/base/text.h"

namespace stria::golden {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLine = "// ----\n";

bool updating() {
  const char* value = std::getenv("STRIA_UPDATE_GOLDEN");
  return value && std::string_view(value) == "1";
}

// The text after `key` on each of the leading comment lines.
std::vector<std::string> head_lines(const std::string& text, std::string_view key) {
  std::vector<std::string> found;
  for (const std::string& line : split(text, '\n')) {
    if (!line.starts_with("//")) break;
    if (line.starts_with(key)) found.emplace_back(trim(std::string_view(line).substr(key.size())));
  }
  return found;
}

std::string output_of(const Stage& stage, const Case& test) {
  Result<std::string> output = stage(test);
  std::string text = output.ok() ? *output : "error: " + output.status().message();
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

class GoldenTest : public testing::Test {
 public:
  GoldenTest(const fs::path& path, std::string name, const Stage& stage)
      : path_(path), name_(std::move(name)), stage_(stage) {}

  void TestBody() override {
    Result<std::string> file = read_file(path_);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    // The line is looked for at the beginning of a line only.
    size_t line = file->starts_with(kLine) ? 0 : file->find("\n" + std::string(kLine));
    bool has_line = line != std::string::npos;
    std::string input = has_line ? file->substr(0, line == 0 ? 0 : line + 1) : *file;
    if (!input.empty() && input.back() != '\n') input += '\n';
    ASSERT_EQ(head_lines(input, "// WHY:").size(), 1u)
        << path_ << ": the head must say in one line '// WHY: …' what the test shows";
    Case test{name_, join(head_lines(input, "// RUN:"), "\n"), {name_ + ".test", input}};
    std::string output = output_of(stage_, test);
    if (updating()) {
      std::string updated = input + std::string(kLine) + output;
      if (updated == *file) return;
      Status written = write_file(path_, updated);
      ASSERT_TRUE(written.ok()) << written.to_string();
      std::printf("updated %s\n", path_.c_str());
      return;
    }
    ASSERT_TRUE(has_line) << path_ << ": no line '// ----' with the expected output below it; "
                          << "tools/golden_update.sh writes it";
    size_t begin = input.size() + kLine.size();
    EXPECT_EQ(file->substr(begin), output)
        << path_
        << ": above is what the file expects, then what came out. If the new output is right, "
        << "run tools/golden_update.sh and read the diff.";
  }

 private:
  fs::path path_;
  std::string name_;
  Stage stage_;
};

}  // namespace

std::string Case::option(std::string_view key, std::string_view otherwise) const {
  std::string prefix = std::string(key) + "=";
  for (const std::string& line : split(run, '\n'))
    for (const std::string& word : split(line, ' '))
      if (word.starts_with(prefix)) return word.substr(prefix.size());
  return std::string(otherwise);
}

int run_stage(int argc, char** argv, const std::string& folder, Stage stage) {
  testing::InitGoogleTest(&argc, argv);
  fs::path root = fs::path(STRIA_SOURCE_DIR) / "tests/golden" / folder;
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(root, error), end; it != end; it.increment(error)) {
    if (error) break;
    if (it->path().extension() == ".test") files.push_back(it->path());
  }
  if (error || files.empty()) {
    std::fprintf(stderr, "%s holds no *.test file %s\n", root.c_str(), error.message().c_str());
    return 1;
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    std::string name = fs::relative(path, root).replace_extension().string();
    testing::RegisterTest("Golden", (folder + "/" + name).c_str(), nullptr, nullptr, path.c_str(),
                          1, [=]() -> GoldenTest* { return new GoldenTest(path, name, stage); });
  }
  return RUN_ALL_TESTS();
}

}  // namespace stria::golden
